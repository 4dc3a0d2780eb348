//! The keyring: what it makes, what it refuses, and that its signatures verify.

use countersign_record::chain::{Anchor, Head};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::PrincipalId;
use countersign_record::json;
use countersign_record::row::{Proof, Sealed};
use countersign_record::sign::PublicKey;
use countersign_record::time::Timestamp;
use countersign_store::keys::{Error, Keyring, Principal};
use countersign_testkit::drafts::{draft, matter};
use countersign_testkit::scratch::Scratch;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn name(text: &str) -> PrincipalId {
    PrincipalId::try_from(text).unwrap()
}

fn decision() -> Sealed {
    draft("run:1", "call.approved", "yes").seal().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// A public key that is nobody's here.
fn foreign() -> PublicKey {
    let scratch = Scratch::new();
    Keyring::open(scratch.path()).add(&name("foreign"), [99; 32]).unwrap()
}

#[test]
fn keys_are_made_for_their_owner_alone() {
    let scratch = Scratch::new();
    let keys = Keyring::open(scratch.path());
    assert_eq!(keys.list().unwrap(), []);
    let own = keys.add(&name("ada"), [1; 32]).unwrap();
    keys.trust(&name("bob@example"), foreign()).unwrap();
    let principals = scratch.path().join("keys/principals");
    assert_eq!((mode(&principals), mode(&principals.join("ada.key"))), (0o700, 0o600));
    let text = fs::read_to_string(principals.join("ada.key")).unwrap();
    assert_eq!(text, format!("{}\n", "01".repeat(32)));
    let expected = [
        Principal { name: name("ada"), key: own, own: true },
        Principal { name: name("bob@example"), key: foreign(), own: false },
    ];
    assert_eq!(keys.list().unwrap(), expected);
}

#[test]
fn a_name_stands_for_one_key() {
    let scratch = Scratch::new();
    let keys = Keyring::open(scratch.path());
    keys.add(&name("ada"), [1; 32]).unwrap();
    keys.trust(&name("bob"), foreign()).unwrap();
    let before = keys.list().unwrap();
    for taken in ["ada", "bob"] {
        assert_eq!(keys.add(&name(taken), [2; 32]).unwrap_err().code(), Code::PrincipalExists);
        assert_eq!(keys.trust(&name(taken), foreign()).unwrap_err().code(), Code::PrincipalExists);
    }
    assert_eq!(keys.list().unwrap(), before);
}

#[test]
fn a_decision_is_signed_or_marked_as_asserted() {
    let scratch = Scratch::new();
    let keys = Keyring::open(scratch.path());
    let (tester, here) = (name("tester"), matter("m"));
    let asserted = keys.sign_decision(&tester, &here, decision()).unwrap();
    assert_eq!(asserted.draft().proof, Proof::SelfAsserted);
    let own = keys.add(&tester, [1; 32]).unwrap();
    let signed = keys.sign_decision(&tester, &here, decision()).unwrap();
    let Proof::Signed { key, signature } = signed.draft().proof else { panic!("it is signed") };
    assert_eq!(key, own);
    key.verify(&signed.decision(&here).unwrap(), &signature).unwrap();
    assert!(
        key.verify(&signed.decision(&matter("n")).unwrap(), &signature).is_err(),
        "the matter is signed too"
    );
    let other = keys.sign_decision(&name("ada"), &here, decision()).unwrap_err();
    assert!(matches!(other, Error::OtherActor { .. }), "nobody signs for another");
    // Of somebody who is only trusted the private key is elsewhere, so a decision here is not theirs.
    keys.trust(&name("bob"), foreign()).unwrap();
    let mut theirs = draft("run:1", "call.approved", "yes");
    theirs.actor = name("bob");
    let refused = keys.sign_decision(&name("bob"), &here, theirs.seal().unwrap()).unwrap_err();
    assert!(matches!(refused, Error::Elsewhere { .. }));
    assert_eq!(refused.code(), Code::PrincipalKey);
}

#[test]
fn anchors_are_signed_with_the_node_key() {
    let scratch = Scratch::new();
    let keys = Keyring::open(scratch.path());
    assert_eq!(keys.public_node_key().unwrap(), None);
    let at = Timestamp::try_from("2026-01-02T03:04:05Z").unwrap();
    let head = Head { seq: 7, hash: Digest::of(b"row") };
    let first = keys.anchor(&matter("m"), head, &at, [1; 32]).unwrap();
    let second = keys.anchor(&matter("m"), head, &at, [2; 32]).unwrap();
    assert_eq!(first, second, "the key is made once");
    assert_eq!(keys.public_node_key().unwrap(), Some(first.key));
    assert_eq!(mode(&scratch.path().join("keys/node.key")), 0o600);
    let text = countersign_record::canonical::to_bytes_of(&first).unwrap();
    assert_eq!(Anchor::read(&json::parse(&text).unwrap()).unwrap(), first);
}

#[test]
fn a_key_that_others_can_read_or_change_is_not_used() {
    let scratch = Scratch::new();
    let keys = Keyring::open(scratch.path());
    let tester = name("tester");
    keys.add(&tester, [1; 32]).unwrap();
    let file = scratch.path().join("keys/principals/tester.key");
    let good = fs::read(&file).unwrap();
    let refused = |what: &str| {
        for error in
            [keys.list().unwrap_err(), keys.sign_decision(&tester, &matter("m"), decision()).unwrap_err()]
        {
            assert_eq!(error.code(), Code::PrincipalKey, "{what}: {error}");
        }
    };
    for exposed in [0o640, 0o604, 0o620, 0o666, 0o610] {
        fs::set_permissions(&file, Permissions::from_mode(exposed)).unwrap();
        refused(&format!("mode {exposed:o}"));
    }
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let upper = String::from_utf8(good.clone()).unwrap().replace("01", "AB").into_bytes();
    let bad: [&[u8]; 6] =
        [b"", b"not a key\n", &good[..64], &[&good[..], b"x"].concat(), &upper, &[0xFF; 65]];
    for bytes in bad {
        fs::write(&file, bytes).unwrap();
        refused("bad content");
    }
    fs::write(&file, &good).unwrap();
    assert_eq!(keys.list().unwrap().len(), 1);
    fs::rename(&file, scratch.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(scratch.path().join("moved"), &file).unwrap();
    refused("a link");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused("a directory");
}

#[test]
fn a_public_half_of_another_key_is_told() {
    let scratch = Scratch::new();
    let keys = Keyring::open(scratch.path());
    keys.add(&name("ada"), [1; 32]).unwrap();
    fs::write(scratch.path().join("keys/principals/ada.pub"), format!("{}\n", foreign())).unwrap();
    assert!(matches!(keys.list().unwrap_err(), Error::Mismatch { .. }));
}
