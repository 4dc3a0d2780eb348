//! One call of a tool, from what the model wrote to what it is told.
//! Owns: the order of checking, permitting, recording, doing and recording again; what holds for a result. Must not: permit
//! (`decide.rs`).

use super::turn::{Turn, count};
use super::{Error, Session};
use crate::ports::tool::{Done, NotDone, Plan, Reads, STAGED, Tool};
use countersign_kernel::gate::Permitted;
use countersign_kernel::grant::Grants;
use countersign_kernel::recall::retrieved::shown_id;
use countersign_kernel::says::calls::Call;
use countersign_record::code::Code;
use countersign_record::deed::{self, CallPlace};
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Object};
use countersign_record::label::Label;
use countersign_record::row::{BlobBytes, DataClass, Taint};
use countersign_record::tool::{Effect, ToolResult};
use countersign_record::trace::Kind;
use std::sync::Arc;
use std::time::Instant;

/// The most that a model is told of a result, in bytes.
const RESULT_BYTES_MAX: usize = 64 * 1024;
/// How much of a summary is recorded and shown, in characters.
const SUMMARY_CHARS_MAX: usize = 400;

/// A call that is permitted and ready to be made.
pub(super) struct Ready {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) plan: Plan,
    pub(super) permitted: Permitted,
    pub(super) arguments: Digest,
    pub(super) definition: Digest,
    pub(super) grant: Option<String>,
    pub(super) confirmation: Option<String>,
}

impl Turn<'_> {
    /// Makes one call, or says why not. Either way the model gets a result.
    pub(super) async fn call(&mut self, call: Call, grants: &mut Grants) -> Result<(), Error> {
        let Call { id, tool, args } = call;
        self.event(
            Kind::ToolPlan,
            Object::from([
                ("id", id.as_str().into()),
                ("tool", tool.as_str().into()),
                ("args", args.clone().into()),
            ]),
        );
        match self.prepare(&tool, args, grants).await? {
            Ok(ready) => {
                for name in ready.grant.iter().chain(&ready.confirmation) {
                    grants.use_up(name);
                    self.used.push(name.clone());
                }
                self.make(&id, &tool, ready).await
            }
            Err((NotDone { code, message }, capability)) => {
                self.refuse(&id, &tool, code, &message, capability)
            }
        }
    }

    fn place(&self, call: &str, tool: &str) -> CallPlace {
        CallPlace { turn: self.number, round: self.round, call: call.to_owned(), tool: tool.to_owned() }
    }

    /// Tells the model that a call is not made, and records that.
    pub(super) fn refuse(
        &mut self,
        call: &str,
        tool: &str,
        code: Code,
        message: &str,
        capability: Option<String>,
    ) -> Result<(), Error> {
        let error = format!("{code}: {message}");
        let content = result(call, tool, Err(&error))?;
        let blob = BlobBytes::new(content.clone().into_bytes())?;
        let deed = deed::ToolRefused {
            place: self.place(call, tool),
            code: code.as_str().to_owned(),
            capability,
            result: blob.digest(),
        };
        self.rows.put(&deed, self.label, vec![blob])?;
        self.event(Kind::ToolDone, ended(call, tool, Some(&error), 0));
        self.screen.ended(tool, Some(&error), std::time::Duration::ZERO);
        self.talk.result(&content, None);
        Ok(())
    }

    /// Records the intent, makes the call, records the outcome.
    async fn make(&mut self, call: &str, tool_name: &str, ready: Ready) -> Result<(), Error> {
        let Ready { tool, plan, permitted, arguments, definition, grant, confirmation } = ready;
        let effect = tool.definition().effect;
        let summary: String = plan.summary.chars().take(SUMMARY_CHARS_MAX).collect();
        let told = BlobBytes::new(summary.clone().into_bytes())?;
        let deed = deed::ToolStarted {
            place: self.place(call, tool_name),
            summary: told.digest(),
            effect,
            arguments_hash: arguments,
            definition_hash: definition,
            policy_hash: self.policy,
            grant,
            confirmation: confirmation.clone(),
            sends_to: plan.sends_to.as_ref().map(ToString::to_string),
            writes: plan.writes.as_deref().map(|path| self.session.whole_path(path)),
        };
        // What is written is made from all that is in the session.
        self.rows.put(&deed, self.label, vec![told])?;
        if effect != Effect::None || plan.sends_to.is_some() {
            self.rows.flush().await?;
        }
        if let Some(path) = deed.writes {
            let class = self.session.written.entry(path).or_insert(self.label.data_class);
            *class = self.label.data_class.max(*class);
        }
        self.event(Kind::ToolStart, Object::from([("id", call.into()), ("tool", tool_name.into())]));
        self.screen.started(tool_name, &summary);
        let begun = Instant::now();
        let done = tool.run(permitted, self.cancel).await;
        let took = begun.elapsed();
        match plan.reads {
            Reads::Path(_) | Reads::Sandbox | Reads::Labelled => self.session.catch_up_written().await?,
            Reads::Nothing | Reads::Outside => {}
        }
        if let Some(place) = &plan.sends_to {
            let confirmation = confirmation.map(|grant| format!("grant:{grant}"));
            self.sent(&place.to_string(), &done, confirmation)?;
        }
        let label = match &done {
            Ok(done) => self.session.label_of(&plan.reads).join(done.label),
            Err(_) => self.session.label_of(&plan.reads),
        };
        // Whether a file could be written also tells something of what is there.
        let target = plan.writes.as_deref().map_or(Label::NOTHING, |path| self.session.label_of_file(path));
        self.label = self.label.join(label).join(target);
        self.finish(call, tool_name, done)?;
        let error = self.talk.messages.last().and_then(|message| error_of(&message.content));
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.event(Kind::ToolDone, ended(call, tool_name, error.as_deref(), millis));
        self.screen.ended(tool_name, error.as_deref(), took);
        Ok(())
    }

    /// Records the outcome, and tells the model.
    fn finish(&mut self, call: &str, tool: &str, done: Result<Done, NotDone>) -> Result<(), Error> {
        let (ok, content, kept) = match done {
            Ok(Done { output, kept, .. }) => {
                if tool == countersign_record::memory_read::KIND {
                    self.recalled_ids.extend(ids(&output));
                }
                let kept = kept.map(|kept| result(call, tool, Ok(kept))).transpose()?;
                (true, result(call, tool, Ok(output))?, kept)
            }
            Err(error) => (false, result(call, tool, Err(&error.to_string()))?, None),
        };
        let blob = BlobBytes::new(kept.as_ref().unwrap_or(&content).clone().into_bytes())?;
        let deed = deed::ToolEnded {
            place: self.place(call, tool),
            ok,
            result: blob.digest(),
            shown_hash: Digest::of(content.as_bytes()),
        };
        self.rows.put(&deed, self.label, vec![blob])?;
        self.talk.result(&content, kept);
        Ok(())
    }

    /// Writes the receipt for what a call sent away.
    fn sent(
        &mut self,
        place: &str,
        done: &Result<Done, NotDone>,
        confirmation: Option<String>,
    ) -> Result<(), Error> {
        let is_cached = |done: &Done| done.output.get("cached") == Some(&Json::Bool(true));
        let status = match done {
            // What was found in the cache went nowhere.
            Ok(done) if is_cached(done) => return Ok(()),
            Ok(_) => "completed",
            Err(NotDone { code: Code::ToolDenied | Code::WebAddress | Code::WebUrl, .. }) => {
                "blocked_by_policy"
            }
            Err(_) => "failed",
        };
        self.externalized("external_source_query", place, status, confirmation)
    }
}

impl Session {
    /// What holds for what a call reads.
    fn label_of(&self, reads: &Reads) -> Label {
        let policy = &self.office.policy;
        let of_class = |data_class: DataClass| Label {
            data_class: data_class.max(self.office.root_class),
            taint: Taint::Unclassified,
        };
        match reads {
            Reads::Nothing => Label::NOTHING,
            Reads::Labelled => self.label_of_stores(),
            Reads::Outside => Label::OUTSIDE,
            Reads::Path(path) => of_class(policy.class_beneath(path).max(self.class_written(path))),
            Reads::Sandbox => of_class(policy.class_beneath("").max(self.class_written(""))),
        }
    }

    /// A path beneath the root, with the root.
    fn whole_path(&self, path: &str) -> String {
        let (root, path) = (self.office.root.as_str(), if path == "." { "" } else { path });
        match (root.is_empty(), path.is_empty()) {
            (true, _) => path.to_owned(),
            (false, true) => root.to_owned(),
            (false, false) => format!("{root}/{path}"),
        }
    }

    /// What holds for one file.
    fn label_of_file(&self, path: &str) -> Label {
        let data_class =
            self.office.policy.class_of(path).max(self.class_written(path)).max(self.office.root_class);
        Label { data_class, taint: Taint::Unclassified }
    }

    /// The class of what sessions wrote at or beneath a path.
    fn class_written(&self, path: &str) -> DataClass {
        // What was left behind while a file was written may be any file of that directory.
        let path = match path.rsplit_once('/').unwrap_or(("", path)) {
            (dir, name) if name.starts_with(STAGED) => dir,
            _ => path,
        };
        self.class_written_at(&self.whole_path(path))
    }

    /// What holds for the stores of memory beside what the policy says of them: a session may have written one.
    pub(super) fn label_of_stores(&self) -> Label {
        let places = self.office.recall.iter().flat_map(|recall| recall.places.values());
        let classes = places.map(|place| self.class_written_at(place));
        Label { data_class: classes.max().unwrap_or(DataClass::Public), ..Label::NOTHING }
    }

    /// The same by the whole path.
    fn class_written_at(&self, whole: &str) -> DataClass {
        let is_beneath = |written: &str| {
            let beneath = || written.strip_prefix(whole).is_some_and(|rest| rest.starts_with('/'));
            whole.is_empty() || written == whole || beneath()
        };
        let classes = self.written.iter().filter(|(written, _)| is_beneath(written)).map(|(_, class)| *class);
        classes.max().unwrap_or(DataClass::Public)
    }
}

/// The content of the message that the model gets.
pub(super) fn result(call: &str, tool: &str, done: Result<Json, &str>) -> Result<String, Error> {
    let (ok, output, error) = match done {
        Ok(output) => (true, output, None),
        Err(error) => (false, Json::Null, Some(error.to_owned())),
    };
    let whole = ToolResult { id: call.to_owned(), tool: tool.to_owned(), ok, output, error };
    let text = json::to_text(&whole)?;
    if text.len() <= RESULT_BYTES_MAX {
        return Ok(text);
    }
    let output = json::to_text(&whole.output)?;
    let mut end = RESULT_BYTES_MAX;
    loop {
        // A text within a text takes more bytes: how many, only writing it tells.
        end /= 2;
        while !output.is_char_boundary(end) {
            end -= 1;
        }
        let cut = Object::from([
            ("truncated", true.into()),
            ("bytes", count(output.len() as u64)),
            ("start", output.get(..end).unwrap_or_default().into()),
        ]);
        let text = json::to_text(&ToolResult { output: cut.into(), ..whole.clone() })?;
        if text.len() <= RESULT_BYTES_MAX || end == 0 {
            return Ok(text);
        }
    }
}

/// The ids of records that a read of memory gave.
fn ids(output: &Json) -> Vec<String> {
    let items = output.get("items").and_then(Json::as_array).unwrap_or_default();
    items.iter().filter_map(|item| item.get("id")?.as_str()).map(shown_id).collect()
}

fn error_of(content: &str) -> Option<String> {
    let value = json::parse(content.as_bytes()).ok()?;
    value.get("error")?.as_str().map(str::to_owned)
}

fn ended(call: &str, tool: &str, error: Option<&str>, millis: u64) -> Object {
    Object::from([
        ("id", call.into()),
        ("tool", tool.into()),
        ("ok", error.is_none().into()),
        ("error", error.map_or(Json::Null, Json::from)),
        ("duration_ms", count(millis)),
    ])
}
