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

proptest! {
    #[test]
    fn a_sentence_of_the_source_is_supported(sentence in "[A-Z][a-z]{2,8}( [a-z0-9]{2,8}){1,6}\\.") {
        prop_assert!(supports(&sentence, &sentence));
    }
}
