//! Numbers and texts of a task's file that are taken for each other.
//! Owns: what a user may write. Must not: hold what was recorded to it; a run that was begun can always be read.

use countersign_govern::types::cost::CostDimension;
use countersign_govern::types::wire::Wire;
use countersign_record::code::Code;
use countersign_record::fields::Trouble;
use countersign_record::json::Json;
use countersign_work::task::Task;

/// What is written as another kind of value than it is read as.
pub(super) fn troubles(document: &Json, task: &Task) -> Vec<Trouble> {
    let mut all = Vec::new();
    differing(document, &task.write().unwrap_or(Json::Null), String::new(), &mut all);
    for (dimension, amount) in task.budget.iter().flatten() {
        let message = match (dimension, amount) {
            (CostDimension::Usd, Json::String(_)) => continue,
            (CostDimension::Usd, _) => "money is written as a text, such as \"0.50\"",
            (_, Json::Number(number)) if number.as_u64().is_some() => continue,
            (_, _) => WHOLE,
        };
        all.push(trouble(format!("/budget/{}", dimension.as_str()), message));
    }
    all
}

const WHOLE: &str = "must be a whole number, without quotation marks";

/// A number may be read from a text, where it is too large to be one for everybody; a user's never is.
fn differing(said: &Json, read: &Json, place: String, all: &mut Vec<Trouble>) {
    match (said, read) {
        (Json::String(_), Json::Number(_)) => all.push(trouble(place, WHOLE)),
        (Json::Object(said), Json::Object(read)) => {
            for (name, value) in said.iter() {
                if let Some(read) = read.get(name) {
                    differing(value, read, format!("{place}/{name}"), all);
                }
            }
        }
        (Json::Array(said), Json::Array(read)) => {
            for (at, (value, read)) in said.iter().zip(read).enumerate() {
                differing(value, read, format!("{place}/{at}"), all);
            }
        }
        (
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) | Json::Object(_),
            _,
        ) => {}
    }
}

fn trouble(path: String, message: &str) -> Trouble {
    Trouble { code: Code::FieldInvalid, path, message: message.to_owned() }
}
