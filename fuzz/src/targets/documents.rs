//! Documents: the SR2 envelope, a turn of memory, the run's state, an anchor.
//! Owns: what reading, writing and refusing them must hold to. Must not: read a row.

use crate::laws;
use countersign_record::canonical;
use countersign_record::chain::{Anchor, AnchorProblem, Head};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::envelope::Envelope;
use countersign_record::json::{self, Json, Object};
use countersign_record::sign::{PublicKey, Signature};
use countersign_record::state::{GenericEnvelope, Minted, Reading, Renamed};
use countersign_record::time::Timestamp;
use countersign_record::turn::MemoryTurn;
use ed25519_dalek::{Signer, SigningKey};

fn written(value: &impl serde::Serialize) -> Json {
    let text = json::to_text(value).expect("what was read can be written");
    json::parse(text.as_bytes()).expect("what was written is JSON")
}

/// What is accepted is written as something that reads and hashes the same; what is refused is told why.
pub(crate) fn envelope(input: &[u8]) {
    let Ok(document) = json::parse(input) else { return };
    match Envelope::read(document.clone()) {
        Ok(envelope) => {
            let again = written(&envelope);
            assert_eq!(Envelope::read(again.clone()).as_ref(), Ok(&envelope));
            let hash = canonical::hash_of(&envelope).expect("an envelope has a canonical form");
            assert_eq!(canonical::hash(&again), Ok(hash));
            assert_eq!(document.get("payload"), again.get("payload"));
            let given = document.as_object().expect("an envelope is an object");
            for (name, value) in given.iter() {
                assert!(again.get(name).is_some(), "{name} = {value:?} is lost");
            }
        }
        Err(troubles) => laws::refusal(&document, &troubles),
    }
}

/// As for an envelope, and nothing that others added is lost. The hash over the text is set right for a second try:
/// hardly any mutation leaves it standing.
pub(crate) fn memory_turn(input: &[u8]) {
    let Ok(document) = json::parse(input) else { return };
    check_turn(&document);
    if let (Some(text), Some(Json::Object(provenance))) =
        (document.get("text").and_then(Json::as_str), document.get("provenance"))
    {
        let mut provenance = provenance.clone();
        provenance.insert("hash", String::from(Digest::of(text.as_bytes())));
        if let Some(role) = document.get("role").filter(|_| input.len().is_multiple_of(2)) {
            provenance.insert("source", role.clone());
        }
        let mut repaired = document.as_object().cloned().unwrap_or_default();
        repaired.insert("provenance", provenance);
        check_turn(&repaired.into());
    }
}

fn check_turn(document: &Json) {
    match MemoryTurn::read(document.clone()) {
        Ok(turn) => {
            let again = written(&turn);
            assert_eq!(MemoryTurn::read(again.clone()).as_ref(), Ok(&turn));
            assert_eq!(canonical::hash_of(&turn).ok(), canonical::hash(&again).ok());
            assert_eq!(Digest::of(turn.text.as_bytes()), turn.provenance.hash);
            assert_eq!(turn.role, turn.provenance.source);
            for (name, value) in document.as_object().expect("a turn is an object").iter() {
                let is_nothing =
                    matches!(value, Json::Null) || matches!(value, Json::Array(items) if items.is_empty());
                assert!(again.get(name) == Some(value) || is_nothing, "{name} = {value:?} is lost");
            }
        }
        Err(troubles) => laws::refusal(document, &troubles),
    }
}

fn minted() -> Minted {
    Minted {
        envelope_id: "env_00000000000000aa".try_into().expect("it is one"),
        request_id: "req_00000000000000bb".try_into().expect("it is one"),
        session_id: "sess_00000000000000cc".try_into().expect("it is one"),
        received_at: "2001-02-03T04:05:06Z".try_into().expect("it is one"),
    }
}

/// Others must not matter where a document has its own.
fn other_minted() -> Minted {
    Minted {
        envelope_id: "env_ffffffffffffffff".try_into().expect("it is one"),
        request_id: "req_ffffffffffffffff".try_into().expect("it is one"),
        session_id: "sess_ffffffffffffffff".try_into().expect("it is one"),
        received_at: "1999-01-01T00:00:00Z".try_into().expect("it is one"),
    }
}

/// What is written reads as the same state, needs nothing from outside, and is written the same again.
pub(crate) fn state(input: &[u8]) {
    let Ok(document) = json::parse(input) else { return };
    let reading = match GenericEnvelope::read(document.clone(), minted()) {
        Ok(reading) => reading,
        Err(troubles) => return laws::refusal(&document, &troubles),
    };
    check_notes(&document, &reading);
    let envelope = reading.envelope;
    let again = envelope.to_json().expect("a state that was read can be written");
    let reread = GenericEnvelope::read(again.clone(), other_minted()).expect("what was written is a state");
    assert_eq!(reread.envelope, envelope, "the state changed on its way through its text");
    assert!(reread.minted.is_empty(), "{:?} had to be minted again", reread.minted);
    // The interrupt is written as it came, other dialects' names and words in it included.
    let is_kept = |renamed: &Renamed| renamed.path.starts_with("/interrupt/");
    assert!(reread.renamed.iter().all(is_kept), "{:?}", reread.renamed);
    assert_eq!(reread.envelope.to_json().as_ref(), Ok(&again), "the written form is not stable");
    assert_eq!(json::to_text(&reread.envelope), json::to_text(&envelope));
    assert_eq!(envelope.hash(), Ok(canonical::hash_as_written(&again)));
    assert_eq!(reread.envelope.pending(), envelope.pending());
    for (name, value) in envelope.extra.as_object().iter() {
        assert_eq!((document.get(name), again.get(name)), (Some(value), Some(value)), "{name}");
    }
    for (name, value) in document.as_object().expect("a state is an object").iter() {
        let is_renamed = name == "loop_feedback";
        assert!(again.get(name).is_some() || is_renamed, "{name} = {value:?} is lost");
    }
}

fn check_notes(document: &Json, reading: &Reading) {
    for name in reading.minted.iter().chain(&reading.defaulted) {
        assert!(matches!(document.get(name), None | Some(Json::Null)), "{name} is there and was not used");
    }
    for renamed in &reading.renamed {
        let there = laws::resolve(document, &renamed.path);
        let is_name = laws::parent(document, &renamed.path).is_some_and(|(_, name)| name == renamed.from);
        assert!(there.is_some(), "{renamed:?} points nowhere");
        assert!(
            is_name || there.and_then(Json::as_str) == Some(&renamed.from),
            "{renamed:?} is not what stands there"
        );
    }
}

/// An anchor is accepted only with its own key's signature, and then survives. Whatever has the form is signed here
/// and must be accepted; one bit of it turned, it must not be.
pub(crate) fn anchor(input: &[u8]) {
    let Ok(document) = json::parse(input) else { return };
    match Anchor::read(&document) {
        Ok(anchor) => anchor_survives(&anchor),
        Err(AnchorProblem::Form(troubles)) => laws::refusal(&document, &troubles),
        Err(problem @ AnchorProblem::Version { version }) => {
            assert!(version != 1 && problem.code() == Code::AnchorInvalid);
        }
        Err(AnchorProblem::Forged(_)) => {}
    }
    let Some(signed) = document.as_object().and_then(sign) else { return };
    match Anchor::read(&signed.clone().into()) {
        Ok(anchor) => {
            anchor_survives(&anchor);
            let mut forged = signed;
            let head = anchor.seq.wrapping_add(1) % (1 << 53);
            forged.insert("seq", Json::Number(head.try_into().expect("it is below 2^53")));
            let found = Anchor::read(&forged.into());
            assert!(matches!(found, Err(AnchorProblem::Forged(_))), "{found:?}");
        }
        Err(AnchorProblem::Form(troubles)) => laws::refusal(&signed.into(), &troubles),
        Err(AnchorProblem::Version { .. }) => {}
        Err(AnchorProblem::Forged(_)) => panic!("a signature over the statement is refused"),
    }
}

fn anchor_survives(anchor: &Anchor) {
    let again = written(anchor);
    assert_eq!(Anchor::read(&again).as_ref(), Ok(anchor));
    let head = Head { seq: anchor.seq, hash: anchor.hash };
    let statement = Anchor::statement(&anchor.matter, head, &anchor.at, anchor.key).expect("it was read");
    assert_eq!(anchor.key.verify(&statement, &anchor.signature), Ok(()));
}

/// The same document signed with a key of ours, if its parts can be signed at all.
fn sign(document: &Object) -> Option<Object> {
    let key = SigningKey::from_bytes(&[7; 32]);
    let public = PublicKey::try_from(key.verifying_key().to_bytes()).expect("it is a key");
    let text = |name: &str| document.get(name).and_then(Json::as_str);
    let Some(Json::Number(seq)) = document.get("seq") else { return None };
    let head = Head { seq: seq.as_u64()?, hash: Digest::try_from(text("hash")?).ok()? };
    let at = Timestamp::try_from(text("at")?).ok()?;
    let statement = Anchor::statement(&text("matter")?.try_into().ok()?, head, &at, public).ok()?;
    let signature = Signature::from_bytes(key.sign(&statement).to_bytes());
    let mut signed = document.clone();
    signed.insert("key", public.to_string());
    signed.insert("signature", signature.to_string());
    Some(signed)
}
