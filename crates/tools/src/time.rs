//! The tool `system.time`.
//! Owns: its words. Must not: read a clock that it was not given.

use crate::args::Saying;
use crate::sandbox::Error;
use countersign_kernel::gate::Permitted;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::time::{NotATimestamp, Timestamp};
use countersign_record::tool::{Definition, Effect, Needs};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Reads, Tool};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Says what time it is.
pub type Now = Arc<dyn Fn() -> Result<Timestamp, NotATimestamp> + Send + Sync>;

/// Tells the time.
pub struct Time {
    definition: Definition,
    now: Now,
}

impl Time {
    /// The tool, with its clock.
    ///
    /// # Errors
    /// What it says of itself is wrong.
    pub fn new(now: Now) -> Result<Self, Error> {
        let saying = Saying {
            name: "system.time",
            description: "Tells the current time as an RFC 3339 text in UTC. Takes no arguments.",
            parameters: r#"{
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "type": "object",
                "properties": {},
                "additionalProperties": false
            }"#,
            effect: Effect::None,
            needs: Needs::Nothing,
        };
        Ok(Time { definition: saying.definition()?, now })
    }
}

impl Tool for Time {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn plan(&self, _args: &Object) -> Result<Plan, NotDone> {
        Ok(Plan { summary: "tell the time".to_owned(), reads: Reads::Nothing, writes: None, sends_to: None })
    }

    fn run<'a>(
        &'a self,
        _call: Permitted,
        _cancel: &'a CancellationToken,
    ) -> Answer<'a, Result<Done, NotDone>> {
        Box::pin(async {
            let now = (self.now)().map_err(|error| NotDone::new(Code::ToolFailed, error.to_string()))?;
            Ok(Done::plain(Json::from(Object::from([("utc", Json::from(now.as_str()))]))))
        })
    }
}
