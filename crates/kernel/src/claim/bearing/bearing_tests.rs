//! Places that bear on claims, and what stands round them.

use super::*;
use crate::claim::{claims, outline};

const LEASE: &str = "# Lease\n\nThe lease of the harbour ends on 31 May 2027.\nThe tenant may give notice of six months to the landlord.\n\nThe rent is 900 euros a month.\n\nThe rent is due and is paid.\n";
const LETTER: &str = "The tenant may give notice of three months to the landlord.\n";

fn check(text: &str, expected: &[(usize, u64, Strength)]) {
    let outline = outline(text);
    let all = claims(&outline);
    let sources = [Source::new("lease.md", LEASE), Source::new("letter.md", LETTER)];
    let found: Vec<(usize, u64, Strength)> = bearings(&all[0], &sources.each_ref())
        .iter()
        .map(|one| (one.source, one.first, one.strength))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn what_bears_on_a_claim() {
    use Strength::{Contextual, Contradicts, Direct};
    check("The lease of the harbour ends on 31 May 2027.", &[(0, 3, Direct)]);
    check("The lease of the harbour ends on 31 May 2027. [lease.md:3]", &[(0, 3, Direct)]);
    check("The lease of the harbour ends on 31 May 2027. [lease.md:6]", &[]);
    check("The rent of the harbour is high. [lease.md:6]", &[(0, 6, Contextual)]);
    check(
        "The tenant may give notice of six months to the landlord. [lease.md:4]",
        &[(0, 4, Direct), (1, 1, Contradicts)],
    );
    check(
        "The tenant may give notice of three months to the landlord.",
        &[(0, 4, Contradicts), (1, 1, Direct)],
    );
    check("The landlord pays for the roof.", &[]);
    check("The rent is due.", &[(0, 8, Contextual)]);
    check("The rent is 900 euros a month. [lease.md:6] [nothere.md:4]", &[(0, 6, Contextual)]);
    check("The rent is 900 euros a month. [lease.md:6] [letter.md:9]", &[(0, 6, Contextual)]);
    check("The rent is 900 euros a month. [lease.md:6] [lease.md:3]", &[(0, 6, Contextual)]);
}

/// How a claim is held in a text of a source: the best of what bears on it.
fn held(source: &str, draft: &str, claim: &str) -> Option<Strength> {
    let outline = outline(draft);
    let all = claims(&outline);
    let claim = all.iter().find(|one| one.text == claim).unwrap_or_else(|| panic!("{claim}: {all:?}"));
    bearings(claim, &[&Source::new("a.md", source)]).iter().map(|one| one.strength).min()
}

fn check_held(cases: &[(&str, &str)], is_said: bool) {
    for (source, claim) in cases {
        let found = held(source, claim, claim);
        assert_eq!(found == Some(Strength::Direct), is_said, "{source} → {claim}: {found:?}");
        assert_ne!(found, Some(Strength::Contradicts), "{source} → {claim}");
    }
}

#[test]
fn what_is_not_over_says_nothing_and_leads_on() {
    check_held(
        &[
            (
                "The vendor does not warrant that\n(a) the code is good;\n(b) the data are safe.",
                "(b) the data are safe.",
            ),
            (
                "The vendor does not warrant that\n\n- the code is good,\n- the data are safe.",
                "The data are safe.",
            ),
            (
                "The tenant may leave the flat\n- only with the consent of the landlord.",
                "The tenant may leave the flat.",
            ),
            (
                "The tenant may leave the flat\n\nonly with the consent of Ben.",
                "The tenant may leave the flat.",
            ),
            ("The tenant may leave the flat\nUnless the landlord objects.", "The tenant may leave the flat."),
            ("The tenant leaves the flat\n\nUnless the landlord objects.", "The tenant leaves the flat."),
            (
                "The tenant may leave the flat, provided that:\n\n(a) he pays.",
                "The tenant may leave the flat.",
            ),
            ("The tenant may leave the flat:\n\n- with consent.", "The tenant may leave the flat."),
            ("The tenant may not\n(a) smoke there;\n(b) keep dogs in the yard.", "Keep dogs in the yard."),
            ("The tenant may not –\n\n- smoke there\n- keep dogs in the yard", "Keep dogs in the yard."),
            ("It is not the case that\n\nThe tenant pays for repairs.", "The tenant pays for repairs."),
            ("Anna said\nThe dam holds. The wall stands.", "The wall stands."),
            ("4.2 The vendor does not warrant that\n4.2.1 the data are safe.", "The data are safe."),
            ("(h) Nothing says that\n(1) The data are safe.", "The data are safe."),
            (
                "1. The tenant may leave the flat\nUnless the landlord objects.",
                "The tenant may leave the flat.",
            ),
        ],
        false,
    );
    check_held(
        &[
            (
                "# Rent\n\n- the rent is 900 euros\n- the deposit is 1,800 euros\n\nThe end.",
                "The rent is 900 euros.",
            ),
            (
                "# Rent\n\n- the rent is 900 euros\n- the deposit is 1,800 euros\n\nThe end.",
                "The deposit is 1,800 euros.",
            ),
            ("It is this. It may not:\n- keep:\n  - dogs\n- smoke\n\nThe rent is due.", "The rent is due."),
            ("(a) it does not\n  (i) smoke\n  (ii) sing\n(b) the rent is due.", "The rent is due."),
            (
                "4. Obligations of the tenant\n4.1 The tenant pays.\n5. Rent\n5.1 It is due.",
                "The tenant pays.",
            ),
            ("4.1 the rent is due\n5. Deposit\n5.1 The deposit is due.", "The deposit is due."),
            ("RENT\n\nThe rent is due.", "The rent is due."),
            ("Rent and deposit\n\nThe rent is due.", "The rent is due."),
            ("**Rent that is due**\n\nThe rent is due.", "The rent is due."),
            ("From: Ann\nDate: 3 May\n\nDear Ms Moss,\n\nThe audit ends.", "The audit ends."),
            ("Sehr geehrte Frau Weber,\n\ndie Prüfung endet.", "Die Prüfung endet."),
            ("The rent is paid by Anna and by\nBen of Hull. The deposit is due.", "The deposit is due."),
            ("The rent is paid by Anna and by\nBen of Hull.", "The rent is paid by Anna and by Ben of Hull."),
            ("Rent: 900 euros\nDeposit: 800 euros\n", "Rent: 900 euros"),
            ("The sum is 5 million euros", "The sum is 5 million euros."),
            ("He said: “We pay.” She is there.", "She is there."),
            ("- [x] The pump was tested.", "The pump was tested."),
            ("The dam has 3 gates. (See Annex B.) The dam is high.", "The dam is high."),
            ("The hall has seats.[^2] It is wide.", "The hall has seats."),
        ],
        true,
    );
}

#[test]
fn who_is_quoted_says_all_of_it() {
    check_held(
        &[
            (
                "The plaintiff alleges: “The vendor lied in March. The goods were rotten. It is bad.”",
                "The goods were rotten.",
            ),
            (
                "She said, \"I saw it leave. The gate stood open.\" The court did not believe her.",
                "The gate stood open.",
            ),
            ("\"The engine passed the test in May.\" — that is a lie.", "The engine passed the test in May."),
            ("Er sagt: „Es hält. Die Wand steht.“ Das ist falsch.", "Die Wand steht."),
            ("Il dit : « Ça tient. Le mur est droit. »", "Le mur est droit."),
        ],
        false,
    );
    check_held(
        &[
            ("She said, \"I saw it. The gate was open.\" The court met.", "The court met."),
            ("The 5\" pipe is old. The wall stands.", "The wall stands."),
            ("The “old pipe is loud.\n\nThe wall stands.", "The wall stands."),
        ],
        true,
    );
    let told = "He said: “The vendor lied. The goods were rotten.”";
    assert_eq!(held(told, told, "The goods were rotten.”"), Some(Strength::Direct));
}

#[test]
fn what_a_source_only_shows_supports_nothing() {
    check_held(
        &[
            ("- [ ] The engine was tested in May.", "The engine was tested in May."),
            ("    The engine was tested in May.\n", "The engine was tested in May."),
            ("# Repealed\n\n## Rent\n\nThe rent is due.", "The rent is due."),
            ("**Denied**\n\nThe rent is due.", "The rent is due."),
            ("Denied\n===\n\nThe rent is due.", "The rent is due."),
            ("<del>\n\nThe rent is due.\n\n</del>", "The rent is due."),
        ],
        false,
    );
    check_held(&[("# Repealed\n\nIt is due.\n\n# Rent\n\nThe rent is due.", "The rent is due.")], true);
}

#[test]
fn a_claim_is_held_with_what_leads_in_to_it() {
    let source = "The rent is due.\n\nThe vendor undertakes:\n- The data are safe.\n";
    for (draft, claim, expected) in [
        ("The following is false:\n- The rent is due.\n", "The rent is due.", false),
        ("The rent is due.\n\nThe following is false:\n- The rent is due.\n", "The rent is due.", false),
        ("The vendor undertakes:\n- The data are safe.\n", "The data are safe.", true),
        ("The vendor undertakes:\n- The data are safe.\n", "The vendor undertakes:", true),
        ("The vendor undertakes.\n\nThe data are safe.\n", "The vendor undertakes.", false),
        ("The rent is due. [a.md:1]\n\nThe end.\n", "The rent is due.", true),
    ] {
        assert_eq!(held(source, draft, claim) == Some(Strength::Direct), expected, "{draft} → {claim}");
    }
}

#[test]
fn a_long_sentence_is_one() {
    let parts: alloc::vec::Vec<_> = (0..90).map(|at| alloc::format!("part {at} of the plant")).collect();
    let long = alloc::format!(
        "The vendor warrants that {} are good unless the buyer changed them.",
        parts.join(", ")
    );
    let cut = alloc::format!("{}.", &long[..long[..800].rfind(' ').unwrap()]);
    assert_eq!(held(&long, &long, &long), Some(Strength::Direct));
    assert_ne!(held(&long, &cut, &cut), Some(Strength::Direct));
}
