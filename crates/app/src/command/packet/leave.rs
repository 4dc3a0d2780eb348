//! Whether a packet may leave, and that it did.
//! Owns: asking the task's policy before, and the command whose records say what left. Must not: write a file.

use super::super::governed::Governed;
use super::{Failure, whole};
use crate::cli::Global;
use crate::output;
use countersign_govern::member::Member;
use countersign_govern::types::externalization::WorkspaceExternalizationKind as Kind;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::RunId;
use countersign_record::json::{Json, Object};
use countersign_verify::packet::{Content, Statement};
use countersign_work::desk::reference;
use countersign_work::outside::{self, Going, Held};
use std::path::Path;

/// The command that puts down what leaves.
const COMMAND: &str = "evidence.export_package";
/// The rows that name the texts of sources.
const SOURCE: &str = "govern.source_record";

/// A packet that is to leave.
pub(super) struct Leaving<'a> {
    pub(super) run: &'a RunId,
    /// The sources whose texts are in it, as the task calls them.
    pub(super) sources: Vec<String>,
    /// Whether whoever exports it says that it may.
    pub(super) is_confirmed: bool,
}

impl<'a> Leaving<'a> {
    pub(super) fn new(run: &'a RunId, statement: &Statement, is_confirmed: bool) -> Self {
        let is_there = |digest: &Digest| {
            let blob = statement.blobs.iter().find(|blob| blob.digest == *digest);
            blob.is_some_and(|blob| matches!(blob.content, Content::Present(_)))
        };
        let own = format!("{run}.");
        let mut sources: Vec<String> = Vec::new();
        for row in statement.ledger.rows.iter().filter_map(whole).filter(|row| row.kind.as_str() == SOURCE) {
            let id = row.payload.at("record.source_id").and_then(Json::as_str);
            let id = id.map(|id| id.strip_prefix(&own).unwrap_or(id).to_owned());
            let goes = row.blobs.iter().any(|blob| is_there(&blob.digest));
            sources.extend(id.filter(|id| goes && !sources.contains(id)));
        }
        Leaving { run, sources, is_confirmed }
    }

    /// Whether it may leave to a file. Nothing is on record yet.
    pub(super) async fn may(&self, global: &Global, path: &Path) -> Result<(), Failure> {
        if std::fs::symlink_metadata(path).is_ok() {
            let shown = output::plain(&path.display().to_string());
            let message = format!("{shown}: it is there already; name a file that is not");
            return Err(Failure::new(Code::FileUnreadable, message));
        }
        let governed = Governed::open(global, self.run.as_str()).await?;
        let destination = reference("File", &path.to_string_lossy()).ok();
        let going = Going { kind: Kind::ExportBundle, sources: Some(&self.sources), destination };
        match governed.work.look(|desk| outside::may(desk, &going)) {
            Some(Err(Held::Never(_))) => {
                Err(Failure::new(Code::RunDenied, "the task's policy says that it is never exported"))
            }
            Some(Err(Held::Unconfirmed)) if !self.is_confirmed => {
                let message =
                    "the task's policy asks a person before anything leaves; --yes says that you let it";
                Err(Failure::new(Code::RunDenied, message))
            }
            Some(Err(held @ (Held::Class { .. } | Held::Unknown(_) | Held::Kept))) => {
                Err(Failure::new(Code::RunDenied, held.to_string()))
            }
            Some(Ok(_) | Err(Held::Unconfirmed)) | None => Ok(()),
        }
    }

    /// Lets it leave to a file: that it is about to is on record before, and what became of it after. Gives the receipt's name.
    pub(super) async fn out(
        &self,
        global: &Global,
        path: &Path,
        writes: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<String, Failure> {
        let sources = self.sources.iter().map(|id| Json::from(id.as_str())).collect();
        let request = Object::from([
            ("destination", Json::from(path.to_string_lossy().into_owned())),
            ("sources", Json::Array(sources)),
            ("confirmed", Json::Bool(self.is_confirmed)),
        ]);
        let governed = Governed::open(global, self.run.as_str()).await?;
        let ruled = governed.give_out(global, (COMMAND, &request.into()), None, |_, _| writes()).await?;
        ruled.accepted()?;
        Ok(ruled.ruling.receipt.receipt_id.clone())
    }
}
