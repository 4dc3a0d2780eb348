//! Which places a claim had better cite.
//! Owns: finding the places that say it whatever it cites, and citing others in a sentence. Must not: say that a claim is supported;
//! whoever holds it against what it cites then does.

use super::bearing::{Bearing, Source, Strength, bearings};
use super::{Cite, Claim, bare, cite};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The places of some sources that say what a claim says, whatever it cites: by source, in the order of its text.
#[must_use]
pub fn saying(claim: &Claim<'_>, sources: &[&Source<'_>]) -> Vec<Bearing> {
    let uncited = Claim { cites: Vec::new(), ..claim.clone() };
    let found = bearings(&uncited, sources).into_iter();
    found.filter(|one| one.strength == Strength::Direct && named(sources, one).is_some()).collect()
}

/// The places that a claim had better cite, as many as are wanted: first those that it cites, then those of sources that count, then
/// others. None for one that cites nothing, that cites just these, or that no source says.
#[must_use]
pub fn better(
    claim: &Claim<'_>,
    sources: &[&Source<'_>],
    wanted: usize,
    counts: impl Fn(usize) -> bool,
) -> Vec<Bearing> {
    if claim.cites.is_empty() {
        return Vec::new();
    }
    let is_on = |cite: &Cite<'_>, one: &Bearing| {
        sources.get(one.source).is_some_and(|source| source.path == cite.path)
            && one.first <= cite.last
            && one.last >= cite.first
    };
    let is_cited = |one: &Bearing| claim.cites.iter().any(|cite| is_on(cite, one));
    let mut found = saying(claim, sources);
    let is_right = claim.cites.iter().all(|cite| found.iter().any(|one| is_on(cite, one)));
    let cited = found.iter().filter(|one| is_cited(one)).count();
    // What it cites is right, and there is no more to cite.
    if is_right && (cited >= wanted || cited == found.len()) {
        return Vec::new();
    }
    found.sort_by_key(|one| (!is_cited(one), !counts(one.source), one.source, one.span.start));
    found.truncate(wanted.max(1));
    found.sort_by_key(|one| (one.source, one.span.start));
    found
}

/// A place as a citation names it; nothing if none can.
fn named<'t>(sources: &[&Source<'t>], one: &Bearing) -> Option<Cite<'t>> {
    let path = sources.get(one.source)?.path;
    let own = Cite { path, first: one.first, last: one.last };
    (cite(&written(&own)) == Some(own)).then_some(own)
}

/// Places as citations.
#[must_use]
pub fn cites<'t>(sources: &[&Source<'t>], places: &[Bearing]) -> Vec<Cite<'t>> {
    places.iter().filter_map(|one| named(sources, one)).collect()
}

fn written(cite: &Cite<'_>) -> String {
    match cite.first == cite.last {
        true => format!("{}:{}", cite.path, cite.first),
        false => format!("{}:{}-{}", cite.path, cite.first, cite.last),
    }
}

/// A sentence that cites something, with other citations where its first one stands and none of its own: its words stay as they are.
#[must_use]
pub fn recited(sentence: &str, cites: &[Cite<'_>]) -> String {
    let all: Vec<String> = cites.iter().map(|one| format!("[{}]", written(one))).collect();
    let (mut said, mut rest, mut is_done) = (String::new(), sentence, false);
    while let Some((before, after)) = rest.split_once('[') {
        match after.split_once(']').filter(|(inside, _)| cite(inside).is_some()) {
            Some((_, behind)) => {
                said.push_str(if is_done { before.trim_end() } else { before });
                if !is_done {
                    said.push_str(&all.join(" "));
                }
                (is_done, rest) = (true, behind);
            }
            None => {
                said.push_str(before);
                said.push('[');
                rest = after;
            }
        }
    }
    said.push_str(rest);
    debug_assert!(bare(&said).0 == bare(sentence).0, "the words stay");
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{claims, outline};

    const A: &str = "# A\n\nCats sleep.\n\nThe rent is 900 euros a month.\n";
    const B: &str = "The rent is 900 euros a month.\nDogs bark.\n";

    fn check(text: &str, wanted: usize, expected: &[&str]) {
        let outline = outline(text);
        let all = claims(&outline);
        let sources = [Source::new("a.md", A), Source::new("b.md", B)];
        let sources = sources.each_ref();
        let places = better(&all[0], &sources, wanted, |_| true);
        let found: Vec<String> = cites(&sources, &places).iter().map(written).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_claim_had_better_cite_what_says_it() {
        check("The rent is 900 euros a month. [a.md:3]", 1, &["a.md:5"]);
        check("The rent is 900 euros a month. [c.md:3]", 2, &["a.md:5", "b.md:1"]);
        check("The rent is 900 euros a month. [b.md:1] [a.md:3]", 1, &["b.md:1"]);
        check("The rent is 900 euros a month. [b.md:1]", 1, &[]);
        check("The rent is 900 euros a month. [b.md:1]", 2, &["a.md:5", "b.md:1"]);
        check("The rent is 900 euros a month. [a.md:5] [b.md:1]", 3, &[]);
        check("The rent is 900 euros a month.", 2, &[]);
        check("The rent is 800 euros a month. [a.md:3]", 1, &[]);
    }

    #[test]
    fn a_source_that_counts_goes_first() {
        let outline = outline("The rent is 900 euros a month. [a.md:3]");
        let sources = [Source::new("a.md", A), Source::new("b.md", B)];
        let places = better(&claims(&outline)[0], &sources.each_ref(), 1, |source| source == 1);
        assert_eq!(places.iter().map(|one| one.source).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn words_stay_where_citations_change() {
        let cites = [Cite { path: "a.md", first: 5, last: 5 }, Cite { path: "b.md", first: 1, last: 2 }];
        let check = |before: &str, after: &str| assert_eq!(recited(before, &cites), after);
        check("It is. [x.md:1]", "It is. [a.md:5] [b.md:1-2]");
        check("- It [sic] is [x.md:1] so [y.md:2].", "- It [sic] is [a.md:5] [b.md:1-2] so.");
        check("It is. [x.md:1]\n[y.md:2]", "It is. [a.md:5] [b.md:1-2]");
    }
}
