//! Pipelines: the ones that ship, and those of users.
//! Owns: finding one by name or file, and who works in its stages. Must not: run one.

use crate::beneath;
use crate::enforcing::{self, Enforcement};
use crate::failure::Failure;
use crate::input;
use crate::launch::Launch;
use crate::mcp::Mcp;
use crate::program::Program;
use crate::tables::Table;
use countersign_kernel::pipeline::{Agent as Kind, Pipeline, Stage};
use countersign_record::code::Code;
use countersign_runtime::agents::{Means, NAMES, built_in};
use countersign_runtime::ports::agent::Agent;
use countersign_runtime::run::model::ModelAgent;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The pipelines that ship, by name.
pub(crate) const SHIPPED: [(&str, &str); 4] = [
    ("default", include_str!("../pipelines/default.toml")),
    ("ragstream", include_str!("../pipelines/ragstream.toml")),
    ("six-agent", include_str!("../pipelines/six-agent.toml")),
    ("task", include_str!("../pipelines/task.toml")),
];

/// A pipeline, and the directory that its programs are run in.
pub(crate) struct Found {
    pub(crate) pipeline: Pipeline,
    pub(crate) dir: PathBuf,
}

/// Whether a pipeline of this name ships.
pub(crate) fn is_shipped(named: &str) -> bool {
    SHIPPED.iter().any(|(name, _)| *name == named)
}

/// The pipeline of a name, or of a file within a folder.
pub(crate) fn beneath(folder: &Path, named: &str, bytes_max: u64) -> Result<Found, Failure> {
    if is_shipped(named) {
        return find(named);
    }
    let shown = folder.join(named);
    let why = |why: String| Failure::new(Code::FileUnreadable, format!("{}: {why}", shown.display()));
    let bytes = beneath::read(folder, named, bytes_max).map_err(why)?;
    let text = String::from_utf8(bytes).map_err(|_| why("it is no text in UTF-8".to_owned()))?;
    let dir = shown.parent().unwrap_or(folder).to_path_buf();
    let pipeline = Table::read(named, &text, Code::RunPipeline)?.into_a(Pipeline::read)?;
    apart(named, &pipeline)?;
    Ok(Found { pipeline, dir })
}

/// A pipeline of a user's own has a name of its own: whoever verifies a packet goes by the name.
fn apart(named: &str, pipeline: &Pipeline) -> Result<(), Failure> {
    let name = pipeline.name.as_str();
    if !is_shipped(name) {
        return Ok(());
    }
    let why = format!("{named}: {name} is the name of a pipeline that ships; give this one its own");
    Err(Failure::new(Code::RunPipeline, why))
}

/// The pipeline of a name, or of a file.
pub(crate) fn find(named: &str) -> Result<Found, Failure> {
    let shipped = SHIPPED.iter().find(|(name, _)| *name == named);
    let (text, dir) = match shipped {
        Some((_, text)) => ((*text).to_owned(), PathBuf::from(".")),
        None => {
            let dir = Path::new(named).parent().filter(|dir| !dir.as_os_str().is_empty());
            (input::text(named)?, dir.unwrap_or(Path::new(".")).to_path_buf())
        }
    };
    let pipeline = Table::read(named, &text, Code::RunPipeline)?.into_a(Pipeline::read)?;
    Ok(Found { pipeline, dir })
}

impl Found {
    /// Who works, by stage. Programs only if they are allowed.
    pub(crate) fn agents(
        &self,
        means: &Means,
        allows_programs: bool,
    ) -> Result<BTreeMap<String, Arc<dyn Agent>>, Failure> {
        let one = |stage: &Stage| Ok((stage.name.clone(), self.agent(stage, means, allows_programs)?));
        self.pipeline.stages.iter().map(one).collect()
    }

    fn agent(&self, stage: &Stage, means: &Means, allows_programs: bool) -> Result<Arc<dyn Agent>, Failure> {
        let refused = |why: String| {
            Failure::new(Code::RunAgent, format!("the stage {}: {why}", stage.name))
                .with("stage", stage.name.as_str())
        };
        let launch =
            |command: &[String]| Launch::new(command.to_vec(), self.dir.clone(), Arc::clone(&means.clock));
        match &stage.agent {
            Kind::BuiltIn { name } if name == enforcing::NAME => Ok(Arc::new(Enforcement(means.clone()))),
            Kind::BuiltIn { name } => built_in(name, means).ok_or_else(|| {
                let names = NAMES.join(", ");
                refused(format!("there is no built-in agent {name}; there are {names}, {}", enforcing::NAME))
            }),
            Kind::Model { prompt, schema } => {
                let agent = ModelAgent::new(means.mind.clone(), prompt.clone(), schema)
                    .map_err(|why| refused(format!("its schema is none: {why}")))?;
                Ok(Arc::new(agent))
            }
            Kind::Process { command } if allows_programs => Ok(Arc::new(Program::new(launch(command)))),
            Kind::Mcp { command, tool, definition } if allows_programs => {
                Ok(Arc::new(Mcp::new(launch(command), tool.clone(), *definition)))
            }
            Kind::Process { .. } | Kind::Mcp { .. } => {
                Err(refused("it is a program, and programs are run only with --allow-programs".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_kernel::pipeline::shipped;
    use countersign_record::canonical;
    use countersign_record::digest::Digest;

    /// Whoever verifies a packet knows the pipelines that ship by their hashes.
    #[test]
    fn what_ships_is_what_verifying_knows() {
        let newest = |(name, hashes): &(&'static str, &[&'static str])| {
            (*name, hashes.last().copied().unwrap_or_default().to_owned())
        };
        let known: Vec<(&str, String)> = shipped::SHIPPED.iter().map(newest).collect();
        let own = SHIPPED.map(|(name, _)| {
            let found = find(name).unwrap_or_else(|failure| panic!("{failure:?}"));
            let bytes = canonical::to_bytes_of(&found.pipeline).unwrap();
            (name, Digest::of(&bytes).to_string())
        });
        assert_eq!(known, own);
    }

    #[test]
    fn a_pipeline_of_ones_own_has_its_own_name() {
        let (_, text) = SHIPPED[3];
        let pipeline =
            Table::read("own.toml", text, Code::RunPipeline).unwrap().into_a(Pipeline::read).unwrap();
        assert!(apart("own.toml", &pipeline).is_err());
        assert!(apart("own.toml", &Pipeline { name: "own".to_owned(), ..pipeline }).is_ok());
    }
}
