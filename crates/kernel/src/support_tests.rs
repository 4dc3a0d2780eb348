//! What a source says, and what it does not.

use super::*;
use proptest::prelude::*;

#[test]
fn what_a_source_says() {
    let lease = "The lease of the harbour ends on 31 May 2027. The rent is not due in winter.";
    for (sentence, expected) in [
        (lease, true),
        ("The lease of the harbour ends on 31 May 2027.", true),
        ("The harbour's lease ends on 31 May 2027", true),
        ("The rent is not due in winter.", true),
        ("The lease ends in June.", false),
        ("The lease of the harbour ends on 31 May 2028.", false),
        ("The lease of the harbour does not end on 31 May 2027.", false),
        ("The lease of the harbour doesn't end on 31 May 2027.", false),
        ("The rent is due in winter.", false),
        ("The lease of Bergen ends on 31 May 2027.", false),
        ("Nobody pays anything for berths.", false),
        ("2028 is when the lease of the harbour ends.", false),
        ("", false),
    ] {
        assert_eq!(supports(lease, sentence), expected, "{sentence}");
    }
    let notice = "The tenant gives six months' written notice, and pays twenty euros.";
    assert!(supports(notice, "The tenant gives six months' written notice."));
    assert!(supports(notice, "The tenant gives 6 months' written notice."));
    assert!(!supports(notice, "The tenant gives three months' written notice."));
    assert!(!supports(notice, "The tenant gives six months' written notice, and pays thirty euros."));
    let german = "Die Kündigungsfrist beträgt drei Monate.";
    assert!(!supports(german, "Die Kündigungsfrist beträgt sechs Monate."));
    assert!(supports(german, "Die Kündigungsfrist beträgt drei Monate"));
    assert!(!supports(german, "Die Kündigungsfrist beträgt nicht drei Monate."));
}

/// Each of these shares nearly all words with its source, and says something else.
#[test]
fn a_claim_says_nothing_that_its_source_does_not() {
    for (source, claim, expected) in [
        (
            "Backups of customer data are taken every night and kept for 35 days.",
            "Backups of customer data are taken every night.",
            true,
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
            true,
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
            true,
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
            true,
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

proptest! {
    #[test]
    fn a_sentence_of_the_source_is_said(sentence in "[A-Z][a-z]{2,8}( [a-z0-9]{2,8}){1,6}\\.") {
        prop_assert!(says(&sentence, &sentence));
        prop_assert!(says(&sentence, sentence.trim_end_matches('.')));
    }

    #[test]
    fn a_sentence_of_the_source_is_supported(sentence in "[A-Z][a-z]{2,8}( [a-z0-9]{2,8}){1,6}\\.") {
        prop_assert!(supports(&sentence, &sentence));
    }
}
