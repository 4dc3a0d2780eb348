//! `countersign doctor`: what it says of a data directory, and that it writes nowhere else.

use crate::binary::{DATA, Done, Reachable, Work, contents};
use serde_json::Value;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// The check of this name.
fn check(diagnosis: &Value, name: &str) -> Value {
    let checks = diagnosis["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).expect(name).clone()
}

fn found(diagnosis: &Value, name: &str) -> String {
    check(diagnosis, name)["found"].as_str().unwrap().to_owned()
}

/// When anything was last made or removed in a directory.
fn changed(work: &Work, name: &str) -> (i64, i64) {
    let about = std::fs::metadata(work.path(name)).unwrap();
    (about.mtime(), about.mtime_nsec())
}

#[test]
fn one_is_one() {
    let work = Work::new();
    let row = "{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1}\n";
    for (name, rows, keys) in [
        ("ana", "matter default: 1 row", "1 principal can sign"),
        ("ben", "matter default: 2 rows", "2 principals can sign"),
    ] {
        work.append(row);
        work.run(&["principal", "add", name]).good();
        let diagnosis = work.run(&["doctor", "--json"]).good().json();
        assert_eq!((found(&diagnosis, "ledger").as_str(), found(&diagnosis, "keys").as_str()), (rows, keys));
        assert!(found(&diagnosis, "durable writes").ends_with(" a second of 4 KiB each"));
    }
}

#[test]
fn a_data_directory_that_is_none() {
    let work = Work::new();
    std::fs::create_dir(work.path("dir")).unwrap();
    work.write("dir/file", b"mine");
    std::os::unix::fs::symlink("nowhere", work.path("dir/dangling")).unwrap();
    let before = (changed(&work, "."), changed(&work, "dir"));
    for (data, blocking) in [
        ("dir/file", "dir/file"),
        ("dir/file/", "dir/file"),
        ("dir/file/deeper", "dir/file"),
        ("dir/dangling", "dir/dangling"),
        ("dir/dangling/deeper", "dir/dangling"),
    ] {
        let diagnosis = work.run(&["doctor", "--json", "--data", data]).exits(1).json();
        for name in ["data directory", "durable writes", "ledger", "keys"] {
            let check = check(&diagnosis, name);
            let said = check["found"].as_str().unwrap();
            assert!(said.ends_with(&format!("{blocking} is no directory")), "{data}: {check}");
            assert_eq!(check["verdict"], "failed", "{data}: {check}");
            assert_eq!(check["fix"], "name a directory with --data", "{data}: {check}");
        }
        // Keys stay in --data where ledgers are elsewhere.
        let store = format!("sqlite:{data}");
        let diagnosis = work.run(&["doctor", "--json", "--store", &store]).exits(1).json();
        for name in ["store directory", "durable writes", "ledger"] {
            let check = check(&diagnosis, name);
            assert_eq!(check["fix"], "name a directory with --store", "{data}: {check}");
        }
        assert_eq!(check(&diagnosis, "keys")["verdict"], "limited");
        assert_eq!((changed(&work, "."), changed(&work, "dir")), before, "{data}: a probe was written");
    }
    assert_eq!(std::fs::read(work.path("dir/file")).unwrap(), b"mine");
}

#[test]
fn a_data_directory_that_is_not_there_yet() {
    let work = Work::new();
    let before = changed(&work, ".");
    for data in [DATA, "deep/in/nothing"] {
        let diagnosis = work.run(&["doctor", "--json", "--data", data]).good().json();
        assert!(found(&diagnosis, "data directory").contains("can be made"), "{diagnosis}");
        let durable = check(&diagnosis, "durable writes");
        assert_eq!(durable["verdict"], "limited", "{durable}");
    }
    assert_eq!(changed(&work, "."), before, "a probe was written");
    // Nor is it promised where it can't be made.
    std::fs::set_permissions(work.path("."), PermissionsExt::from_mode(0o555)).unwrap();
    let reachable = Reachable::new();
    let mut command = work.as_nobody(&reachable, &["doctor", "--json"]);
    let diagnosis = Done::new(&[], command.output().unwrap()).exits(1).json();
    assert_eq!(check(&diagnosis, "data directory")["verdict"], "failed", "{diagnosis}");
    std::fs::set_permissions(work.path("."), PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn keys_that_can_not_be_read_get_a_fix_that_helps() {
    let work = Work::new();
    std::fs::create_dir(work.path(DATA)).unwrap();
    work.write("data/keys", b"mine");
    let before = contents(&work.path(DATA));
    let diagnosis = work.run(&["doctor", "--json"]).exits(1).json();
    let keys = check(&diagnosis, "keys");
    assert!(!keys["fix"].as_str().unwrap().contains("0600"), "{keys}");
    assert_eq!(contents(&work.path(DATA)), before);
    // A key that others can read is told as it was.
    std::fs::remove_file(work.path("data/keys")).unwrap();
    work.run(&["principal", "add", "ana"]).good();
    let key = work.path("data/keys/principals/ana.key");
    std::fs::set_permissions(key, PermissionsExt::from_mode(0o644)).unwrap();
    let diagnosis = work.run(&["doctor", "--json"]).exits(1).json();
    assert!(check(&diagnosis, "keys")["fix"].as_str().unwrap().contains("0600"), "{diagnosis}");
}

#[test]
fn models_that_could_not_be_asked_are_named() {
    let work = Work::new();
    let add = |name: &str, args: &[&str]| {
        work.run(&[&["models", "add", name, "--provider"], args].concat()).good();
    };
    add("well", &["openai", "--model", "m"]);
    let models = || check(&work.run(&["doctor", "--json"]).good().json(), "models");
    assert_eq!(models()["verdict"], "ok");
    assert_eq!(models()["found"], "extractive, and 1 more set up");
    work.write("key", "sk-canary-1\n");
    std::os::unix::fs::symlink("key", work.path("link")).unwrap();
    add("linked", &["anthropic", "--model", "m", "--key-file", "link"]);
    add("tape", &["recorded", "--file", "tape.jsonl"]);
    add("unset", &["openai", "--model", "m", "--key-env", "CANARY_KEY"]);
    work.write("data/models/broken.json", "{}");
    std::fs::set_permissions(work.path("data/models/broken.json"), PermissionsExt::from_mode(0o600)).unwrap();
    let told = models();
    assert_eq!(told["verdict"], "limited", "{told}");
    assert_eq!(told["found"], "extractive, and 5 more set up, 4 of which can't be asked");
    let diagnosis = work.run(&["doctor", "--json"]).good().json();
    let each: Vec<&Value> =
        diagnosis["checks"].as_array().unwrap().iter().filter(|check| check["name"] == "model").collect();
    let expected = [
        ("broken can't be asked: ", "models add"),
        ("linked can't be asked: the key file ", "its owner alone"),
        ("tape can't be asked: the recorded replies ", "models add"),
        ("unset can't be asked: the environment variable CANARY_KEY ", "Set the variable"),
    ];
    assert_eq!(each.len(), expected.len(), "{each:?}");
    for (check, (found, fix)) in each.into_iter().zip(expected) {
        assert_eq!(check["verdict"], "limited", "{check}");
        assert!(check["found"].as_str().unwrap().starts_with(found), "{check}");
        assert!(check["fix"].as_str().unwrap().contains(fix), "{check}");
    }
    let text = work.run(&["doctor"]).good();
    assert!(text.text().contains("limited  model            unset can't be asked"), "{}", text.text());
    assert!(!text.text().contains("sk-canary"), "{}", text.text());
}
