//! Sentences that disagree, and those that only speak of something else.

use super::*;

#[test]
fn sentences_of_different_years_or_items_are_about_different_things() {
    for (one, other, expected) in [
        (
            "The rent of the warehouse for the year 2024 is 900 euros a month.",
            "The rent of the warehouse for the year 2025 is 950 euros a month.",
            false,
        ),
        (
            "The rent of the warehouse from 1 January 2024 is 900 euros a month.",
            "The rent of the warehouse from 1 January 2025 is 950 euros a month.",
            false,
        ),
        (
            "The rent of the warehouse for the year 2024 is 900 euros a month.",
            "The rent of the warehouse for the year 2024 is 950 euros a month.",
            true,
        ),
        (
            "The deposit for 3 rooms of the warehouse is 2000 euros.",
            "The deposit for 4 rooms of the warehouse is 1900 euros.",
            true,
        ),
        (
            "The price of the crane under item 4 is 30 euros.",
            "The price of the crane under item 5 is 40 euros.",
            false,
        ),
        (
            "The lease of the warehouse ends on 31 March 2027.",
            "The lease of the warehouse ends on 30 March 2028.",
            true,
        ),
    ] {
        check(one, other, expected);
    }
}

fn check(one: &str, other: &str, expected: bool) {
    assert_eq!(Words::of(one).contradict(&Words::of(other)), expected, "{one} {other}");
    assert_eq!(Words::of(other).contradict(&Words::of(one)), expected, "{other} {one}");
}

#[test]
fn sentences_about_different_things_do_not_contradict_each_other() {
    for (one, other) in [
        (
            "The notice period of the Alpha contract is 90 days.",
            "The notice period of the Beta contract is 30 days.",
        ),
        (
            "The rent of the Hamburg office is 4,000 euros a month.",
            "The rent of the Bremen office is 2,500 euros a month.",
        ),
        (
            "Employees in Berlin have 30 days of annual leave in a year.",
            "Employees in Munich have 28 days of annual leave in a year.",
        ),
        (
            "The limit for lead in drinking water is 5 micrograms.",
            "The limit for arsenic in drinking water is 10 micrograms.",
        ),
        (
            "The supplier pays a penalty of 500 euros for each late day.",
            "The customer pays a penalty of 100 euros for each late day.",
        ),
        (
            "Die Miete für das Büro in Hamburg beträgt 4.000 Euro im Monat.",
            "Die Miete für das Büro in Bremen beträgt 2.500 Euro im Monat.",
        ),
        ("The pump of line A runs at 40 bar.", "The pump of station Altona runs at 60 bar."),
    ] {
        check(one, other, false);
    }
    // What only one of the two says may be a word more about the same.
    check(
        "The notice period of the contract is 90 days.",
        "The notice period of the Beta contract is 30 days.",
        true,
    );
    check(
        "Die Frist für die ordentliche Kündigung des Mietvertrags durch den Mieter beträgt sechs Monate.",
        "Die Frist für die ordentliche Kündigung des Vertrags durch den Mieter beträgt drei Monate.",
        true,
    );
}

#[test]
fn a_number_written_otherwise_is_no_other() {
    for (one, other) in [
        ("The tenant pays the deposit within fourteen days.", "The tenant pays the deposit within 14 days."),
        (
            "The warranty of the pump runs for 18 months.",
            "The warranty of the pump runs for eighteen months.",
        ),
        ("The fee for a late return is 21 euros.", "The fee for a late return is twenty-one euros."),
        ("The hotel on the hill has 300 rooms.", "The hotel on the hill has three hundred rooms."),
        (
            "The cap on the contract is 2,000,000 euros a year.",
            "The cap on the contract is two million euros a year.",
        ),
        ("The discount for early payment is 0.50 %.", "The discount for early payment is 0.5 %."),
        ("Die Kaution der Wohnung beträgt 1200 Euro.", "Die Kaution der Wohnung beträgt 1.200 Euro."),
        ("Die Kaution der Wohnung beträgt 70 Euro.", "Die Kaution der Wohnung beträgt siebzig Euro."),
    ] {
        check(one, other, false);
    }
    check("The discount for early payment is 0.5 %.", "The discount for early payment is 5 %.", true);
    check("The fee for a late return is 20 euros.", "The fee for a late return is twenty-one euros.", true);
}

#[test]
fn lists_are_of_stems() {
    for (list, words) in [
        (ITEMS.as_slice(), "invoice year jahr number"),
        (&ONCE_MORE, "again another erneut"),
        (&UNITS, "days months percent metres degrees woche euros"),
        (&MONTHS, "january may july märz december dezember august"),
        (&OF_YEARS, "since bis during"),
        (&PREPOSITIONS, "on am by"),
        (&NEGATIONS, "without keine niemals jamais aucune ohne sans pas nao"),
    ] {
        for word in words.split(' ') {
            assert!(is_one_of(&counted(word).join(" "), list), "{word}");
        }
    }
}

#[test]
fn short_sentences_contradict_each_other_too() {
    for (one, other) in [
        ("The deposit is refundable.", "The deposit is not refundable."),
        ("The tenant may sublet the yard.", "The tenant may not sublet the yard."),
        ("The vendor holds a certificate.", "The vendor holds no certificate."),
        ("The vendor holds a certificate.", "The vendor does not hold a certificate."),
        ("The contract was signed.", "The contract wasn't signed."),
        ("The pump can be repaired.", "The pump can't be repaired."),
        ("Die Kaution ist erstattbar.", "Die Kaution ist nicht erstattbar."),
        ("Der Mieter zahlt eine Kaution.", "Der Mieter zahlt keine Kaution."),
        ("Le locataire paie la taxe.", "Le locataire ne paie pas la taxe."),
        ("The lease ends on 31 March 2027.", "The lease ends on 30 June 2027."),
        ("The lease starts on 1 May.", "The lease starts on 15 May."),
        ("The lease ends on 2027-03-31.", "The lease ends on 2029-03-31."),
        ("The lease was signed in 2024.", "The lease was signed in 2025."),
        ("The rent is 900 euros.", "The rent is 800 euros."),
        ("The lease ends in 2027.", "The lease ends in 2028."),
        ("The hall seats 300 people.", "The hall seats 200 people."),
        ("The alarm went off at 08:05.", "The alarm went off at 09:10."),
        ("All exits were clear.", "No exits were clear."),
        ("Le bail dure trois ans.", "Le bail dure six ans."),
        ("El contrato dura tres meses.", "El contrato dura cuatro meses."),
        ("Die Dosis beträgt 2,5 mg am Tag.", "Die Dosis beträgt 25 mg am Tag."),
        ("The invoice 4711 was paid on 3 May.", "The invoice 4711 was paid on 9 May."),
        ("The lease ends in March.", "The lease ends in June."),
        ("The notice period is three months.", "The notice period is three weeks."),
        (
            "The rent of the warehouse is 100 euros a month.",
            "The rent of the warehouse is 100 dollars a month.",
        ),
    ] {
        check(one, other, true);
    }
}

#[test]
fn what_has_a_number_is_told_apart_by_it() {
    for (one, other) in [
        ("Invoice 4711 was paid on 3 May.", "Invoice 4712 was paid on 9 May."),
        ("Patient 12 received 5 mg of the drug.", "Patient 13 received 10 mg of the drug."),
        ("Patient 12 received 5 mg of the drug.", "Patient 13 received 5 mg of the drug."),
        ("The rent of Room 101 is 500 euros.", "The rent of Room 102 is 600 euros."),
        ("On 3 March the pump ran at 40 bar.", "On 4 March the pump ran at 60 bar."),
        ("At 10:05 the alarm showed 20 degrees.", "At 10:10 the alarm showed 30 degrees."),
        ("Version 2.1 supports 10 users.", "Version 2.2 supports 20 users."),
        ("Die Miete der Wohnung 3 beträgt 500 Euro.", "Die Miete der Wohnung 4 beträgt 600 Euro."),
        ("The rent of the Turm 3 is 500 euros.", "The rent of the Turm 4 is 600 euros."),
        ("Tier 1 support answers within 4 hours.", "Tier 2 support answers within 8 hours."),
        ("Gate 1 is open.", "Gate 2 is open."),
        ("The gate 1 is open.", "The gate 2 is open."),
        ("Option one is allowed.", "Option two is allowed."),
        ("Shift one starts at 6 o'clock.", "Shift two starts at 14 o'clock."),
        ("The rent of flat A is 900 euros.", "The rent of flat B is 800 euros."),
        ("The alarm went off at 08:05.", "The alarm went off at 09:10 again."),
        ("Clause 4 of the lease applies.", "Clause 5 of the lease does not apply."),
    ] {
        check(one, other, false);
    }
}
