//! What each criterion came to, counted again.
//! Owns: the counts. Must not: put them together.

use crate::case::{Bytes, Text};
use crate::claims::Claimed;
use crate::task::{Artifact, Criterion, Outcome, Test};
use crate::walk::Walk;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_govern::world::Record;
use countersign_kernel::measure::{Measured, measure};
use countersign_record::json::{self, Json};

/// What a criterion came to.
#[derive(Clone, Debug)]
pub(crate) enum Scored {
    /// So many of so many.
    Value {
        met: u64,
        of: u64,
        /// What is missing, for people.
        missing: Vec<String>,
        /// Claims that are not supported, where it is about claims.
        claims: Vec<Claimed>,
    },
    /// Nobody can say yet.
    Nothing(Lacks),
    /// It does not count.
    Excluded,
}

/// Why nobody can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lacks {
    /// A person has not said.
    Label,
    /// There is no judge.
    Judge,
    /// What would look at it is not there, or failed.
    Tool,
    /// Nothing is claimed.
    Information,
    /// A judgment without an anchor was not agreed to.
    Anchor,
    /// Sources say different things.
    Choice,
}

impl Lacks {
    /// Why a verdict is open.
    pub(crate) fn cause(self) -> &'static str {
        match self {
            Lacks::Label | Lacks::Anchor | Lacks::Choice | Lacks::Judge | Lacks::Tool => {
                "human_judgment_required"
            }
            Lacks::Information => "missing_information",
        }
    }

    /// Where an outcome stands then.
    pub(crate) fn state(self) -> &'static str {
        match self {
            Lacks::Label | Lacks::Anchor | Lacks::Choice | Lacks::Judge | Lacks::Tool => {
                "needs_human_judgment"
            }
            Lacks::Information => "needs_information",
        }
    }

    /// How a result is limited by it.
    pub(crate) fn limitation(self) -> &'static str {
        match self {
            Lacks::Label | Lacks::Anchor | Lacks::Choice => "human_judgment_needed",
            Lacks::Judge | Lacks::Tool => "missing_capability",
            Lacks::Information => "insufficient_evidence",
        }
    }
}

/// What is looked at.
pub(crate) struct Subject<'a, 'c> {
    pub(crate) outcome: Outcome<'c>,
    pub(crate) artifact: Artifact<'c>,
    pub(crate) version: Record<'c>,
    pub(crate) claims: &'a [Claimed],
    /// The look.
    pub(crate) at: Record<'c>,
}

/// A count.
fn counted(measured: Measured) -> Scored {
    let Measured { met, of, missing } = measured;
    Scored::Value { met, of, missing, claims: Vec::new() }
}

/// What a criterion came to; nothing where the bytes for that are withheld.
pub(crate) fn score(
    walk: &Walk<'_, '_>,
    subject: &Subject<'_, '_>,
    criterion: Criterion<'_>,
) -> Option<Scored> {
    let scored = match criterion.basis() {
        "deterministic_check" => checked(walk, subject, criterion),
        "source_grounded" => Some(grounded(subject)),
        "anchored_rubric" => rated(walk, subject, criterion),
        "human_label" => Some(labelled(walk, subject, criterion)),
        _unanchored => {
            let said = label(walk, subject.version, subject.at.seq(), criterion);
            match (said, subject.outcome.unanchored()) {
                (_, "exclude") => Some(Scored::Excluded),
                (Some(said), _) => Some(worded(said == "yes", said)),
                (None, "include_with_audit_flag") => rated(walk, subject, criterion),
                (None, _indeterminate) => Some(Scored::Nothing(Lacks::Anchor)),
            }
        }
    };
    // Where nobody could look, what a person said counts.
    let said = || label(walk, subject.version, subject.at.seq(), criterion);
    match scored {
        Some(Scored::Nothing(lacks @ (Lacks::Judge | Lacks::Tool))) => {
            Some(said().map_or(Scored::Nothing(lacks), |said| worded(said == "yes", said)))
        }
        scored => scored,
    }
}

/// Why nobody could look at a criterion, as whoever looked before a record was written told it.
pub(crate) fn why<'w>(walk: &'w Walk<'_, '_>, at: Record<'_>, criterion: Criterion<'_>) -> Option<&'w str> {
    let row = walk.case.row(at).map_or(0, |row| row.seq);
    let said = |payload: &'w Json| payload.at("unseen")?.get(criterion.id())?.as_str();
    let critics = || walk.told.handed.iter().filter(|one| one.output_key == "critic");
    let after = critics().filter(|one| one.seq >= row).find_map(|one| said(&one.payload));
    after.or_else(|| critics().filter(|one| one.seq < row).filter_map(|one| said(&one.payload)).next_back())
}

fn checked(walk: &Walk<'_, '_>, subject: &Subject<'_, '_>, criterion: Criterion<'_>) -> Option<Scored> {
    let text = match walk.case.content(subject.version).text() {
        Text::Here(text) => text,
        Text::Withheld => return None,
        Text::Missing => return Some(Scored::Nothing(Lacks::Tool)),
    };
    match criterion.test() {
        Test::Counted(check) => {
            Some(counted(measure(&check, text, subject.outcome.heading(subject.artifact))))
        }
        Test::Schema(path) => {
            let bytes = walk.case.files.get(path).map_or(Bytes::Missing, |digest| walk.case.bytes(digest));
            match bytes {
                Bytes::Here(schema) => Some(fits(schema, text)),
                Bytes::Withheld => None,
                Bytes::Missing => Some(Scored::Nothing(Lacks::Tool)),
            }
        }
        Test::Outside => seen(walk, subject, criterion),
    }
}

/// Whether a document fits a schema of draft 2020-12.
pub(crate) fn fits(schema: &[u8], text: &str) -> Scored {
    let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).ok();
    let schema = value(schema).and_then(|schema| jsonschema::draft202012::new(&schema).ok());
    let Some(schema) = schema else { return Scored::Nothing(Lacks::Tool) };
    let wrong = match json::parse(text.as_bytes()) {
        Err(error) => Some(error.without_text()),
        Ok(_) => value(text.as_bytes()).and_then(|document| {
            let error = schema.validate(&document).err()?;
            let (place, rule) = (error.instance_path().to_string(), error.schema_path().to_string());
            Some(format!("at {place:?}: the schema's {rule} does not hold"))
        }),
    };
    let met = u64::from(wrong.is_none());
    Scored::Value { met, of: 1, missing: wrong.into_iter().collect(), claims: Vec::new() }
}

/// What only who looked can tell of a criterion, as the handover of that look has it; nothing where that says why nothing was seen.
fn handed<'w>(
    walk: &'w Walk<'_, '_>,
    subject: &Subject<'_, '_>,
    criterion: Criterion<'_>,
    member: &str,
) -> Option<&'w Json> {
    let row = walk.case.row(subject.at).map_or(0, |row| row.seq);
    let of = |payload: &'w Json, member: &str| payload.at(member)?.get(criterion.id());
    let said =
        |payload: &'w Json| of(payload, member).map(Some).or_else(|| of(payload, "unseen").map(|_| None));
    let critics = || walk.told.handed.iter().filter(|one| one.output_key == "critic");
    let after = critics().filter(|one| one.seq >= row).find_map(|one| said(&one.payload));
    after
        .or_else(|| critics().filter(|one| one.seq < row).filter_map(|one| said(&one.payload)).next_back())
        .flatten()
}

/// What nobody saw, unless what was seen is withheld.
fn unseen(walk: &Walk<'_, '_>, lacks: Lacks) -> Option<Scored> {
    (!walk.told.is_partial).then_some(Scored::Nothing(lacks))
}

/// What was found of what was wanted.
fn seen(walk: &Walk<'_, '_>, subject: &Subject<'_, '_>, criterion: Criterion<'_>) -> Option<Scored> {
    let said = handed(walk, subject, criterion, "found").and_then(|one| {
        let missing: Vec<String> = one.texts("missing").into_iter().map(ToString::to_string).collect();
        Some((one.count("met")?, one.count("of")?, missing))
    });
    match said {
        Some((met, of, missing)) => Some(Scored::Value { met, of, missing, claims: Vec::new() }),
        None => unseen(walk, Lacks::Tool),
    }
}

/// The level that a judge gave, of the highest one.
fn rated(walk: &Walk<'_, '_>, subject: &Subject<'_, '_>, criterion: Criterion<'_>) -> Option<Scored> {
    let number = |value: &Json| if let Json::Number(number) = value { number.as_u64() } else { None };
    let said = handed(walk, subject, criterion, "levels").and_then(|one| match one.as_array()? {
        [level, of] => Some((number(level)?, number(of)?)),
        _other => None,
    });
    let Some((level, of)) = said else { return unseen(walk, Lacks::Judge) };
    let missing = if level < of { Vec::from([format!("level {of} (it is at {level})")]) } else { Vec::new() };
    Some(Scored::Value { met: level.min(of), of: of.max(1), missing, claims: Vec::new() })
}

/// The share of claims that sources support.
fn grounded(subject: &Subject<'_, '_>) -> Scored {
    let heading = subject.outcome.heading(subject.artifact);
    let held = subject.claims.iter().filter(|one| one.status != "not_checked");
    let own: Vec<&Claimed> =
        held.filter(|one| heading.is_none() || one.section.as_deref() == heading).collect();
    if own.is_empty() {
        return Scored::Nothing(Lacks::Information);
    }
    let claims: Vec<Claimed> =
        own.iter().filter(|one| one.status != "supported").map(|one| (*one).clone()).collect();
    let missing = claims.iter().map(|one| format!("support for {}", one.claim_ref)).collect();
    Scored::Value { met: (own.len() - claims.len()) as u64, of: own.len() as u64, missing, claims }
}

/// The label that a person gave a version by a criterion, before a place.
pub(crate) fn label<'c>(
    walk: &Walk<'c, '_>,
    version: Record<'_>,
    place: u64,
    criterion: Criterion<'_>,
) -> Option<&'c str> {
    let about = format!("criterion:{}", walk.case.own(criterion.id()));
    let said = walk.case.until("HumanFeedbackEvent", place);
    let last = said.filter(|one| one.json().is("subject_ref", &about)).last();
    last.filter(|one| one.seq() > version.seq()).and_then(|one| one.json().text("label"))
}

/// What a person said of this version.
fn labelled(walk: &Walk<'_, '_>, subject: &Subject<'_, '_>, criterion: Criterion<'_>) -> Scored {
    let label = label(walk, subject.version, subject.at.seq(), criterion);
    let Some(label) = label else { return Scored::Nothing(Lacks::Label) };
    worded(criterion.passing().contains(&label), label)
}

/// A person's word as a count.
fn worded(is_pass: bool, label: &str) -> Scored {
    let missing = if is_pass { Vec::new() } else { Vec::from([format!("a person said: {label}")]) };
    Scored::Value { met: u64::from(is_pass), of: 1, missing, claims: Vec::new() }
}
