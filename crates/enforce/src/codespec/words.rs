//! The words that a rule block is made of.
//! Owns: each word's one door. Must not: know where it stands.

use crate::rule::Rule;

/// The language of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// Python 3.
    Python,
    /// Rust.
    Rust,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 2] = [Language::Python, Language::Rust];

    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Rust => "rust",
        }
    }

    /// What the names of its files end with.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Language::Python => ".py",
            Language::Rust => ".rs",
        }
    }

    /// Whether a fence's word means this language.
    pub(crate) fn is_called(self, word: &str) -> bool {
        let words: &[&str] = match self {
            Language::Python => &["python", "python3", "py"],
            Language::Rust => &["rust", "rs"],
        };
        words.iter().any(|known| known.eq_ignore_ascii_case(word))
    }

    /// What stands between the parts of a name.
    pub(crate) fn separator(self) -> &'static str {
        match self {
            Language::Python => ".",
            Language::Rust => "::",
        }
    }

    /// The formatter of this build.
    #[must_use]
    pub fn formatter(self) -> &'static str {
        match self {
            Language::Python => "ruff_python_formatter 0.0.10",
            Language::Rust => "prettyplease 0.3.0",
        }
    }
}

impl TryFrom<&str> for Language {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        Language::ALL.into_iter().find(|known| known.as_str() == word).ok_or("python or rust is needed")
    }
}

/// Whether something may be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Permission {
    /// It may.
    #[default]
    Allowed,
    /// It may not.
    Forbidden,
}

impl TryFrom<&str> for Permission {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        match word {
            "allowed" => Ok(Permission::Allowed),
            "forbidden" => Ok(Permission::Forbidden),
            _ => Err("allowed or forbidden is needed"),
        }
    }
}

/// Whether something must be there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// It may be there.
    #[default]
    Optional,
    /// It must.
    Required,
}

impl TryFrom<&str> for Need {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        match word {
            "optional" => Ok(Need::Optional),
            "required" => Ok(Need::Required),
            _ => Err("optional or required is needed"),
        }
    }
}

/// Which things must be documented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// None.
    #[default]
    None,
    /// Those that others see.
    Public,
    /// All.
    All,
}

impl TryFrom<&str> for Extent {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        match word {
            "none" => Ok(Extent::None),
            "public" => Ok(Extent::Public),
            "all" => Ok(Extent::All),
            _ => Err("none, public or all is needed"),
        }
    }
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The comment at the top.
    Header,
    /// What the file says of itself.
    Docstring,
    /// What it uses of others.
    Imports,
    /// Values that are there from the start.
    Constants,
    /// Classes, types, functions.
    Definitions,
    /// What a test sees.
    Tests,
    /// What is done when it is run.
    Main,
}

impl Part {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Part::Header => "header",
            Part::Docstring => "docstring",
            Part::Imports => "imports",
            Part::Constants => "constants",
            Part::Definitions => "definitions",
            Part::Tests => "tests",
            Part::Main => "main",
        }
    }
}

impl TryFrom<&str> for Part {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        let all = [
            Part::Header,
            Part::Docstring,
            Part::Imports,
            Part::Constants,
            Part::Definitions,
            Part::Tests,
            Part::Main,
        ];
        all.into_iter()
            .find(|part| part.as_str() == word)
            .ok_or("header, docstring, imports, constants, definitions, tests or main is needed")
    }
}

/// How a name is spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// `snake_case`
    Snake,
    /// `UPPER_SNAKE_CASE`
    UpperSnake,
    /// `PascalCase`
    Pascal,
    /// `camelCase`
    Camel,
}

impl Case {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Case::Snake => "snake_case",
            Case::UpperSnake => "UPPER_SNAKE_CASE",
            Case::Pascal => "PascalCase",
            Case::Camel => "camelCase",
        }
    }

    /// Whether a name is spelt so. Underscores at its ends say something else, and are not looked at.
    #[must_use]
    pub fn fits(self, name: &str) -> bool {
        let name = name.trim_matches('_');
        let Some(first) = name.chars().next() else { return true };
        match self {
            Case::Snake => !name.chars().any(char::is_uppercase),
            Case::UpperSnake => !name.chars().any(char::is_lowercase),
            Case::Pascal => !first.is_lowercase() && !name.contains('_'),
            Case::Camel => !first.is_uppercase() && !name.contains('_'),
        }
    }
}

impl TryFrom<&str> for Case {
    type Error = &'static str;

    fn try_from(word: &str) -> Result<Self, &'static str> {
        let all = [Case::Snake, Case::UpperSnake, Case::Pascal, Case::Camel];
        let known = all.into_iter().find(|case| case.as_str() == word);
        known.ok_or("snake_case, UPPER_SNAKE_CASE, PascalCase or camelCase is needed")
    }
}

/// What must not be used, and everything beneath it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// A name, in its parts.
    Path(Vec<String>),
    /// Any method of this name, whatever it is called on.
    Method(String),
    /// A macro.
    Macro(String),
    /// A function of Python, called with an argument of this name: `logging.basicConfig(filename=)`.
    Argument(Vec<String>, String),
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It is none.
    pub fn read(text: &str, language: Language) -> Result<Self, &'static str> {
        let is_name = |name: &str| {
            let begins = name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_');
            begins && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let no_name =
            "a name such as os.path, std::fs or .read_text is needed; everything beneath it is meant";
        if let Some(method) = text.strip_prefix('.') {
            return if is_name(method) { Ok(Pattern::Method(method.into())) } else { Err(no_name) };
        }
        if let Some(name) = text.strip_suffix('!') {
            let may_be = language == Language::Rust && is_name(name);
            return if may_be { Ok(Pattern::Macro(name.into())) } else { Err(no_name) };
        }
        if let Some((function, name)) = text.strip_suffix("=)").and_then(|text| text.split_once('(')) {
            return match Pattern::read(function, language)? {
                Pattern::Path(parts) if language == Language::Python && is_name(name) => {
                    Ok(Pattern::Argument(parts, name.into()))
                }
                _ => Err(no_name),
            };
        }
        let parts: Vec<String> = text.split(language.separator()).map(str::to_owned).collect();
        if !parts.iter().all(|part| is_name(part)) {
            return Err(no_name);
        }
        Ok(Pattern::Path(plain(parts, language)))
    }

    /// Whether a name, in its parts, is this or lies beneath it.
    #[must_use]
    pub fn covers<S: AsRef<str>>(&self, path: &[S]) -> bool {
        match self {
            Pattern::Path(parts) => {
                parts.len() <= path.len() && parts.iter().zip(path).all(|(part, held)| part == held.as_ref())
            }
            Pattern::Method(_) | Pattern::Macro(_) | Pattern::Argument(..) => false,
        }
    }
}

/// A name as it is compared: what has several names has one.
pub(crate) fn plain(mut parts: Vec<String>, language: Language) -> Vec<String> {
    match language {
        Language::Python => {
            if parts.len() > 1 && parts.first().is_some_and(|first| first == "builtins") {
                parts.remove(0);
            }
        }
        Language::Rust => {
            if let Some(first) = parts.first_mut().filter(|first| ["core", "alloc"].contains(&first.as_str()))
            {
                *first = "std".into();
            }
        }
    }
    parts
}

/// A name that must not be used, and the rule that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// What.
    pub pattern: Pattern,
    /// By which rule.
    pub rule: Rule,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases() {
        for (name, snake, upper, pascal, camel) in [
            ("read_file", true, false, false, false),
            ("READ_FILE", false, true, false, false),
            ("ReadFile", false, false, true, false),
            ("readFile", false, false, false, true),
            ("read", true, false, false, true),
            ("X", false, true, true, false),
            ("_private", true, false, false, true),
            ("__init__", true, false, false, true),
            ("_", true, true, true, true),
            ("größe", true, false, false, true),
            ("x1", true, false, false, true),
        ] {
            let found =
                [Case::Snake, Case::UpperSnake, Case::Pascal, Case::Camel].map(|case| case.fits(name));
            assert_eq!(found, [snake, upper, pascal, camel], "{name}");
        }
    }

    #[test]
    fn patterns() {
        let python = |text: &str| Pattern::read(text, Language::Python);
        let rust = |text: &str| Pattern::read(text, Language::Rust);
        assert!(python("os.path").unwrap().covers(&["os", "path", "join"]));
        assert!(!python("os.path").unwrap().covers(&["os"]));
        assert!(python("builtins.open").unwrap().covers(&["open"]));
        assert!(rust("core::time").unwrap().covers(&["std", "time", "Instant"]));
        assert_eq!(rust("include_str!"), Ok(Pattern::Macro("include_str".into())));
        assert_eq!(
            python("a.b(c=)"),
            Ok(Pattern::Argument(vec!["a".to_owned(), "b".to_owned()], "c".to_owned()))
        );
        assert_eq!(python(".read_text"), Ok(Pattern::Method("read_text".into())));
        for bad in ["", ".", "os.*", "os..path", "a b", "x!", "1a", "a(b)", "a(=)", ".a(b=)"] {
            assert!(python(bad).is_err(), "{bad}");
        }
        assert!(rust("std.fs").is_err());
    }
}
