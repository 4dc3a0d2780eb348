//! What comes from models, their streams and files, and the policy that they work under.
//! Owns: what reading them must hold to. Must not: run a model.

use countersign_kernel::policy::Policy;
use countersign_local::{Header, Shape, Words};
use countersign_models::remote::heard::heard;
use countersign_models::settings::Wire;
use countersign_record::json;

/// However a stream is cut, the same is heard.
pub(crate) fn stream(input: &[u8]) {
    for wire in [Wire::OpenAi, Wire::Anthropic] {
        let whole = heard(wire, [input]);
        let width = 1 + usize::from(input.first().copied().unwrap_or(0) % 7);
        let pieces = heard(wire, input.chunks(width));
        assert_eq!(whole, pieces, "cut to {width} bytes");
    }
}

/// A header is read within bounds or refused, and so is what is built on it.
pub(crate) fn gguf(input: &[u8]) {
    let length = input.len() as u64;
    if let Ok(header) = Header::read(&mut &*input, length) {
        assert!(header.bytes() <= length, "a header beyond its file");
        drop(Shape::of(&header));
        drop(Words::of(&header));
    }
}

/// A policy that is read survives its own document, and its hash is its document's.
pub(crate) fn policy(input: &[u8]) {
    let Ok(value) = json::parse(input) else { return };
    let Ok(policy) = Policy::read(value) else { return };
    let text = json::to_text(&policy).expect("a policy has a text");
    let again = Policy::read(json::parse(text.as_bytes()).expect("which is JSON")).expect("and a policy");
    assert_eq!(policy, again);
    assert_eq!(policy.hash().expect("a hash"), again.hash().expect("a hash"));
}
