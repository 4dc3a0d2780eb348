//! TOML of a task's folder, as the documents that are held against it.
//! Owns: the turn into JSON. Must not: know what a file is about.

use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_record::json::{self, Json, Object};
use toml::de::{DeTable, DeValue};

/// Tables and lists within each other, at most.
const DEPTH_MAX: usize = 64;

/// The document that a text is; nothing where it is none.
pub(crate) fn read(text: &str) -> Option<Json> {
    let table = DeTable::parse(text).ok()?;
    object(table.get_ref(), DEPTH_MAX).map(Json::Object)
}

fn object(table: &DeTable<'_>, depth: usize) -> Option<Object> {
    let mut object = Object::new();
    for (name, value) in table {
        object.insert(name.get_ref().as_ref(), value_of(value.get_ref(), depth)?);
    }
    Some(object)
}

fn value_of(value: &DeValue<'_>, depth: usize) -> Option<Json> {
    let within = depth.checked_sub(1)?;
    Some(match value {
        DeValue::String(text) => Json::from(text.as_ref()),
        DeValue::Boolean(value) => Json::from(*value),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).ok()?;
            json::parse(number.to_string().as_bytes()).ok()?
        }
        DeValue::Float(number) => json::parse(number.as_str().replace('_', "").as_bytes()).ok()?,
        // A time is written as a text.
        DeValue::Datetime(_) => return None,
        DeValue::Array(items) => {
            let items: Option<Vec<Json>> = items.iter().map(|one| value_of(one.get_ref(), within)).collect();
            Json::Array(items?)
        }
        DeValue::Table(table) => Json::Object(object(table, within)?),
    })
}
