//! `countersign conformance`: the codes and the kinds that it runs, and what it says of one that misses.

use crate::binary::Work;
use serde_json::Value;
use std::path::Path;

const NOW: &str = "2026-03-02T12:00:00Z";

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

/// The fixtures of the kinds, copied into a folder of the work.
fn copied(work: &Work) {
    for kind in std::fs::read_dir(fixtures().join("kinds")).unwrap().map(|entry| entry.unwrap()) {
        let folder = format!("mine/kinds/{}", kind.file_name().to_str().unwrap());
        std::fs::create_dir_all(work.path(&folder)).unwrap();
        for file in std::fs::read_dir(kind.path()).unwrap().map(|entry| entry.unwrap()) {
            let name = format!("{folder}/{}", file.file_name().to_str().unwrap());
            work.write(&name, std::fs::read(file.path()).unwrap());
        }
    }
}

#[test]
fn codes_and_kinds_are_covered() {
    let work = Work::new();
    let done = work.run(&["conformance", "--json", "--now", NOW]).good().json();
    assert_eq!((&done["codes"], &done["covered"]), (&Value::from(213), &Value::from(213)));
    assert_eq!(done["misses"], Value::from(Vec::<Value>::new()));
    let kinds = done["kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 20);
    assert!(kinds.iter().all(|kind| kind["covered"] == true), "{kinds:?}");
    let runs = done["runs"].as_array().unwrap();
    let count = |name: &str| kinds.iter().map(|kind| kind[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(runs.len() as u64, count("negative") + count("positive"));
    assert!(runs.iter().all(|run| run["passed"] == true && run["created_at"] == NOW), "{runs:?}");
    let text = work.run(&["conformance"]).good();
    let last = "213 of 213 codes fire where they must and nowhere else\n\
                20 of 20 kinds fire where they must and have a legal twin\n";
    assert!(text.text().ends_with(last), "{}", text.text());
}

#[test]
fn an_area_is_run_alone() {
    let work = Work::new();
    let done = work.run(&["conformance", "--json", "--area", "taint"]).good().json();
    assert_eq!(done["areas"].as_array().unwrap().len(), 1);
    assert_eq!((&done["kinds"], &done["runs"]), (&Value::from(Vec::<Value>::new()), &done["misses"]));
    let text = work.run(&["conformance", "--area", "kinds"]).good();
    assert_eq!(text.text(), "20 of 20 kinds fire where they must and have a legal twin\n");
    work.run(&["conformance", "--area", "nowhere"]).refused(2, "usage.invalid");
}

#[test]
fn what_misses_is_told() {
    let work = Work::new();
    copied(&work);
    let args = ["conformance", "--json", "--dir", "mine", "--area", "kinds"];
    work.run(&args).good();
    // What must fire is legal, and what must be legal is not there.
    let twin = "mine/kinds/hard_call_empty_options/legal.json";
    let legal: Value = serde_json::from_slice(&std::fs::read(work.path(twin)).unwrap()).unwrap();
    let place = "mine/kinds/hard_call_empty_options/a.json";
    let mut fires: Value = serde_json::from_slice(&std::fs::read(work.path(place)).unwrap()).unwrap();
    fires["rows"] = legal["rows"].clone();
    work.write(place, fires.to_string());
    std::fs::remove_file(work.path(twin)).unwrap();
    let done = work.run(&args).exits(1).json();
    let misses: Vec<(&str, &str)> = done["misses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|miss| (miss["fixture"].as_str().unwrap(), miss["why"].as_str().unwrap()))
        .collect();
    let expected = "fires nothing and not validation.hard_call_options_empty";
    assert_eq!(
        misses,
        [("hard_call_empty_options.a", expected), ("hard_call_empty_options.legal", "there is no fixture")]
    );
    let covered = done["kinds"].as_array().unwrap().iter().filter(|kind| kind["covered"] == true).count();
    assert_eq!(covered, 19);
    let failed = done["runs"].as_array().unwrap().iter().filter(|run| run["passed"] == false).count();
    assert_eq!(failed, 1);
}

/// The contract names the scenarios of a kind: one that is left out is told, also where another of the kind is there.
#[test]
fn every_scenario_of_a_kind_is_asked_for() {
    let work = Work::new();
    copied(&work);
    let left_out =
        ["finding_event_projection.b", "finding_event_projection.c", "regenerate_identical_output.b"];
    for id in left_out {
        let (kind, scenario) = id.split_once('.').unwrap();
        std::fs::remove_file(work.path(&format!("mine/kinds/{kind}/{scenario}.json"))).unwrap();
    }
    // A copy of another one does not stand for it.
    let folder = "mine/kinds/finding_event_projection";
    std::fs::copy(work.path(&format!("{folder}/a.json")), work.path(&format!("{folder}/b.json"))).unwrap();
    let args = ["conformance", "--json", "--dir", "mine", "--area", "kinds"];
    let done = work.run(&args).exits(1).json();
    let misses: Vec<(&str, &str)> = done["misses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|miss| (miss["fixture"].as_str().unwrap(), miss["why"].as_str().unwrap()))
        .collect();
    assert_eq!(misses, left_out.map(|id| (id, "there is no fixture")));
    let text = work.run(&["conformance", "--dir", "mine", "--area", "kinds"]).exits(1);
    assert!(
        text.text().ends_with("18 of 20 kinds fire where they must and have a legal twin\n"),
        "{}",
        text.text()
    );
}

#[test]
fn a_folder_that_is_none_is_told() {
    let work = Work::new();
    work.run(&["conformance", "--dir", "nowhere"]).refused(2, "file.unreadable");
    work.write("file", "{}");
    work.run(&["conformance", "--dir", "file"]).refused(2, "file.unreadable");
    std::fs::create_dir_all(work.path("empty")).unwrap();
    let done = work.run(&["conformance", "--json", "--dir", "empty"]).exits(1).json();
    assert_eq!((&done["codes"], &done["covered"]), (&Value::from(213), &Value::from(0)));
}

/// What can't be read, and what would be passed over, is named.
#[test]
fn a_broken_file_and_a_folder_of_no_code_are_named() {
    let work = Work::new();
    copied(&work);
    let broken = "mine/kinds/hard_call_empty_options/legal.json";
    work.write(broken, "{");
    let refusal = work.run(&["conformance", "--dir", "mine", "--area", "kinds"]).refused(2, "json.truncated");
    assert_eq!(refusal.details["file"], broken);
    std::fs::create_dir_all(work.path("other/taint/no_such_code")).unwrap();
    let refusal = work.run(&["conformance", "--dir", "other"]).refused(2, "usage.invalid");
    assert_eq!(refusal.details["file"], "other/taint/no_such_code");
    std::fs::create_dir_all(work.path("third/nowhere")).unwrap();
    let refusal = work.run(&["conformance", "--dir", "third"]).refused(2, "usage.invalid");
    assert_eq!(refusal.details["file"], "third/nowhere");
    // So is a file beside the fixtures of a code; a hidden one is somebody else's.
    let folder = "fourth/hard_calls/hard_call_options_empty";
    std::fs::create_dir_all(work.path(folder)).unwrap();
    work.write(&format!("{folder}/.hidden"), "");
    work.run(&["conformance", "--dir", "fourth"]).exits(1);
    work.write(&format!("{folder}/fire.json"), "{}");
    let refusal = work.run(&["conformance", "--dir", "fourth"]).refused(2, "usage.invalid");
    assert_eq!(refusal.details["file"], format!("{folder}/fire.json").as_str());
}
