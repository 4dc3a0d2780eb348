//! The rules, and where the CodeSpec speaks of each.
//! Owns: their names. Must not: check anything.

use serde::{Serialize, Serializer};
use std::fmt;

/// A part of the CodeSpec: a table of its rule block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// What a draft looks like from outside.
    Shape,
    /// What stands in a file, in which order.
    Structure,
    /// What is documented.
    Docstrings,
    /// How a file tells what it does.
    Logging,
    /// How things are called.
    Naming,
    /// What may be imported.
    Imports,
    /// What may not be used.
    Calls,
    /// How it is laid out.
    Format,
}

impl Section {
    /// Every section.
    pub const ALL: [Section; 8] = [
        Section::Shape,
        Section::Structure,
        Section::Docstrings,
        Section::Logging,
        Section::Naming,
        Section::Imports,
        Section::Calls,
        Section::Format,
    ];

    /// The name of its table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Section::Shape => "shape",
            Section::Structure => "structure",
            Section::Docstrings => "docstrings",
            Section::Logging => "logging",
            Section::Naming => "naming",
            Section::Imports => "imports",
            Section::Calls => "calls",
            Section::Format => "format",
        }
    }
}

/// Whether a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A violation fails the draft.
    Hard,
    /// It is put right, and told.
    Style,
}

macro_rules! rules {
    ($($variant:ident $name:literal $section:ident $weight:ident, $doc:literal;)*) => {
        /// One rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $(#[doc = $doc] $variant,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant),*];

            /// Its name, as reports have it.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Rule::$variant => $name,)*
                }
            }

            /// Where the CodeSpec speaks of it.
            #[must_use]
            pub fn section(self) -> Section {
                match self {
                    $(Rule::$variant => Section::$section,)*
                }
            }

            /// Whether it decides.
            #[must_use]
            pub fn weight(self) -> Weight {
                match self {
                    $(Rule::$variant => Weight::$weight,)*
                }
            }
        }
    };
}

rules! {
    SingleBlock "single_fenced_block" Shape Hard, "A draft is one fenced block, and closes it.";
    NoExtraProse "no_extra_prose" Shape Hard, "Nothing stands outside of the block.";
    FenceLanguage "fence_language" Shape Hard, "The block is in the task's language.";
    Filename "filename" Shape Hard, "The draft is the file that was asked for.";
    Empty "empty_artifact" Shape Hard, "There is code in the block.";
    OtherFile "single_file" Shape Hard, "The code needs no other file of its own.";
    Syntax "syntax" Structure Hard, "The code can be parsed.";
    Nesting "nesting" Structure Hard, "The code is nested no deeper than can be checked.";
    StructureOrder "structure_order" Structure Hard, "The parts of a file stand in their order.";
    Header "header" Structure Hard, "The file begins with a comment that says what it is.";
    Docstring "docstring" Docstrings Hard, "What must be documented is.";
    Logging "logging" Logging Hard, "The file logs.";
    PrintLogging "print_is_not_logging" Logging Hard, "Nothing is printed instead of logged.";
    Naming "naming" Naming Hard, "Names are spelt as they should be.";
    ImportNotAllowed "import_not_allowed" Imports Hard, "What is imported is on the list.";
    ImportDenied "import_denied" Imports Hard, "What is imported is not denied.";
    ImportStar "import_star" Imports Hard, "What is imported is named.";
    DynamicImport "dynamic_import" Imports Hard, "Nothing is imported while the code runs.";
    IndirectAccess "indirect_access" Calls Hard, "Modules are used where they can be followed.";
    ForbiddenIo "forbidden_io" Calls Hard, "No hidden input or output.";
    ForbiddenNetwork "forbidden_network" Calls Hard, "No network.";
    ForbiddenTime "forbidden_time" Calls Hard, "No clock, and no chance.";
    ForbiddenProcess "forbidden_process" Calls Hard, "No other program.";
    ForbiddenCode "forbidden_code" Calls Hard, "No code that can't be checked.";
    Format "format" Format Style, "The code is laid out as the pinned formatter does it.";
    Whitespace "whitespace" Format Style, "Line ends, tabs and blanks are as they should be.";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Serialize for Section {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "schema")]
mod schema {
    use super::{Rule, Section};
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    impl JsonSchema for Rule {
        fn schema_name() -> Cow<'static, str> {
            "Rule".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            let names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
            json_schema!({ "type": "string", "enum": names })
        }
    }

    impl JsonSchema for Section {
        fn schema_name() -> Cow<'static, str> {
            "Section".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            let names = Section::ALL.map(Section::as_str);
            json_schema!({ "type": "string", "enum": names })
        }
    }
}
