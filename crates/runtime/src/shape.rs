//! JSON Schemas that documents are held against.
//! Owns: compiling one, and saying what does not fit without a word of the document. Must not: fetch another schema.

use countersign_record::json::{self, Json};

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Shape(jsonschema::Validator);

impl Shape {
    /// Compiles a schema of draft 2020-12.
    pub(crate) fn new(schema: &Json) -> Result<Self, String> {
        let schema = value(schema)?;
        jsonschema::draft202012::new(&schema).map(Shape).map_err(|error| error.to_string())
    }

    /// What does not fit: only the place is told, and which rule it breaks.
    pub(crate) fn check(&self, document: &Json) -> Result<(), String> {
        let instance = value(document)?;
        self.0.validate(&instance).map_err(|error| {
            let (place, rule) = (error.instance_path().to_string(), error.schema_path().to_string());
            format!("at {place:?}: the schema's {rule} does not hold")
        })
    }
}

fn value(json: &Json) -> Result<serde_json::Value, String> {
    let text = json::to_text(json).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}
