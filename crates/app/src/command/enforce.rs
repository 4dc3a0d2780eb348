//! `countersign enforce`: A5, whether a draft is what its CodeSpec asks for.
//! Owns: the files, the one question to a model, the envelope around A5's report. Must not: judge a draft.

use crate::beneath;
use crate::cli::Global;
use crate::cli::enforce::Enforce;
use crate::enforcing;
use crate::failure::{Exit, Failure};
use crate::input;
use crate::office;
use crate::output;
use crate::place;
use countersign_enforce::codespec::{self, BYTES_MAX};
use countersign_enforce::{
    CodeSpec, Contract, Input, Language, Repair, RepairRequest, Report, Status, check,
};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::envelope::{Envelope, FileRef, Provenance, Source, VERSION};
use countersign_record::fields::Trouble;
use countersign_runtime::ports::model::{Model, NoAnswer, Reply, Site};
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The turn, where nobody says which.
const FIRST_TURN: u64 = 1;

pub(super) async fn run(global: &Global, enforce: &Enforce) -> Result<Exit, Failure> {
    if let Some(language) = &enforce.print_codespec {
        let language = Language::try_from(language.as_str())
            .map_err(|needed| Failure::new(Code::UsageInvalid, format!("--print-codespec: {needed}")))?;
        return output::bytes(CodeSpec::built_in(language).as_bytes()).map(|()| Exit::Success);
    }
    let file = enforce.file.as_deref().unwrap_or("-");
    let input = Input::read(input::document(file)?).map_err(|troubles| invalid(&troubles))?;
    // Whoever can't be asked is told of before anything is checked.
    let model = enforce.model.as_deref().map(|name| model(global, name)).transpose()?;
    let contract = contract(&input)?;
    let spec = CodeSpec::read(&contract.text, input.task.language)
        .map_err(|troubles| wrong_contract(&contract, &troubles))?;
    let checked = check(&input, &spec);
    let repair = match (checked.repair_request(), &model) {
        (Some(request), Some(model)) => {
            asked(model.as_ref(), &request, Duration::from_secs(enforce.repair_seconds)).await
        }
        (Some(_), None) | (None, _) => Repair::Unavailable,
    };
    let report = checked.judge(repair);
    output::json(&handoff(global, &input, &contract, &report)?)?;
    Ok(match report.status {
        Status::Pass => Exit::Success,
        Status::Fail => Exit::Limited,
    })
}

fn invalid(troubles: &[Trouble]) -> Failure {
    let code = troubles.first().map_or(Code::FieldInvalid, |trouble| trouble.code);
    Failure::troubles(code, "the input", troubles)
}

/// The contract's text, and its file if it has one.
struct Read {
    text: String,
    path: Option<String>,
    sha256: Digest,
}

fn contract(input: &Input) -> Result<Read, Failure> {
    let (text, path) = match &input.codespec {
        Contract::Text(text) => (text.clone(), None),
        Contract::BuiltIn(language) => (CodeSpec::built_in(*language).to_owned(), None),
        Contract::Path(path) => (contract_file(path)?, Some(path.clone())),
    };
    let sha256 = Digest::of(text.as_bytes());
    match input.codespec_sha256 {
        Some(pinned) if pinned != sha256 => {
            let message = format!("the CodeSpec has the SHA-256 {sha256}");
            let path = "/codespec_sha256".to_owned();
            Err(invalid(&[Trouble { code: Code::FieldConflict, path, message }]))
        }
        Some(_) | None => Ok(Read { text, path, sha256 }),
    }
}

/// Reads a file beneath the working directory, as long as a CodeSpec may be.
fn contract_file(path: &str) -> Result<String, Failure> {
    let shown = output::plain(path);
    let bytes = beneath::read(Path::new("."), path, BYTES_MAX as u64)
        .map_err(|why| Failure::new(Code::FileUnreadable, format!("{shown}: {why}")))?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::new(Code::JsonNotUtf8, format!("{shown}: the text is not UTF-8")))
}

fn wrong_contract(contract: &Read, troubles: &[codespec::Trouble]) -> Failure {
    let name = contract.path.as_deref().map_or_else(|| "the CodeSpec".to_owned(), output::plain);
    let member = if contract.path.is_some() { "/codespec_path" } else { "/codespec" };
    let line = troubles.first().map_or(1, |trouble| trouble.line);
    let troubles: Vec<Trouble> = troubles
        .iter()
        .map(|trouble| Trouble {
            code: Code::FieldInvalid,
            path: member.to_owned(),
            message: trouble.to_string(),
        })
        .collect();
    Failure::troubles(Code::FieldInvalid, &name, &troubles).with_count("line", line as u64)
}

/// The model that repairs. One that is elsewhere would be told of the prompt without a receipt.
fn model(global: &Global, name: &str) -> Result<Arc<dyn Model>, Failure> {
    let (model, _) = office::model(global, name)?;
    match &model.about().site {
        Site::Here | Site::HereSlowly => Ok(model),
        Site::Remote(host) => {
            let message = format!(
                "--model {name} is at {host}, and a repair must not leave the machine; use a model that is here"
            );
            Err(Failure::new(Code::LeavingLocalOnly, message))
        }
    }
}

/// Asks once, for as long as it may take.
async fn asked(model: &dyn Model, request: &RepairRequest, limit: Duration) -> Repair {
    let request = enforcing::repairing(request);
    let cancel = CancellationToken::new();
    let repair = answered(model.chat(&request, &cancel), limit).await;
    cancel.cancel();
    repair
}

async fn answered(answer: impl Future<Output = Result<Reply, NoAnswer>>, limit: Duration) -> Repair {
    match tokio::time::timeout(limit, answer).await {
        Ok(Ok(reply)) => Repair::Answer(reply.text),
        Ok(Err(NoAnswer { code: Code::ModelTimeout, .. })) | Err(_) => Repair::Late,
        Ok(Err(_)) => Repair::Failed,
    }
}

/// The report as A5 made it, in its own order.
fn handoff<'a>(
    global: &Global,
    input: &Input,
    contract: &Read,
    report: &'a Report,
) -> Result<Envelope<&'a Report>, Failure> {
    let clock = place::clock(global)?;
    let timestamp = clock.now().map_err(|error| Failure::new(Code::TimeInvalid, error.to_string()))?;
    let request_id = input.request_id.clone().unwrap_or_else(|| format!("r-{}", clock.fresh("enforce")));
    let file =
        contract.path.iter().map(|path| FileRef { path: path.clone(), sha256: contract.sha256, mtime: None });
    let reason = report.reason();
    Ok(Envelope {
        agent: "A5_SchemaFormatEnforcer".to_owned(),
        goal: "enforce_contract".to_owned(),
        timestamp,
        request_id,
        turn_id: input.turn_id.unwrap_or(FIRST_TURN),
        source: Source::Internal,
        version: VERSION.to_owned(),
        escalate: reason.is_some(),
        reason: reason.map(str::to_owned),
        provenance: Provenance { files: file.collect(), ..Provenance::default() },
        payload: report,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_that_does_not_come_is_late() {
        let never = std::future::pending::<Result<Reply, NoAnswer>>();
        assert_eq!(answered(never, Duration::ZERO).await, Repair::Late);
        let no = |code| async move { Err(NoAnswer { code, message: String::new(), attempts: 1 }) };
        assert_eq!(answered(no(Code::ModelTimeout), Duration::from_secs(60)).await, Repair::Late);
        assert_eq!(answered(no(Code::ModelBusy), Duration::from_secs(60)).await, Repair::Failed);
    }
}
