//! What a sentence of a source says, and what it does not.

use super::*;
use proptest::prelude::*;

fn says(source: &str, claim: &str) -> bool {
    Reading::of(source).says(&Reading::of(claim))
}

/// Each of these shares nearly all words with its source, and says something else.
#[test]
fn a_claim_says_nothing_that_its_source_does_not() {
    for (source, claim, expected) in [
        (
            "Backups of customer data are taken every night and kept for 35 days.",
            "Backups of customer data are taken every night.",
            false,
        ),
        (
            "Backups of customer data are taken every night and kept for 35 days.",
            "Backups of customer data are taken every year and kept for 35 days.",
            false,
        ),
        (
            "Personal data are stored in Harnsea and Vellmar only.",
            "Personal data are stored in Harnsea and Vellmar only.",
            true,
        ),
        (
            "Personal data are stored in Harnsea and Vellmar only.",
            "Personal data are stored in Harnsea only.",
            false,
        ),
        (
            "Personal data are stored in Harnsea and Vellmar only.",
            "Personal data are stored in Harnsea and Vellmar.",
            false,
        ),
        (
            "Personal data are stored in Harnsea and Vellmar only.",
            "Personal data are stored in Harnsea, Vellmar and many others.",
            false,
        ),
        (
            "Customer data is encrypted at rest with AES-256 and in transit with TLS.",
            "Customer data is encrypted in transit with AES-256 and at rest with TLS.",
            false,
        ),
        (
            "Quillon Security carried out the penetration test in June 2025.",
            "Quillon Security carried out nothing in June 2025.",
            false,
        ),
        (
            "After the end of the agreement Halyard deletes the Customer's data within 60 days.",
            "After the end of the agreement the Customer deletes Halyard's data within 60 days.",
            false,
        ),
        (
            "After the end of the agreement Halyard deletes the Customer's data within 60 days.",
            "Halyard deletes the Customer's data within 60 days after the end of the agreement.",
            false,
        ),
        (
            "Halyard tells the Customer thirty days before it engages a supplier.",
            "Halyard tells the Customer thirty days after it engages a supplier.",
            false,
        ),
        (
            "The controls operated effectively throughout the period apart from one exception.",
            "The controls operated effectively throughout the period.",
            false,
        ),
    ] {
        assert_eq!(says(source, claim), expected, "{claim}");
    }
}

#[test]
fn a_claim_says_it_of_whom_its_source_says_it() {
    for (source, claim, expected) in [
        (
            "The tenant may give notice of six months to the landlord.",
            "The tenant must give notice of six months to the landlord.",
            false,
        ),
        ("The lease of the harbour ends on 31 May 2027.", "The harbour's lease ends on 31 May 2027.", true),
        (
            "The tenant pays the rent of 900 euros every month to the landlord in advance.",
            "The landlord pays the rent of 900 euros every month to the tenant in advance.",
            false,
        ),
        (
            "The tenant pays the rent of 900 euros every month to the landlord in advance.",
            "The tenant pays the rent of 900 euros every month.",
            false,
        ),
        (
            "The lease of the warehouse ends on 31 March 2029.",
            "The lease of the warehouse begins on 31 March 2029.",
            false,
        ),
        (
            "The landlord insures the building against fire and water damage.",
            "The landlord insures the building against theft and water damage.",
            false,
        ),
        (
            "The tenant may terminate the agreement with notice of six months in writing.",
            "The tenant may extend the agreement with notice of six months in writing.",
            false,
        ),
        (
            "The tenant may terminate the agreement with notice of six months in writing.",
            "The tenant may terminate the agreement with notice of six months orally.",
            false,
        ),
        (
            "The Tenant may end this lease early on the Break Date by giving the Landlord at least six months' written notice.",
            "The Landlord may end this lease early on the Break Date by giving the Tenant at least six months' written notice.",
            false,
        ),
        (
            "Marrow Estates shall pay Tidewell Packaging.",
            "Tidewell Packaging shall pay Marrow Estates.",
            false,
        ),
        (
            "Halyard notifies the Customer of a breach without undue delay and no later than 48 hours after becoming aware of it.",
            "Halyard notifies the Customer of a breach no later than 48 hours after becoming aware of it, without undue delay.",
            false,
        ),
        (
            "A notice sent by recorded delivery is treated as received on the second working day.",
            "A notice sent by recorded delivery is treated as rejected on the second working day.",
            false,
        ),
        (
            "Der Mieter kann den Vertrag mit einer Frist von drei Monaten kündigen.",
            "Der Mieter muss den Vertrag mit einer Frist von drei Monaten kündigen.",
            false,
        ),
    ] {
        assert_eq!(says(source, claim), expected, "{claim}");
    }
}

/// What a claim leaves out, adds, turns round or reads otherwise is not said.
#[test]
fn a_false_claim_is_not_said() {
    for (source, claim) in [
        ("The tenant may not sublet and may not assign.", "The tenant may sublet and may assign."),
        (
            "Der Mieter darf nicht untervermieten und nicht abtreten.",
            "Der Mieter darf untervermieten und abtreten.",
        ),
        ("The fee is paid by the tenant to the landlord.", "The fee is paid to the tenant by the landlord."),
        ("The tenant pays the rent or the deposit.", "The tenant pays the rent and the deposit."),
        ("Der Mieter zahlt Miete oder Kaution.", "Der Mieter zahlt Miete und Kaution."),
        ("It is false that the vendor paid.", "The vendor paid."),
        ("The price is two million euros.", "The price is two euros."),
        ("The price is 5 000 euros.", "The price is 5 euros."),
        ("The growth was -5 percent.", "The growth was 5 percent."),
        ("Der Mieter zahlt niemals.", "Der Mieter zahlt."),
        ("Der Mieter verklagt den Vermieter.", "Den Mieter verklagt der Vermieter."),
        ("The old tenant must pay the new landlord.", "The new landlord must pay the old tenant."),
        ("The share was raised from 10 to 20 percent.", "The share was raised from 20 to 10 percent."),
        ("The term is 24 months, not 36 months.", "The term is 36 months, not 24 months."),
        ("The tenant pays the rent and the landlord pays the insurance.", "The tenant pays the insurance."),
        ("Der Käufer haftet, der Verkäufer haftet nicht.", "Der Käufer haftet nicht."),
        ("The vendor hardly pays and the bank waits.", "The vendor pays and the bank waits."),
        ("The tenant refused to pay and the landlord sued.", "The landlord sued."),
        ("The vendor denies that data left the country.", "Data left the country."),
        ("Le locataire ne paie pas.", "Le locataire paie."),
        ("The notice takes 10-15 days.", "The notice takes 15 days."),
        ("The load is <5 percent.", "The load is >5 percent."),
        ("The load is 5% of it.", "The load is 5‰ of it."),
        ("The plant has 5 MW of it.", "The plant has 5 mW of it."),
        ("Has the vendor encrypted the disks?", "Has the vendor encrypted the disks."),
        ("The tenant pays when the roof is whole.", "The tenant pays."),
        ("Nobody but the owner may enter.", "The owner may enter."),
        ("The tenant may end the lease in May.", "The tenant may end the lease in may."),
        ("The lease ends on 31 May 2027.", "The lease ended on 31 May 2027."),
        ("On 31 May 2027 the lease ends.", "The lease ends on 31 May 2027."),
        (
            "In June 2024 the vendor said that the breach ended.",
            "The vendor said that the breach ended in June 2024.",
        ),
        ("“The vendor lied.”", "The vendor lied."),
        ("IT was told.", "It was told."),
        ("US laws apply.", "us laws apply."),
        ("The area is 500 m².", "The area is 500 m."),
        ("The value is 10² metres.", "The value is 10 metres."),
        ("Annex [1] is void.", "Annex [2] is void."),
        ("Annex [1] is void.", "Annex is void."),
    ] {
        assert!(!says(source, claim), "{source} → {claim}");
    }
    for (source, claim) in [
        ("The tenant gives six months' notice.", "The tenant gives 6 months' notice."),
        ("**The rent** is 900 euros.", "The rent is 900 euros"),
        ("The rent is 900 euros.", "Rent is 900 euros."),
        ("7.1 The rent is 900 euros.", "The rent is 900 euros."),
        ("A-1. The rent is 900 euros and is due.", "The rent is 900 euros and is due."),
        ("(b) Tenants pay 1,200.50 euros.", "Tenants pay 1,200.50 euros."),
        ("(iv) The drain was tested.", "The drain was tested."),
        ("§ 5 The pump was tested.", "The pump was tested."),
        ("Clause 7: The pump is old.", "The pump is old."),
        ("The hall seats 300 people[^2].", "The hall seats 300 people."),
        ("The hall seats 300 people [3].", "The hall seats 300 people."),
        ("The attic seats 10 people.¹", "The attic seats 10 people."),
        ("The cafe\u{301} in Lyon closed.", "The café in Lyon closed."),
        ("“The vendor lied.”", "“The vendor lied.”"),
        ("“Acme” pays the rent.", "Acme pays the rent."),
    ] {
        assert!(says(source, claim), "{source} → {claim}");
    }
}

/// Of a sentence with parts none is said alone, and no stretch goes from one to another.
#[test]
fn parts_of_a_sentence_stay_together() {
    for (source, claim) in [
        ("In 2024 sales rose, in 2025 profits fell.", "Sales rose in 2025, profits fell in 2024."),
        ("In 2024 sales rose and in 2025 profits fell.", "Sales rose and in 2025 profits fell in 2024."),
        (
            "For Anna 500 euros are due, for Karl 900 euros are due.",
            "500 euros are due for Karl, 900 euros are due for Anna.",
        ),
        ("Am Montag zahlt Anna, am Freitag zahlt Karl.", "Am Freitag zahlt Anna, am Montag zahlt Karl."),
        ("The tenant pays, not the landlord.", "The tenant pays not, the landlord."),
        ("In the worst case the dam breaks and the town is flooded.", "The town is flooded."),
        ("We hope that the roof holds and the tenant pays.", "The tenant pays."),
        ("From 2030 on the rent is 1000 and the deposit is 3000.", "The deposit is 3000."),
        ("The rent is 1000 and the deposit is 3000 from 2030 on.", "The rent is 1000."),
        ("In the worst case the dam breaks; the town is flooded.", "The town is flooded."),
    ] {
        assert!(!says(source, claim), "{source} → {claim}");
    }
    for (source, claim, expected) in [
        ("In the worst case the dam breaks and the town is flooded.", "The town is flooded.", true),
        ("7.1 The rent is 1000; the deposit is 3000.", "The deposit is 3000.", true),
        ("The rent is 1000 and the deposit is 3000.", "The deposit is 300.", false),
        ("The rent of the yard is 1000.", "The rent.", false),
    ] {
        assert_eq!(Reading::of(source).says_in_part(&Reading::of(claim)), expected, "{source} → {claim}");
    }
}

#[test]
fn articles_and_numbers_that_count_are_kept() {
    for (source, claim) in [
        ("The audit found a few errors.", "The audit found few errors."),
        ("The few errors were mended.", "Few errors were mended."),
        ("Schedule A is void.", "Schedule is void."),
        ("Section 5 a is void.", "Section 5 is void."),
        ("Hepatitis A was found.", "Hepatitis was found."),
        ("Die Dosis beträgt 2,5 mg am Tag.", "Die Dosis beträgt 25 mg am Tag."),
        ("Das kostet 9,50 Euro.", "Das kostet 950 Euro."),
        ("Der Zins beträgt 4,75 %.", "Der Zins beträgt 475 %."),
        ("Die Menge beträgt 1,250 kg.", "Die Menge beträgt 1250 kg."),
        ("The result was (1,200) euros.", "The result was 1,200 euros."),
        ("The area is 5 * 10 metres.", "The area is 5 10 metres."),
        ("1.5 million people live here.", "Million people live here."),
        ("3.5 Tonnen sind erlaubt.", "Tonnen sind erlaubt."),
    ] {
        assert!(!says(source, claim), "{source} → {claim}");
    }
}

proptest! {
    #[test]
    fn a_sentence_of_the_source_is_said(sentence in "[A-Z][a-z]{2,8}( [a-z0-9]{2,8}){1,6}\\.") {
        prop_assert!(says(&sentence, &sentence));
        prop_assert!(says(&sentence, sentence.trim_end_matches('.')));
    }
}
