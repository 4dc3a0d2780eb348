//! Tools that keep to the files of their matter.
//! Owns: asking whose root it is before each call. Must not: know what a tool does.

use countersign_kernel::gate::Permitted;
use countersign_record::code::Code;
use countersign_record::json::Object;
use countersign_record::tool::{Definition, Effect};
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::tool::{Done, NotDone, Plan, Tool};
use countersign_store::roots::Claims;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A tool of files, that works beneath a root which others may name too.
pub(crate) struct Claimed {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) claims: Claims,
    pub(crate) root: PathBuf,
}

impl Tool for Claimed {
    fn definition(&self) -> &Definition {
        self.tool.definition()
    }

    fn plan(&self, args: &Object) -> Result<Plan, NotDone> {
        self.tool.plan(args)
    }

    fn run<'a>(
        &'a self,
        call: Permitted,
        cancel: &'a CancellationToken,
    ) -> Answer<'a, Result<Done, NotDone>> {
        Box::pin(async move {
            self.is_ours().await?;
            let done = self.tool.run(call, cancel).await;
            // Another may have begun to write while this one read.
            self.is_ours().await?;
            done
        })
    }
}

impl Claimed {
    /// Whether no other matter writes beneath the root; who writes claims it.
    async fn is_ours(&self) -> Result<(), NotDone> {
        let (claims, root) = (self.claims.clone(), self.root.clone());
        let effect = self.tool.definition().effect;
        let looked = tokio::task::spawn_blocking(move || match effect {
            Effect::None => claims.other(&root),
            Effect::Reversible | Effect::Irreversible | Effect::Idempotent => claims.claim(&root),
        });
        let refused = |why: String| Err(NotDone::new(Code::ToolRoot, why));
        match looked.await.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(None) => Ok(()),
            Ok(Some(other)) => refused(format!("sessions of the matter {other} write beneath this root")),
            Err(error) => refused(format!("whose root this is can't be found out: {error}")),
        }
    }
}
