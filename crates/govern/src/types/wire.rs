//! How typed records are read and written.
//! Owns: the trait, what is common to all of them, the macros that declare records and words. Must not: know a type.

use alloc::format;
use alloc::vec::Vec;
use countersign_record::json::{Json, Object};

mod values;

pub use super::reading::{How, Reading, Trouble};
pub use values::OrNull;

/// What stands in a record.
pub trait Wire: Sized {
    /// Reads it; what is wrong is told.
    fn read(value: &Json, reading: &mut Reading) -> Option<Self>;

    /// Whether all of it that is there is of its type, whatever is missing or unknown. A log has many records that are so: where this
    /// holds, reading tells of nothing there that is of another type, and nothing has to be made to know that.
    #[must_use]
    fn fits(value: &Json) -> bool {
        Self::read(value, &mut Reading::default()).is_some()
    }

    /// Writes it; `None` if it is left out.
    fn write(&self) -> Option<Json>;

    /// Its JSON Schema.
    fn schema() -> Json;

    /// The schema where it stands in another one.
    fn schema_inside() -> Json {
        Self::schema()
    }

    /// What it is where it is missing, if it may be.
    #[must_use]
    fn missing() -> Option<Self> {
        None
    }
}

/// A record that is written into a log: an event, a receipt, a request, a policy. What is folded or derived is none, so it can't
/// be appended.
///
/// ```compile_fail
/// fn written<T: countersign_govern::types::wire::Written>() {}
/// written::<countersign_govern::types::finding::EvaluationFindingRecord>();
/// ```
/// ```
/// fn written<T: countersign_govern::types::wire::Written>() {}
/// written::<countersign_govern::types::finding::EvaluationFindingEvent>();
/// ```
pub trait Written: Wire {
    /// The name of its type.
    const KIND: &'static str;
}

/// A record that went into a log: it can be read, not changed.
///
/// ```compile_fail
/// use countersign_govern::types::cost::CostVector;
/// fn change(mut sealed: countersign_govern::types::wire::Sealed<CostVector>) {
///     sealed.cost_vector_id = String::new();
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed<T>(T);

impl<T: Written> Sealed<T> {
    /// Seals a record.
    #[must_use]
    pub fn new(record: T) -> Self {
        Sealed(record)
    }

    /// What is written.
    #[must_use]
    pub fn json(&self) -> Json {
        self.0.write().unwrap_or(Json::Null)
    }
}

impl<T> core::ops::Deref for Sealed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Reads a member of an object.
pub fn member<T: Wire>(object: &Object, name: &str, reading: &mut Reading) -> Option<T> {
    reading.inside(name, |reading| match object.get(name) {
        Some(value) => T::read(value, reading),
        None => T::missing().or_else(|| reading.missing()),
    })
}

/// Whether a member of an object, if it is there, is of its type.
#[must_use]
pub fn member_fits<T: Wire>(object: &Object, name: &str) -> bool {
    object.get(name).is_none_or(T::fits)
}

/// Tells the members that no type has.
pub fn unknown(object: &Object, known: &[&str], reading: &mut Reading) {
    for (name, _) in object.iter().filter(|(name, _)| !known.contains(name)) {
        reading.inside(name, |reading| reading.unknown::<()>());
    }
}

/// An object with a schema: each member with its schema and whether it may be missing.
#[must_use]
pub fn object_schema(name: &str, members: Vec<(&str, Json, bool)>) -> Json {
    let required =
        members.iter().filter(|(.., is_optional)| !is_optional).map(|(name, ..)| Json::from(*name));
    let required = Json::Array(required.collect());
    let properties: Object = members.into_iter().map(|(name, schema, _)| (name, schema)).collect();
    Object::from([
        ("title", Json::from(name)),
        ("type", "object".into()),
        ("properties", properties.into()),
        ("required", required),
        ("additionalProperties", false.into()),
    ])
    .into()
}

fn of_type(name: &str) -> Json {
    Object::from([("type", Json::from(name))]).into()
}

/// Declares a record: its name, its class where it is one of a log, its members; behind these what must hold between them.
#[macro_export]
macro_rules! record {
    ($(#[doc = $doc:literal])* $name:ident: $class:ident { $($field:ident: $type:ty),* $(,)? }) => {
        $crate::types::wire::record! {
            $(#[doc = $doc])* $name: $class { $($field: $type),* } holds |_| true, "" }
    };
    ($(#[doc = $doc:literal])* $name:ident: $class:ident { $($field:ident: $type:ty),* $(,)? } holds $holds:expr, $message:literal) => {
        $crate::types::wire::record! {
            $(#[doc = $doc])* $name: $class { $($field: $type),* } holds $holds, $message schema |schema| schema }
    };
    ($(#[doc = $doc:literal])* $name:ident: $class:ident { $($field:ident: $type:ty),* $(,)? } holds $holds:expr, $message:literal schema $schema:expr) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the contract's own names")]
        pub struct $name { $(pub $field: $type),* }

        impl $name {
            /// Its name.
            pub const NAME: &'static str = stringify!($name);
            /// What its members are called.
            pub const MEMBERS: &'static [&'static str] = &[$(stringify!($field)),*];

            fn holds(value: &countersign_record::json::Json) -> bool {
                let holds: fn(&countersign_record::json::Json) -> bool = $holds;
                holds(value)
            }
        }

        impl $crate::types::wire::Wire for $name {
            fn read(
                value: &countersign_record::json::Json,
                reading: &mut $crate::types::wire::Reading,
            ) -> Option<Self> {
                let Some(object) = value.as_object() else { return reading.wrong("must be an object") };
                $crate::types::wire::unknown(object, Self::MEMBERS, reading);
                $(let $field = $crate::types::wire::member::<$type>(object, stringify!($field), reading);)*
                let read = $name { $($field: $field?),* };
                if Self::holds(value) { Some(read) } else { reading.wrong($message) }
            }

            fn fits(value: &countersign_record::json::Json) -> bool {
                let Some(object) = value.as_object() else { return false };
                true $(&& $crate::types::wire::member_fits::<$type>(object, stringify!($field)))* && Self::holds(value)
            }

            fn write(&self) -> Option<countersign_record::json::Json> {
                let mut object = countersign_record::json::Object::new();
                $(if let Some(value) = $crate::types::wire::Wire::write(&self.$field) {
                    object.insert(stringify!($field), value);
                })*
                Some(object.into())
            }

            fn schema() -> countersign_record::json::Json {
                let with: fn(countersign_record::json::Json) -> countersign_record::json::Json = $schema;
                with($crate::types::wire::object_schema(Self::NAME, alloc::vec![$((
                    stringify!($field),
                    <$type as $crate::types::wire::Wire>::schema_inside(),
                    <$type as $crate::types::wire::Wire>::missing().is_some(),
                )),*]))
            }

            fn schema_inside() -> countersign_record::json::Json {
                $crate::types::wire::inside::<Self>(Self::NAME)
            }
        }

        $crate::types::wire::class!($class $name);
    };
}

/// What is written into a log is marked so.
#[macro_export]
#[doc(hidden)]
macro_rules! class {
    (event $name:ident) => { $crate::types::wire::class!(@written $name); };
    (receipt $name:ident) => { $crate::types::wire::class!(@written $name); };
    (request $name:ident) => { $crate::types::wire::class!(@written $name); };
    (policy $name:ident) => { $crate::types::wire::class!(@written $name); };
    (projection $name:ident) => {};
    (read_model $name:ident) => {};
    (value $name:ident) => {};
    (@written $name:ident) => {
        impl $crate::types::wire::Written for $name {
            const KIND: &'static str = Self::NAME;
        }
    };
}

/// Declares a closed set of words.
#[macro_export]
macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident { $($variant:ident = $word:literal),* $(,)? }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the contract's own words")]
        pub enum $name { $($variant),* }

        impl $name {
            /// Its name.
            pub const NAME: &'static str = stringify!($name);
            /// All of them, in the contract's order.
            pub const ALL: &'static [Self] = &[$($name::$variant),*];
            /// Their words.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            /// The one of a word.
            #[must_use]
            pub fn find(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }

        impl $crate::types::wire::Wire for $name {
            fn read(
                value: &countersign_record::json::Json,
                reading: &mut $crate::types::wire::Reading,
            ) -> Option<Self> {
                let found = value.as_str().and_then(Self::find);
                found.or_else(|| reading.wrong(concat!("must be one of", $(" ", $word),*)))
            }

            fn fits(value: &countersign_record::json::Json) -> bool {
                value.as_str().and_then(Self::find).is_some()
            }

            fn write(&self) -> Option<countersign_record::json::Json> {
                Some(self.as_str().into())
            }

            fn schema() -> countersign_record::json::Json {
                let words = Self::ALL.iter().map(|one| one.as_str().into()).collect();
                countersign_record::json::Object::from([
                    ("title", countersign_record::json::Json::from(Self::NAME)),
                    ("enum", countersign_record::json::Json::Array(words)),
                ])
                .into()
            }

            fn schema_inside() -> countersign_record::json::Json {
                $crate::types::wire::inside::<Self>(Self::NAME)
            }
        }
    };
}

/// The schema of a record of which one member says more of itself than its type does.
#[must_use]
pub fn saying(schema: Json, member: &str, name: &str, more: Json) -> Json {
    let Json::Object(mut schema) = schema else { return schema };
    if let Some(Json::Object(mut members)) = schema.get("properties").cloned()
        && let Some(Json::Object(mut inside)) = members.get(member).cloned()
    {
        inside.insert(name, more);
        members.insert(member, inside);
        schema.insert("properties", members);
    }
    schema.into()
}

/// Texts as JSON.
#[must_use]
pub fn texts(all: &[&str]) -> Json {
    Json::Array(all.iter().map(|one| Json::from(*one)).collect())
}

/// The schema of a type inside another one: a reference to it, or itself if it is only a part or no type of the contract.
#[must_use]
pub fn inside<T: Wire + 'static>(name: &str) -> Json {
    match crate::types::find(name).filter(|found| found.is::<T>()) {
        Some(_) => Object::from([("$ref", Json::from(format!("{name}.json")))]).into(),
        None => T::schema(),
    }
}

pub use {crate::class, crate::record, crate::words};
