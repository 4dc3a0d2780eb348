//! What our own agents hand over, held to the records that they leave and the bytes that they saw.
//! Owns: what their members must be, as far as that follows. Must not: look at what agents of somebody else hand over.

mod code;
mod took;

pub(crate) use code::held;
pub(crate) use took::{Which, complete, piece};

use crate::case::{Bytes, Case, Text, bare};
use crate::claims;
use crate::found::{Found, texts};
use crate::report::{Check, Failure, Place};
use crate::run::{Handed, Told};
use crate::score::{self, Scored};
use crate::task::{Criterion, Test, decimal};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::fold::{Fold, Folds};
use countersign_govern::member::Member;
use countersign_govern::table::outcome::{self, Verdict};
use countersign_govern::types::outcome::OutcomeEvaluationState as State;
use countersign_govern::world::Record;
use countersign_kernel::run::HARD_CALL;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};

/// Our own agents, by their names in a pipeline.
const CONTRACT: &str = "task_contract";
const PERCEPTION: &str = "perception";
const EXECUTION: &str = "execution";
pub(crate) const DRAFTER: &str = "task_draft";
pub(crate) const ENFORCER: &str = "enforcement";
const CRITIC: &str = "task_critic";
const REVISOR: &str = "task_revision";
/// Those of them that rest on no file but through records.
const OF_RECORDS: [&str; 6] = [CONTRACT, DRAFTER, ENFORCER, CRITIC, REVISOR, "task_integration"];

/// A handoff, with everything that was written before it.
struct Stood<'a, 'p> {
    case: &'a Case<'p>,
    told: &'a Told,
    handed: &'a Handed,
    check: Check,
    folds: Folds,
}

pub(crate) fn check(case: &Case<'_>, told: &Told, found: &mut Found) {
    let mut folds = Folds::default();
    let mut records = case.world.all().peekable();
    for handed in &told.handed {
        let is_before = |one: &Record<'_>| case.row(*one).is_some_and(|row| row.seq < handed.seq);
        while let Some(record) = records.next_if(is_before) {
            folds.apply(&record.into());
        }
        let Some(agent) = told.agent(handed) else {
            unknown(case, (told, handed), &folds, found);
            continue;
        };
        let check = if agent == CRITIC { Check::Critic } else { Check::Run };
        let stood = Stood { case, told, handed, check, folds: folds.clone() };
        stood.rests_on(agent, found);
        stood.asked(found);
        took::counted(told, handed, found);
        if handed.is_asking {
            stood.question(agent, found);
            continue;
        }
        match agent {
            CONTRACT => stood.contract(found),
            PERCEPTION => stood.perceived(found),
            EXECUTION => stood.searched(found),
            DRAFTER => code::drafted(&stood, found),
            ENFORCER => code::enforced(&stood, found),
            CRITIC => stood.judged(found),
            REVISOR => stood.revised(found),
            _other => {}
        }
    }
}

/// What nobody can say who handed it over is withheld with that, and what agents of somebody else did is told. Code that was found
/// not to keep its CodeSpec does not pass either way.
fn unknown(case: &Case<'_>, (told, handed): (&Told, &Handed), folds: &Folds, found: &mut Found) {
    if told.pipeline.is_some() {
        return found.told(Check::Run);
    }
    found.withheld(if handed.output_key == "critic" { Check::Critic } else { Check::Run });
    if handed.output_key == ENFORCER && !handed.is_asking {
        let stood = Stood { case, told, handed, check: Check::Run, folds: folds.clone() };
        code::enforced(&stood, found);
    }
}

impl<'a, 'p> Stood<'a, 'p> {
    /// A member of what was handed over must be this; nothing where it is `None`.
    fn must(&self, member: &str, expected: Option<Json>, found: &mut Found) {
        let stated = self.handed.payload.at(member).cloned();
        if stated == expected {
            return found.right(self.check);
        }
        let pointer = format!("/payload/{}", member.replace('.', "/"));
        found.fail(Failure {
            code: Code::VerifyDerivation,
            check: self.check,
            place: Place { row: Some(self.handed.seq), path: Some(pointer), ..Place::default() },
            expected,
            found: stated,
            message: "is not what follows from the records".to_string(),
        });
    }

    fn wrong(&self, member: &str, why: &str, found: &mut Found) {
        let path = Some(format!("/payload/{member}"));
        let place = Place { row: Some(self.handed.seq), path, ..Place::default() };
        found.wrong(Code::VerifyDerivation, self.check, place, why);
    }

    /// Where the next record would have stood.
    fn place(&self) -> u64 {
        let before = self.case.world.all().take_while(|one| self.is_before(*one));
        before.last().map_or(0, |one| one.seq() + 1)
    }

    fn is_before(&self, record: Record<'_>) -> bool {
        self.case.row(record).is_some_and(|row| row.seq < self.handed.seq)
    }

    fn says(&self, kind: &str, id: &str, member: &str) -> Option<&str> {
        self.folds.board.find(kind, id).and_then(|standing| standing.word(member))
    }

    /// The hash of a source by its path, if there is a record of it.
    fn source(&self, path: &str) -> Option<&str> {
        let mut all = self.case.until("SourceRecord", self.place());
        all.find(|one| one.json().is("domain_payload.path", path))?.json().text("domain_payload.sha256")
    }

    /// The files that something rests on are sources of the task, as they were taken in.
    fn rests_on(&self, agent: &str, found: &mut Found) {
        let rests_on = &self.handed.rests_on;
        let is_nothing =
            rests_on.files.is_empty() && rests_on.eligibility.is_empty() && rests_on.history_refs.is_empty();
        let paths: BTreeSet<&str> = self.case.task.sources().filter_map(|one| one.0.text("path")).collect();
        let is_known = rests_on.files.iter().all(|one| {
            let hash = String::from(one.sha256);
            paths.contains(one.path.as_str()) && self.source(&one.path).is_none_or(|taken| taken == hash)
        });
        let is_named = rests_on.eligibility.iter().all(|path| paths.contains(path.as_str()));
        let files: Vec<&str> = rests_on.files.iter().map(|one| one.path.as_str()).collect();
        let is_same =
            files.iter().eq(rests_on.eligibility.iter().map(String::as_str).collect::<Vec<_>>().iter());
        match (is_nothing, OF_RECORDS.contains(&agent), is_known && is_named && is_same) {
            (true, ..) | (_, false, true) => found.right(self.check),
            (false, true, _) => self.about("it rests on no file", found),
            (false, false, false) => self.about("it rests on what the sources of the task are not", found),
        }
    }

    fn about(&self, why: &str, found: &mut Found) {
        let path = Some("/blobs/0/provenance".to_string());
        let place = Place { row: Some(self.handed.seq), path, ..Place::default() };
        found.wrong(Code::VerifyDerivation, self.check, place, why);
    }

    /// A model was asked as often as the handoff says what each question took.
    fn asked(&self, found: &mut Found) {
        let Some((stated, left)) = self.handed.asked else { return found.withheld(Check::Costs) };
        let told = self.handed.payload.list("took.calls").len() as u64;
        // One more tells that no call is left, or is of a question that got no answer.
        let most = if self.handed.is_asking { u64::MAX } else { told };
        let is_so = (told.min(left)..=most).contains(&stated);
        if is_so || stated == left {
            return found.right(Check::Costs);
        }
        found.fail(Failure {
            code: Code::VerifyDerivation,
            check: Check::Costs,
            place: Place {
                row: Some(self.handed.seq),
                path: Some("/payload/llm_calls".to_string()),
                ..Place::default()
            },
            expected: Some(decimal(&told.to_string())),
            found: Some(decimal(&stated.to_string())),
            message: "is not as often as the handoff tells of questions".to_string(),
        });
    }

    /// What a person is asked is the question on record, word for word.
    fn question(&self, agent: &str, found: &mut Found) {
        if self.handed.reason.as_deref() != Some(HARD_CALL) {
            return;
        }
        let id = self.handed.payload.text("question").unwrap_or_default();
        let Some(call) = self.case.before("HardRevisionCall", id, self.place()) else {
            return self.wrong("question", "there is no such question on record", found);
        };
        let json = call.json();
        let option = |one: &Json| -> Json {
            let copy = |name: &str| one.at(name).cloned().unwrap_or(Json::Null);
            let all = [("id", "option_id"), ("label", "label"), ("consequence", "consequence_text")];
            all.into_iter().map(|(name, own)| (name, copy(own))).collect::<Object>().into()
        };
        let steps: Vec<&str> = json.list("options").iter().filter_map(|one| one.text("option_id")).collect();
        self.must("message", json.at("prompt_text").cloned(), found);
        self.must("options", Some(Json::Array(json.list("options").iter().map(option).collect())), found);
        self.must("next_steps", Some(texts(&steps)), found);
        if agent == CRITIC {
            self.seen(found);
        }
    }

    /// What is agreed to is the contract that stands last.
    fn contract(&self, found: &mut Found) {
        let Some(last) = self.case.last("EvaluationContractReview", self.place()) else {
            return self.wrong("contract", "there is no contract on record", found);
        };
        let status = self.says("evaluation_contract_review", last.id(), "approval_status");
        self.must("contract", Some(last.id().into()), found);
        self.must("approval", status.map(Json::from), found);
        // What only quotes is asked nothing, and costs nothing.
        let is_quoting = self.handed.payload.flag("is_quoting");
        let planned = |one: &Record<'_>| one.id().starts_with(&self.case.own("planned.draft."));
        let mut planned = self.case.until("CostVector", self.place()).filter(planned).peekable();
        if planned.peek().is_some() {
            let is_free = planned
                .all(|one| one.json().members("components").is_some_and(|all| all.iter().next().is_none()));
            self.must("is_quoting", Some(is_free.into()), found);
        } else if is_quoting.is_none() {
            self.wrong("is_quoting", "it does not say whether the model only quotes", found);
        }
    }

    /// The files that may be used are sources of the task, as they were taken in, and what it rests on.
    fn perceived(&self, found: &mut Found) {
        let asked = self.case.task.0.text("goal").unwrap_or_default();
        let words: Vec<&str> = asked.split_whitespace().collect();
        if self.handed.payload.at("context").is_some() {
            self.must("normalized_input", Some(words.join(" ").into()), found);
        }
        let stated: Vec<(Option<&str>, Option<&str>)> = self
            .handed
            .payload
            .list("eligible_files")
            .iter()
            .map(|one| (one.text("path"), one.text("sha256")))
            .collect();
        let hashes: Vec<(String, String)> = self
            .handed
            .rests_on
            .files
            .iter()
            .map(|one| (one.path.clone(), String::from(one.sha256)))
            .collect();
        let expected: Vec<(Option<&str>, Option<&str>)> =
            hashes.iter().map(|(path, hash)| (Some(path.as_str()), Some(hash.as_str()))).collect();
        match stated == expected {
            true => found.right(self.check),
            false => self.wrong("eligible_files", "they are not the files that it rests on", found),
        }
    }

    /// What was found for the questions stands in the sources, where it is said to stand.
    fn searched(&self, found: &mut Found) {
        self.went(found);
        for member in ["evidence", "closest"] {
            self.found_there(member, found);
        }
    }

    /// How a search went is what its steps say.
    fn went(&self, found: &mut Found) {
        let steps = self.handed.payload.list("results");
        let has_quotes = steps.iter().any(|step| step.count("result.quotes").is_some_and(|many| many > 0));
        let is_whole = steps.iter().all(|step| step.list("result.unanswered").is_empty());
        let status = match (has_quotes, is_whole) {
            (true, true) => "success",
            (true, false) => "partial",
            (false, _) => "error",
        };
        self.must("status", Some(status.into()), found);
    }

    fn found_there(&self, member: &str, found: &mut Found) {
        for (at, one) in self.handed.payload.list(member).iter().enumerate() {
            let path = one.text("path").unwrap_or_default();
            let source = self.case.task.sources().find(|source| source.0.text("path") == Some(path));
            let text = source
                .map(|source| claims::source_text(self.case, &self.case.own(source.id()), self.place()));
            let text = match text {
                Some(Text::Here(text)) => text,
                Some(Text::Withheld) => {
                    found.withheld(self.check);
                    continue;
                }
                // What was only looked up is kept nowhere.
                Some(Text::Missing) if source.is_some_and(|source| source.tier() == 0) => continue,
                Some(Text::Missing) | None => {
                    self.wrong(&format!("{member}/{at}/path"), "it is of no source of the task", found);
                    continue;
                }
            };
            match stands(one, text) {
                true => found.right(self.check),
                false => {
                    self.wrong(&format!("{member}/{at}"), "it does not stand there in the source", found)
                }
            }
        }
    }

    /// What the critic says follows from the looks before it: how each outcome stands, and whether anything is to be mended.
    fn judged(&self, found: &mut Found) {
        let state = |id: &str| self.says("outcome_record", &self.case.own(id), "state").unwrap_or("pending");
        let states: Vec<(&str, &str)> =
            self.case.task.outcomes().map(|one| (one.id(), state(one.id()))).collect();
        let is_to_mend = states.iter().any(|(_, state)| matches!(*state, "needs_revision" | "regressed"));
        let stand = |(id, state): &(&str, &str)| -> Json {
            Object::from([("outcome", Json::from(*id)), ("state", (*state).into())]).into()
        };
        let open: Vec<&str> =
            states.iter().filter(|(_, state)| !is_settled(state)).map(|(id, _)| *id).collect();
        let feedback = if open.is_empty() { String::new() } else { format!("not met: {}", open.join(", ")) };
        self.must("verdict", Some("approved".into()), found);
        self.must("route", Some(if is_to_mend { "revision" } else { "hand_over" }.into()), found);
        self.must("outcomes", Some(Json::Array(states.iter().map(stand).collect())), found);
        self.must("feedback", Some(feedback.into()), found);
        self.must("confidence", Some(decimal(if open.is_empty() { "1" } else { "0" })), found);
        if let Some(goals) = &self.handed.goals {
            let none: [&str; 0] = [];
            let (reached, left) =
                if open.is_empty() { (texts(goals), texts(&none)) } else { (texts(&none), texts(goals)) };
            self.must("satisfied_goals", Some(reached), found);
            self.must("unsatisfied_goals", Some(left), found);
        }
        self.seen(found);
    }

    /// What was seen is of criteria of the task that look at what only the outside can tell.
    fn seen(&self, found: &mut Found) {
        for member in ["found", "levels", "unseen"] {
            let named = self.handed.payload.members(member).into_iter().flat_map(Object::iter);
            let unknown = named.map(|(id, _)| id).find(|id| self.case.task.criterion(id).is_none());
            match unknown {
                None => found.right(self.check),
                Some(id) => self.wrong(&format!("{member}/{id}"), "the task has no such criterion", found),
            }
        }
        for (id, one) in self.handed.payload.members("found").into_iter().flat_map(Object::iter) {
            let (met, of) = (one.count("met"), one.count("of"));
            let missing = one.at("missing").and_then(Json::as_array);
            let is_whole = missing.is_some_and(|missing| missing.is_empty() == (met == of));
            if !is_whole || met > of {
                self.wrong(
                    &format!("found/{id}"),
                    "what is met and what is missing do not go together",
                    found,
                );
            }
            self.in_form(id, one, found);
        }
    }

    /// Whether a document has the form of its schema everybody can look at.
    fn in_form(&self, id: &str, one: &Json, found: &mut Found) {
        let task = self.case.task;
        let outcome = task.outcomes().find(|one| one.criteria().any(|own| own.id() == id));
        let criterion = outcome.and_then(|one| one.criteria().find(|own| own.id() == id));
        let Some(Test::Schema(path)) = criterion.map(Criterion::test) else { return };
        let artifact = outcome.and_then(|one| task.artifact_of(one));
        let head =
            artifact.and_then(|one| claims::current(self.case, &self.case.own(one.id()), self.place()));
        let text = head.map_or(Text::Missing, |head| self.case.content(head).text());
        let schema = self.case.files.get(path).map_or(Bytes::Missing, |digest| self.case.bytes(digest));
        let (Bytes::Here(schema), Text::Here(text)) = (schema, text) else {
            return found.withheld(self.check);
        };
        if let Scored::Value { met, of, .. } = score::fits(schema, text) {
            let is_so = (one.count("met"), one.count("of")) == (Some(met), Some(of));
            match is_so {
                true => found.right(self.check),
                false => self.wrong(&format!("found/{id}"), "the work and its schema say otherwise", found),
            }
        }
    }

    /// What was made is what became the work meanwhile.
    fn revised(&self, found: &mut Found) {
        let during = self.case.world.of("ArtifactVersionTransitionEvent").filter(|one| {
            self.is_before(*one) && self.case.row(*one).is_some_and(|row| row.seq > self.handed.called)
        });
        let made = during.filter(|one| one.json().is("to_state", "accepted_head")).filter_map(|one| {
            let version = one.json().text("artifact_version_ref").map(bare)?;
            let (artifact, number) = version.rsplit_once(".v")?;
            Some(Json::from(Object::from([
                ("artifact", Json::from(self.case.local(artifact))),
                ("version", decimal(number)),
                ("accepted", true.into()),
            ])))
        });
        self.must("made", Some(Json::Array(made.collect())), found);
    }
}

/// Whether a piece of evidence stands in a text: its bytes, its lines, and how it is cited.
fn stands(one: &Json, text: &str) -> bool {
    let number = |name: &str| one.count(name).and_then(|count| usize::try_from(count).ok());
    let (Some(start), Some(end)) = (number("start"), number("end")) else { return false };
    let Some(before) = text.get(..start) else { return false };
    let line = |text: &str| text.matches('\n').count() + 1;
    let lines = (line(before), text.get(..end).map(line));
    let (first, last) = (number("first_line"), number("last_line"));
    let path = one.text("path").unwrap_or_default();
    let place = match (first, last) {
        (Some(first), Some(last)) if first == last => format!("{path}:{first}"),
        (Some(first), Some(last)) => format!("{path}:{first}-{last}"),
        _unsaid => return false,
    };
    text.get(start..end) == one.text("content")
        && (first, last) == (Some(lines.0), lines.1)
        && one.is("location", &place)
}

/// Whether an outcome has come to a good end.
fn is_settled(state: &str) -> bool {
    let entry = State::find(state).map(outcome::entry);
    entry.is_some_and(|one| matches!(one.verdict, Some(Verdict::Passed | Verdict::NotApplicable)))
}
