//! The tool `memory.read`, as a session has it.
//! Owns: that a model may ask but not choose what is read, and that no excerpt is kept. Must not: select.

use crate::clock::Clock;
use crate::memory_read::{Recall, Tool as MemoryRead, asked, label_of};
use crate::ports::Answer;
use crate::ports::ledger::Journal;
use crate::ports::tool::{Done, NotDone, Plan, Reads, Tool};
use countersign_kernel::gate::Permitted;
use countersign_record::access::MatterAccess;
use countersign_record::code::Code;
use countersign_record::id::ToolName;
use countersign_record::json::{self, Json, Number, Object};
use countersign_record::label::Label;
use countersign_record::tool::{Definition, Effect, Needs};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const PARAMETERS: &str = r#"{"type":"object","additionalProperties":false,"required":["query"],"properties":{
"query":{"type":"string","minLength":1,"maxLength":2000},"max_items":{"type":"integer","minimum":1,"maximum":50}}}"#;

/// Reads memory for a model.
pub struct MemoryTool {
    definition: Definition,
    recall: Recall,
    ledger: Arc<dyn Journal>,
    access: MatterAccess,
    clock: Arc<Clock>,
}

impl MemoryTool {
    /// The tool.
    ///
    /// # Errors
    /// Never: its name and its schema are well-formed.
    pub fn new(
        recall: Recall,
        ledger: Arc<dyn Journal>,
        access: MatterAccess,
        clock: Arc<Clock>,
    ) -> Result<Self, super::Error> {
        let parameters = json::parse(PARAMETERS.as_bytes()).unwrap_or(Json::Bool(true));
        let definition = Definition {
            name: ToolName::try_from(countersign_record::memory_read::KIND)?,
            description: "Finds records of memory by words.".to_owned(),
            parameters,
            effect: Effect::None,
            needs: Needs::Capability("memory:read".to_owned()),
        };
        Ok(MemoryTool { definition, recall, ledger, access, clock })
    }

    async fn read(&self, args: &Object) -> Result<Done, NotDone> {
        let query = args.get("query").and_then(Json::as_str).unwrap_or_default();
        let tool = MemoryRead {
            memory: self.recall.memory.as_ref(),
            ledger: self.ledger.as_ref(),
            access: &self.access,
            clock: &self.clock,
        };
        let arguments = asked(query, &self.recall, args.get("max_items"));
        let recorded =
            tool.call(&arguments).await.map_err(|error| NotDone::new(error.code(), error.to_string()))?;
        let (mut items, mut kept, mut label) = (Vec::new(), Vec::new(), Label::NOTHING);
        for one in recorded.package.selected() {
            let mut item = Object::from([("id", one.memory_id.into())]);
            let mut named = item.clone();
            named.insert("record_hash", Json::String(one.record_hash.into()));
            named.insert("tokens", Number::try_from(one.tokens).map_or(Json::Null, Json::Number));
            item.insert("excerpt", one.excerpt.shown());
            items.push(Json::Object(item));
            kept.push(Json::Object(named));
            label = label.join(label_of(&self.recall, one.store_path));
        }
        let output = |items: Vec<Json>| Json::Object(Object::from([("items", Json::Array(items))]));
        Ok(Done { output: output(items), kept: Some(output(kept)), label })
    }
}

impl Tool for MemoryTool {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn plan(&self, args: &Object) -> Result<Plan, NotDone> {
        let query = args.get("query").and_then(Json::as_str).unwrap_or_default();
        if query.trim().is_empty() {
            return Err(NotDone::new(Code::ToolArguments, "the query is empty"));
        }
        // The words of a query may be words of what was read: they are not kept.
        let summary = format!("look for {} characters of query in memory", query.chars().count());
        Ok(Plan { summary, reads: Reads::Labelled, writes: None, sends_to: None })
    }

    fn run<'a>(&'a self, call: Permitted, _: &'a CancellationToken) -> Answer<'a, Result<Done, NotDone>> {
        Box::pin(async move { self.read(call.args()).await })
    }
}
