//! Which agents work, in which order, and how far they may go.
//! Owns: the pipeline as data, where an output leads. Must not: know what an agent does.

mod definition;
pub mod shipped;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::code::Code;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::json::{Json, Object};
use serde::Serialize;

pub use definition::{Definition, NotADefinition};

/// Where a run begins, before its first stage.
pub const START: &str = "start";
/// Where it ends.
pub const END: &str = "end";

/// The most stages a pipeline may have.
pub(crate) const STAGES_MAX: usize = 64;

/// A pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// The stages, in order; the first is where a run begins.
    pub stages: Vec<Stage>,
    /// How far a run may go.
    pub limits: Limits,
}

/// One stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Where its output stands.
    pub output_key: String,
    /// Who works.
    pub agent: Agent,
    /// Where an output leads: the first rule that holds.
    pub rules: Vec<Rule>,
    /// Where it leads else; the end where there is nothing.
    pub default_next: Option<String>,
    /// Where a failure leads; it ends the run where there is nothing.
    pub error_next: Option<String>,
}

/// Who works in a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Agent {
    /// One of ours, by name.
    BuiltIn {
        /// Its name.
        name: String,
    },
    /// A model, with what it is told and what its answer must fit.
    Model {
        /// What it is told.
        prompt: String,
        /// JSON Schema of its answer.
        schema: Json,
    },
    /// Another program, that takes an envelope and gives one.
    Process {
        /// The program and its arguments.
        command: Vec<String>,
    },
    /// A tool of an MCP server, that takes an envelope and gives one.
    Mcp {
        /// The server and its arguments; it is spoken to over its standard streams.
        command: Vec<String>,
        /// The tool's name.
        tool: String,
        /// What the tool must say of itself; whatever it says will do where there is nothing.
        definition: Option<Definition>,
    },
}

/// Where an output leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The member of the output.
    pub key: String,
    /// What it must be.
    pub value: Json,
    /// The stage that follows.
    pub target: String,
}

/// How far a run may go, where its envelope does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// How often it may begin again.
    pub max_iterations: u64,
    /// How often a model may be called.
    pub max_llm_calls: u64,
    /// How often one agent may hand over to another.
    pub max_agent_hops: u64,
    /// How many stages of goals there may be.
    pub max_stages: u64,
    /// How often the critic may refuse without progress.
    pub max_critic_fires: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_iterations: 3,
            max_llm_calls: 10,
            max_agent_hops: 21,
            max_stages: 5,
            max_critic_fires: 3,
        }
    }
}

impl Pipeline {
    /// The stage of a name.
    #[must_use]
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.name == name)
    }

    /// The stage that writes to an output key.
    #[must_use]
    pub fn writing(&self, output_key: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.output_key == output_key)
    }

    /// Whether a run can come to a stage without having passed another since it began, or since it left a third one.
    #[must_use]
    pub fn is_bypassed(
        &self,
        guard: impl Fn(&Stage) -> bool,
        from: impl Fn(&Stage) -> bool,
        to: impl Fn(&Stage) -> bool,
    ) -> bool {
        let mut waiting: Vec<&Stage> = self.stages.first().into_iter().collect();
        waiting.extend(self.stages.iter().filter(|stage| from(stage)));
        let mut seen = BTreeSet::new();
        while let Some(stage) = waiting.pop() {
            // A stage is left for good where it guards, and looked at once.
            if guard(stage) || !seen.insert(stage.name.as_str()) {
                continue;
            }
            if to(stage) {
                return true;
            }
            waiting.extend(stage.targets().filter_map(|target| self.stage(target)));
        }
        false
    }

    /// Reads a pipeline, naming everything that is wrong with it.
    ///
    /// # Errors
    /// It is none.
    pub fn read(document: Json) -> Result<Self, Vec<Trouble>> {
        let mut fields = Fields::taking(document).map_err(|trouble| Vec::from([trouble]))?;
        let name = fields.filled("name");
        let stages = fields.objects("stages", stage);
        let limits = fields.optional("limits", |fields, name| fields.object(name, limits));
        if let Some(stages) = &stages {
            check(&mut fields, stages);
        }
        fields.deny_unknown();
        let (Some(name), Some(stages)) = (name, stages) else {
            return Err(fields.finish().err().unwrap_or_default());
        };
        fields.finish()?;
        Ok(Pipeline { name, stages, limits: limits.unwrap_or_default() })
    }
}

impl Stage {
    /// Where an output leads.
    #[must_use]
    pub fn next(&self, output: &Object) -> &str {
        let holds = |rule: &&Rule| output.get(&rule.key) == Some(&rule.value);
        let ruled = self.rules.iter().find(holds).map(|rule| rule.target.as_str());
        ruled.or(self.default_next.as_deref()).unwrap_or(END)
    }

    /// Who works in it, as people are told.
    #[must_use]
    pub fn agent_name(&self) -> &str {
        match &self.agent {
            Agent::BuiltIn { name } => name,
            Agent::Model { .. } => &self.name,
            Agent::Process { command } => command.first().map_or(&self.name, |program| program),
            Agent::Mcp { tool, .. } => tool,
        }
    }

    /// Every stage it may lead to.
    fn targets(&self) -> impl Iterator<Item = &str> {
        let rules = self.rules.iter().map(|rule| rule.target.as_str());
        rules.chain(self.default_next.as_deref()).chain(self.error_next.as_deref())
    }
}

fn stage(fields: &mut Fields<'_>) -> Option<Stage> {
    let name = fields.filled("name");
    let output_key = fields.optional("output_key", Fields::filled);
    let agent = fields.object("agent", agent);
    let rules = fields.optional("rules", |fields, name| fields.objects(name, rule)).unwrap_or_default();
    let default_next = fields.optional("default_next", Fields::filled);
    let error_next = fields.optional("error_next", Fields::filled);
    fields.deny_unknown();
    let name = name?;
    let output_key = output_key.unwrap_or_else(|| name.clone());
    Some(Stage { name, output_key, agent: agent?, rules, default_next, error_next })
}

fn agent(fields: &mut Fields<'_>) -> Option<Agent> {
    let kind = fields.parse("kind", |word| match word {
        "built_in" | "model" | "process" | "mcp" => Ok(word.to_string()),
        _ => Err("built_in, model, process or mcp is needed"),
    });
    let agent = match kind.as_deref() {
        Some("built_in") => fields.filled("name").map(|name| Agent::BuiltIn { name }),
        Some("model") => {
            let (prompt, schema) = (fields.filled("prompt"), fields.free_object("schema"));
            prompt.zip(schema).map(|(prompt, schema)| Agent::Model { prompt, schema: Json::from(schema) })
        }
        Some("process") => command(fields).map(|command| Agent::Process { command }),
        Some("mcp") => {
            let (command, tool) = (command(fields), fields.filled("tool"));
            let definition = fields
                .optional("definition", |fields, name| fields.parse(name, |text| Definition::try_from(text)));
            command.zip(tool).map(|(command, tool)| Agent::Mcp { command, tool, definition })
        }
        Some(_) | None => None,
    };
    fields.deny_unknown();
    agent
}

/// A program and its arguments.
fn command(fields: &mut Fields<'_>) -> Option<Vec<String>> {
    let command = fields.texts("command")?;
    if command.first().is_none_or(String::is_empty) {
        fields.trouble("command", Code::FieldInvalid, "a program is needed");
        return None;
    }
    Some(command)
}

fn rule(fields: &mut Fields<'_>) -> Option<Rule> {
    let (key, target) = (fields.filled("key"), fields.filled("target"));
    let value = fields.value("value").cloned();
    fields.deny_unknown();
    Some(Rule { key: key?, value: value?, target: target? })
}

fn limits(fields: &mut Fields<'_>) -> Option<Limits> {
    let usual = Limits::default();
    let mut limit = |name: &'static str, usual: u64| {
        let limit = fields.optional(name, Fields::integer).unwrap_or(usual);
        if limit == 0 {
            fields.trouble(name, Code::FieldInvalid, "a limit of 0 would forbid the run itself");
        }
        limit
    };
    let limits = Limits {
        max_iterations: limit("max_iterations", usual.max_iterations),
        max_llm_calls: limit("max_llm_calls", usual.max_llm_calls),
        max_agent_hops: limit("max_agent_hops", usual.max_agent_hops),
        max_stages: limit("max_stages", usual.max_stages),
        max_critic_fires: limit("max_critic_fires", usual.max_critic_fires),
    };
    fields.deny_unknown();
    Some(limits)
}

/// Notes what does not fit together.
fn check(fields: &mut Fields<'_>, stages: &[Stage]) {
    if stages.is_empty() || stages.len() > STAGES_MAX {
        let message = format!("1 to {STAGES_MAX} stages are needed");
        fields.trouble("stages", Code::FieldInvalid, message);
    }
    let names: BTreeSet<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    let mut keys: BTreeMap<&str, &str> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (at, stage) in stages.iter().enumerate() {
        let mut trouble = |member: &str, message: String| {
            fields.trouble_at(&format!("stages/{at}/{member}"), Code::FieldInvalid, message);
        };
        if !seen.insert(stage.name.as_str()) || [START, END].contains(&stage.name.as_str()) {
            trouble("name", format!("{} is taken", stage.name));
        }
        if let Some(other) = keys.insert(&stage.output_key, &stage.name) {
            trouble("output_key", format!("{other} writes there too"));
        }
        for target in stage.targets().filter(|target| *target != END && !names.contains(target)) {
            trouble("rules", format!("there is no stage {target}"));
        }
    }
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
