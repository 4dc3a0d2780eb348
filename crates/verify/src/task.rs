//! What was asked, as far as values follow from it.
//! Owns: reading the members of a task that derivations need, with the defaults that hold where nothing is said. Must not: check a
//! task; who ran it did.

use alloc::string::String;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_kernel::measure::{Check, Pattern};
use countersign_record::json::{self, Json, Number};

/// A task.
#[derive(Clone, Copy)]
pub(crate) struct Task<'p>(pub(crate) &'p Json);

/// A work product that is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Artifact<'p>(pub(crate) &'p Json);

/// A source.
#[derive(Clone, Copy)]
pub(crate) struct Source<'p>(pub(crate) &'p Json);

/// Something that must be true of the work.
#[derive(Clone, Copy)]
pub(crate) struct Outcome<'p>(pub(crate) &'p Json);

/// A criterion of that.
#[derive(Clone, Copy)]
pub(crate) struct Criterion<'p>(&'p Json);

/// A decimal number by its digits.
pub(crate) fn decimal(digits: &str) -> Json {
    json::parse(digits.as_bytes()).unwrap_or(Json::Null)
}

/// A number from 0 to 1 in millionths.
fn share(number: &Json) -> Option<u64> {
    let Json::Number(number) = number else { return None };
    let literal = number.literal();
    let (whole, rest) = literal.split_once('.').unwrap_or((&literal, ""));
    let mut digits = String::from(rest);
    while digits.len() < 6 {
        digits.push('0');
    }
    let (whole, rest): (u64, u64) = (whole.parse().ok()?, digits.parse().ok()?);
    let micros = whole.checked_mul(WHOLE)?.checked_add(rest)?;
    (digits.len() == 6 && micros <= WHOLE).then_some(micros)
}

/// One, in millionths.
const WHOLE: u64 = 1_000_000;

impl<'p> Task<'p> {
    pub(crate) fn id(self) -> &'p str {
        self.0.text("id").unwrap_or_default()
    }

    pub(crate) fn title(self) -> &'p str {
        self.0.text("title").unwrap_or_default()
    }

    pub(crate) fn scope(self) -> Option<&'p str> {
        self.0.text("scope")
    }

    pub(crate) fn outcomes(self) -> impl Iterator<Item = Outcome<'p>> {
        self.0.list("outcomes").iter().map(Outcome)
    }

    pub(crate) fn outcome(self, id: &str) -> Option<Outcome<'p>> {
        self.outcomes().find(|one| one.id() == id)
    }

    pub(crate) fn criterion(self, id: &str) -> Option<Criterion<'p>> {
        self.outcomes().flat_map(Outcome::criteria).find(|one| one.id() == id)
    }

    /// The headings that it names anywhere but in its work products.
    pub(crate) fn headings(self) -> impl Iterator<Item = &'p str> {
        let checks = self.outcomes().flat_map(Outcome::criteria).filter_map(|one| one.0.at("check"));
        let checked = checks.flat_map(|one| one.text("heading").into_iter().chain(one.texts("headings")));
        self.outcomes().filter_map(|one| one.0.text("section")).chain(checked).chain([self.title()])
    }

    pub(crate) fn artifacts(self) -> impl Iterator<Item = Artifact<'p>> {
        self.0.list("artifacts").iter().map(Artifact)
    }

    pub(crate) fn artifact(self, id: &str) -> Option<Artifact<'p>> {
        self.artifacts().find(|one| one.id() == id)
    }

    /// The work product that an outcome is about: the one it names, else the first.
    pub(crate) fn artifact_of(self, outcome: Outcome<'p>) -> Option<Artifact<'p>> {
        match outcome.0.text("artifact") {
            Some(id) => self.artifact(id),
            None => self.artifacts().next(),
        }
    }

    /// The files of its folder that it names, besides its sources and its pipeline.
    pub(crate) fn files(self) -> impl Iterator<Item = &'p str> {
        let begun_with = self.artifacts().filter_map(|one| one.0.text("from"));
        let specs = self.artifacts().filter_map(|one| one.0.text("codespec"));
        let specs = specs.filter(|spec| !spec.starts_with("builtin:"));
        let checks = self.outcomes().flat_map(Outcome::criteria);
        let schemas = checks.filter_map(|one| one.0.text("check.schema"));
        begun_with.chain(specs).chain(schemas).chain(self.0.text("work.replies"))
    }

    pub(crate) fn sources(self) -> impl Iterator<Item = Source<'p>> {
        self.0.list("sources").iter().map(Source)
    }

    pub(crate) fn source(self, id: &str) -> Option<Source<'p>> {
        self.sources().find(|one| one.id() == id)
    }

    /// A member of the policies, by its path.
    fn policy(self, path: &str) -> Option<&'p Json> {
        self.0.at("policies").and_then(|policies| policies.at(path))
    }

    /// Whether anything is said of a policy.
    pub(crate) fn has_policy(self, path: &str) -> bool {
        self.policy(path).is_some()
    }

    /// The word of a policy, or what holds where nothing is said.
    pub(crate) fn policy_word(self, path: &str, default: &'static str) -> &'p str {
        self.policy(path).and_then(Json::as_str).unwrap_or(default)
    }

    /// The truth of a policy, or what holds where nothing is said.
    pub(crate) fn policy_flag(self, path: &str, default: bool) -> bool {
        self.0.at("policies").and_then(|policies| policies.flag(path)).unwrap_or(default)
    }

    /// The number of a policy, or what holds where nothing is said.
    pub(crate) fn policy_number(self, path: &str, default: &str) -> Json {
        self.policy(path).cloned().unwrap_or_else(|| decimal(default))
    }
}

impl<'p> Artifact<'p> {
    pub(crate) fn id(self) -> &'p str {
        self.0.text("id").unwrap_or_default()
    }

    pub(crate) fn path(self) -> Option<&'p str> {
        self.0.text("path")
    }

    /// Whether it is made of sentences, which are held against sources.
    pub(crate) fn is_prose(self) -> bool {
        self.0.is("kind", "markdown")
    }

    /// Whether it is code, which its CodeSpec holds and no source.
    pub(crate) fn is_code(self) -> bool {
        self.0.is("kind", "code")
    }

    /// The headings that are the task's own words.
    pub(crate) fn headings(self) -> impl Iterator<Item = &'p str> {
        let sections = self.0.list("sections").iter().filter_map(|one| one.text("heading"));
        sections.chain(self.0.text("title"))
    }

    fn heading(self, section: &str) -> Option<&'p str> {
        let sections = self.0.list("sections").iter();
        sections.filter(|one| one.is("id", section)).find_map(|one| one.text("heading"))
    }

    fn ask(self, section: &str) -> Option<&'p str> {
        let sections = self.0.list("sections").iter();
        sections.filter(|one| one.is("id", section)).find_map(|one| one.text("ask"))
    }
}

impl<'p> Source<'p> {
    pub(crate) fn id(self) -> &'p str {
        self.0.text("id").unwrap_or_default()
    }

    pub(crate) fn tier(self) -> u64 {
        self.0.count("tier").unwrap_or(1)
    }

    /// How secret it is; what is privileged is so at least.
    pub(crate) fn class(self) -> &'p str {
        match self.0.text("data_class").unwrap_or("internal") {
            "public" | "internal" if self.is_privileged() => "privileged",
            class => class,
        }
    }

    pub(crate) fn is_privileged(self) -> bool {
        self.0.flag("privileged").unwrap_or(false)
    }
}

impl<'p> Outcome<'p> {
    pub(crate) fn id(self) -> &'p str {
        self.0.text("id").unwrap_or_default()
    }

    pub(crate) fn criteria(self) -> impl Iterator<Item = Criterion<'p>> {
        self.0.list("criteria").iter().map(Criterion)
    }

    pub(crate) fn depends_on(self) -> Vec<&'p str> {
        self.0.texts("depends_on")
    }

    /// Whether the work must meet it.
    pub(crate) fn is_required(self) -> bool {
        self.0.flag("required").unwrap_or(true)
    }

    pub(crate) fn statement(self) -> &'p str {
        self.0.text("statement").unwrap_or_default()
    }

    /// The heading that it is about.
    pub(crate) fn heading(self, artifact: Artifact<'p>) -> Option<&'p str> {
        let section = self.0.text("section")?;
        Some(artifact.heading(section).unwrap_or(section))
    }

    /// What is asked of the sources for it.
    pub(crate) fn ask(self, artifact: Artifact<'p>) -> &'p str {
        let section = self.0.text("section").and_then(|section| artifact.ask(section));
        section.unwrap_or(self.statement())
    }

    pub(crate) fn threshold(self) -> Json {
        self.0.at("threshold").cloned().unwrap_or_else(|| decimal("0.7"))
    }

    pub(crate) fn aggregation(self) -> &'p str {
        self.0.text("aggregation").unwrap_or("all_required_then_weighted_mean")
    }

    pub(crate) fn missing(self) -> &'p str {
        self.0.text("missing").unwrap_or("fail_required")
    }

    pub(crate) fn weights(self) -> &'p str {
        self.0.text("weights").unwrap_or("from_criterion_weight")
    }

    /// Whether a criterion counts once it is scored: what weighs nothing does not.
    pub(crate) fn counts(self, criterion: Criterion<'_>) -> bool {
        let weighs = matches!(criterion.weight(), Json::Number(weight) if weight.as_f64() > 0.0);
        self.weights() != "from_criterion_weight" || weighs
    }

    pub(crate) fn unanchored(self) -> &'p str {
        self.0.text("unanchored").unwrap_or("indeterminate")
    }
}

impl<'p> Criterion<'p> {
    pub(crate) fn id(self) -> &'p str {
        self.0.text("id").unwrap_or_default()
    }

    pub(crate) fn text(self) -> &'p str {
        self.0.text("text").unwrap_or_default()
    }

    pub(crate) fn basis(self) -> &'p str {
        self.0.text("basis").unwrap_or_default()
    }

    /// Whether a judge scores it by levels.
    pub(crate) fn has_rubric(self) -> bool {
        self.0.at("rubric").is_some()
    }

    /// Whether its outcome fails without it: where nothing is said what a person is asked for is.
    pub(crate) fn is_required(self) -> bool {
        self.0.flag("required").unwrap_or(self.basis() == "human_label")
    }

    pub(crate) fn priority(self) -> &'p str {
        self.0.text("priority").unwrap_or("should_have")
    }

    pub(crate) fn weight(self) -> Json {
        self.0.at("weight").cloned().unwrap_or_else(|| Json::Number(Number::from(1_u32)))
    }

    pub(crate) fn threshold(self) -> Json {
        self.0.at("threshold").cloned().unwrap_or_else(|| decimal("0.5"))
    }

    /// What a person is asked.
    pub(crate) fn question(self) -> &'p str {
        self.0.text("question").unwrap_or(self.text())
    }

    pub(crate) fn labels(self) -> Vec<&'p str> {
        self.0.texts("labels")
    }

    /// The labels by which it is met.
    pub(crate) fn passing(self) -> Vec<&'p str> {
        self.0.texts("pass")
    }

    /// Whether so many of so many are enough: exactly, without rounding.
    pub(crate) fn is_met_by(self, met: u64, of: u64) -> bool {
        let needed = share(&self.threshold()).unwrap_or(WHOLE);
        u128::from(met) * u128::from(WHOLE) >= u128::from(needed) * u128::from(of)
    }

    /// What can be looked at again.
    pub(crate) fn test(self) -> Test<'p> {
        let Some(test) = self.0.at("check") else { return Test::Outside };
        let texts = |name: &str| test.texts(name).into_iter().map(String::from).collect::<Vec<_>>();
        match test.text("kind").unwrap_or_default() {
            "section" => {
                Test::Counted(Check::Sections(test.text("heading").map(String::from).into_iter().collect()))
            }
            "sections" => Test::Counted(Check::Sections(texts("headings"))),
            "length" => {
                Test::Counted(Check::Length { min: test.count("words_min"), max: test.count("words_max") })
            }
            "matches" => {
                let pattern = test.at("pattern").and_then(Json::as_str).unwrap_or_default();
                let is_forbidden = test.flag("must_not").unwrap_or(false);
                Pattern::try_from(pattern)
                    .map_or(Test::Outside, |pattern| Test::Counted(Check::Matches { pattern, is_forbidden }))
            }
            "mentions" => Test::Counted(Check::Mentions { any: texts("any"), all: texts("all") }),
            "citations" => Test::Counted(Check::Citations {
                min: test.count("min").unwrap_or(0),
                sources_min: test.count("sources_min").unwrap_or(0),
            }),
            "json_schema" => test.text("schema").map_or(Test::Outside, Test::Schema),
            _command => Test::Outside,
        }
    }
}

/// How a deterministic check is looked at again.
pub(crate) enum Test<'p> {
    /// By counting.
    Counted(Check),
    /// By a schema, which is a file of the task.
    Schema(&'p str),
    /// Not at all: only who saw it can tell.
    Outside,
}
