//! What a model says, what an agent may reach, a session's checkpoint.
//! Owns: what taking them apart must hold to. Must not: do what was said.

use countersign_kernel::gate::Capability;
use countersign_kernel::says::calls::{Asked, CALLS_MAX};
use countersign_kernel::says::{Heard, Listener};
use countersign_record::json;
use countersign_record::session::Checkpoint;

fn heard<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> (String, Heard) {
    let mut text = String::new();
    let mut listener = Listener::default();
    for chunk in chunks {
        listener.hear(chunk, &mut |more| text.push_str(more));
    }
    let heard = listener.finish(&mut |more| text.push_str(more));
    (text, heard)
}

/// However a reply is cut into chunks it means the same, and no more is shown than was said.
pub(crate) fn reply(input: &[u8]) {
    let whole = heard(std::iter::once(input));
    assert_eq!(heard(input.chunks(1)), whole);
    assert_eq!(heard(input.chunks(7)), whole);
    let (text, heard) = whole;
    // A byte that is no text is shown as three.
    assert!(text.len() <= 3 * input.len());
    match heard.asked {
        Asked::Calls(calls) => assert!(calls.len() <= CALLS_MAX),
        Asked::Refused(refused) => {
            assert!(!refused.is_empty() && refused.iter().all(|one| one.why.as_str().len() < 600));
        }
    }
}

/// The normal form of a capability is its own.
pub(crate) fn capability(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(capability) = Capability::try_from(text) {
        assert_eq!(Capability::try_from(capability.as_str()), Ok(capability));
    }
}

/// A checkpoint that is read is written and read again.
pub(crate) fn checkpoint(input: &[u8]) {
    let Ok(value) = json::parse(input) else { return };
    if let Ok(checkpoint) = Checkpoint::read(value) {
        let text = json::to_text(&checkpoint).expect("it was read from text");
        let again = json::parse(text.as_bytes()).expect("our own text");
        assert_eq!(Checkpoint::read(again), Ok(checkpoint));
    }
}
