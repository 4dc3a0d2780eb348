//! What does not fit together in a criterion.
//! Owns: the rules on its members. Must not: read a file.

use super::Found;
use crate::task::{Artifact, ArtifactKind, Criterion, Outcome, Test, TestKind, micros, share};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_govern::types::basic::{ScoringBasis, UnanchoredPolicy};
use countersign_kernel::measure;
use countersign_record::json::Json;

/// The highest exit code.
const EXIT_MAX: u64 = 255;
/// Characters of a label that a person answers with, and what may stand in one besides letters, digits and spaces.
const LABEL_CHARS_MAX: usize = 64;
const LABEL_MARKS: &str = "-_.,:/()'’";

/// A text that is drafted by sections has the headings of these; who asks for another one asks for what nobody writes.
pub(super) fn headed(artifact: &Artifact, one: &Criterion, place: &str, found: &mut Found) {
    if artifact.from.is_some() || artifact.kind != ArtifactKind::Markdown {
        return;
    }
    let has = |heading: &str| {
        artifact.title.as_deref() == Some(heading)
            || artifact.sections().iter().any(|one| one.heading == heading)
    };
    let Some(test) = &one.check else { return };
    for heading in test.heading.iter().filter(|heading| !has(heading)) {
        found.add(
            &format!("{place}/heading"),
            format!("the artifact has no section with the heading {heading}"),
        );
    }
    for (at, heading) in test.headings.iter().flatten().enumerate().filter(|(_, heading)| !has(heading)) {
        let message = format!("the artifact has no section with the heading {heading}");
        found.add(&format!("{place}/headings/{at}"), message);
    }
}

/// What the criteria of an outcome weigh together, and whether what must be met counts at all.
pub(super) fn weighed(outcome: &Outcome, place: &str, found: &mut Found) {
    let is_left_out = |one: &Criterion| {
        outcome.unanchored() == UnanchoredPolicy::Exclude && one.basis == ScoringBasis::UnanchoredLlmJudgment
    };
    for (at, _) in
        outcome.criteria.iter().enumerate().filter(|(_, one)| one.is_required() && is_left_out(one))
    {
        let message = "is left out under unanchored = \"exclude\", so it can't be required";
        found.add(&format!("{place}/criteria/{at}/required"), message);
    }
    let mut counted = outcome.criteria.iter().filter(|one| !is_left_out(one)).peekable();
    let is_counted = counted.peek().is_some();
    if is_counted && !counted.any(|one| outcome.counts(one)) {
        found.add(&format!("{place}/criteria"), "weigh nothing together: give one a weight above 0");
    }
    if !is_counted && !outcome.criteria.is_empty() {
        let message = "leaves out every criterion, so nothing could ever tell whether the outcome is met: add one that something or somebody can score, or have a person asked with unanchored = \"indeterminate\"";
        found.add(&format!("{place}/unanchored"), message);
    }
}

pub(super) fn scored(one: &Criterion, place: &str, found: &mut Found) {
    found.filled(&format!("{place}/text"), &one.text);
    if one.threshold.as_ref().is_some_and(|threshold| share(threshold).is_none()) {
        found.add(&format!("{place}/threshold"), "must be from 0 to 1");
    }
    if one.weight.as_ref().is_some_and(|weight| micros(&Json::Number(weight.clone())).is_none()) {
        found.add(
            &format!("{place}/weight"),
            "must be a number that is not negative, and not too large to be counted in millionths",
        );
    }
    let wants =
        |name: &str, has: bool, wanted: bool, found: &mut Found| match (has, wanted) {
            (false, true) => found
                .add(&format!("{place}/{name}"), format!("a criterion of {} needs it", one.basis.as_str())),
            (true, false) => found
                .add(&format!("{place}/{name}"), format!("a criterion of {} has none", one.basis.as_str())),
            (true, true) | (false, false) => {}
        };
    wants("check", one.check.is_some(), one.basis == ScoringBasis::DeterministicCheck, found);
    wants("rubric", one.rubric.is_some(), one.basis == ScoringBasis::AnchoredRubric, found);
    let is_label = one.basis == ScoringBasis::HumanLabel;
    for (name, has) in
        [("question", one.question.is_some()), ("labels", one.labels.is_some()), ("pass", one.pass.is_some())]
    {
        wants(name, has, is_label, found);
    }
    if let Some(test) = &one.check {
        check(test, &format!("{place}/check"), found);
    }
    if let Some(levels) = &one.rubric {
        let ascends = levels.windows(2).all(|pair| matches!(pair, [one, other] if one.level < other.level));
        if levels.len() < 2 || !ascends || levels.first().is_none_or(|first| first.level != 0) {
            found.add(&format!("{place}/rubric"), "must be two levels or more that ascend from 0");
        }
    }
    if let (Some(labels), Some(pass)) = (&one.labels, &one.pass) {
        if labels.len() < 2 {
            found.add(&format!("{place}/labels"), "at least two are needed");
        }
        for (at, _) in labels.iter().enumerate().filter(|(_, label)| !can_be_typed(label)) {
            let message = format!(
                "must be 1 to {LABEL_CHARS_MAX} letters, digits, spaces and any of {LABEL_MARKS}, and begin with a letter or digit"
            );
            found.add(&format!("{place}/labels/{at}"), message);
        }
        if pass.is_empty() || pass.iter().any(|label| !labels.contains(label)) {
            found.add(&format!("{place}/pass"), "must be some of the labels");
        }
    }
}

/// Whether a person can type a label as an answer.
fn can_be_typed(label: &str) -> bool {
    let may_be = |one: char| one.is_alphanumeric() || one == ' ' || LABEL_MARKS.contains(one);
    label.starts_with(char::is_alphanumeric)
        && label.chars().count() <= LABEL_CHARS_MAX
        && label.chars().all(may_be)
}

/// What a check needs, and that it can be read.
fn check(test: &Test, place: &str, found: &mut Found) {
    let has: [(&str, bool); 13] = [
        ("heading", test.heading.is_some()),
        ("headings", test.headings.is_some()),
        ("words_min", test.words_min.is_some()),
        ("words_max", test.words_max.is_some()),
        ("pattern", test.pattern.is_some()),
        ("must_not", test.must_not.is_some()),
        ("any", test.any.is_some()),
        ("all", test.all.is_some()),
        ("min", test.min.is_some()),
        ("sources_min", test.sources_min.is_some()),
        ("schema", test.schema.is_some()),
        ("argv", test.argv.is_some()),
        ("exit", test.exit.is_some()),
    ];
    let (needs, may): (&[&str], &[&str]) = match test.kind {
        TestKind::Section => (&["heading"], &[]),
        TestKind::Sections => (&["headings"], &[]),
        TestKind::Length => (&[], &["words_min", "words_max"]),
        TestKind::Matches => (&["pattern"], &["must_not"]),
        TestKind::Mentions => (&[], &["any", "all"]),
        TestKind::Citations => (&[], &["min", "sources_min"]),
        TestKind::JsonSchema => (&["schema"], &[]),
        TestKind::Command => (&["argv"], &["exit"]),
    };
    if let (Some(least), Some(most)) = (test.words_min, test.words_max)
        && least > most
    {
        found
            .add(&format!("{place}/words_max"), format!("must not be less than words_min, which is {least}"));
    }
    for (name, is_there) in has {
        if !is_there && needs.contains(&name) {
            found.add(
                &format!("{place}/{name}"),
                format!("a check of the kind {} needs it", test.kind.as_str()),
            );
        }
        if is_there && !needs.contains(&name) && !may.contains(&name) {
            found.add(
                &format!("{place}/{name}"),
                format!("a check of the kind {} has none", test.kind.as_str()),
            );
        }
    }
    if needs.is_empty() && !has.iter().any(|(name, is_there)| *is_there && may.contains(name)) {
        found.add(place, format!("a check of this kind needs one of {}", may.join(", ")));
    }
    if let Some(pattern) = &test.pattern
        && let Err(why) = measure::Pattern::try_from(pattern.as_str())
    {
        found.add(&format!("{place}/pattern"), why.to_string());
    }
    if let Some(schema) = &test.schema {
        found.path(&format!("{place}/schema"), schema);
    }
    if test.argv.as_ref().is_some_and(Vec::is_empty) {
        found.add(&format!("{place}/argv"), "must name a program");
    }
    if test.exit.is_some_and(|exit| exit > EXIT_MAX) {
        found.add(&format!("{place}/exit"), format!("must be 0 to {EXIT_MAX}"));
    }
}
