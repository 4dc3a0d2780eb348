//! Packets of real runs: every example is run, its packet exported, verified, shown, and forged.
//! Owns: `packet` and `verify` as a user meets them. Must not: repeat what `countersign-verify` tries on packets of its own.

use crate::binary::{DATA, Work};
use countersign_testkit::forge::{Tally, file, forge, key, public, restated, statement, targets};
use countersign_verify::packet::{Content, Entry};
use countersign_verify::report::Outcome;
use countersign_verify::verify;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

const RUN: &str = "run_6c4952ec8b203d9f";
/// Hours of the day at which answers are given.
const HOURS: [&str; 5] = ["10", "11", "12", "13", "14"];
/// Every example.
const EXAMPLES: [&str; 6] =
    ["lease-memo", "vendor-claims", "notice-conflict", "incident-report", "parser-code", "audit-sample"];

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// An example that was run to its end; each question is answered with the first thing that can be chosen.
struct Ran(Work);

impl Ran {
    fn new(name: &str) -> Self {
        Ran::of(&example(name), |task| task)
    }

    /// The example with another task.
    fn of(folder: &PathBuf, change: impl Fn(String) -> String) -> Self {
        let work = Work::new();
        copied(folder, &work.path("task"));
        let task = std::fs::read_to_string(work.path("task/task.toml")).unwrap();
        work.write("task/task.toml", change(task));
        let mut said = work.run(&["run", "task", "--now", "2026-02-01T09:00:00Z", "--seed", "1"]);
        for hour in HOURS {
            let Some((_, answer)) = said.text().split_once("--id ") else { break };
            let mut words = answer.split_whitespace();
            let (id, choice) = (words.next().unwrap().to_owned(), words.nth(1).unwrap().to_owned());
            let at = format!("2026-02-01T{hour}:00:00Z");
            said = work.run(&["answer", RUN, "--id", &id, "--choose", &choice, "--now", &at]);
        }
        assert!(said.text().contains("next    countersign packet show"), "{}", said.text());
        Ran(work)
    }

    /// The file of its packet.
    fn exported(&self, more: &[&str]) -> Vec<u8> {
        let args =
            ["packet", "export", RUN, "--yes", "--now", "2026-02-01T18:00:00Z", "--out", "packet.json"];
        self.0.run(&[&args, more].concat()).good();
        std::fs::read(self.0.path("packet.json")).unwrap()
    }
}

fn copied(from: &PathBuf, to: &PathBuf) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A task whose bundle may leave: one example's may not.
fn let_out(task: String) -> String {
    task.replace("export_bundle = \"never\"", "export_bundle = \"confirm\"")
}

/// Each member that follows from others is changed in the packet of a real run, everything is chained and signed anew: it is found, and
/// the row is named.
#[test]
fn forged_packets_of_every_example_are_found_out() {
    let mut done = BTreeMap::new();
    let mut tally = Tally::default();
    // Runs wait for the disk most of the time.
    let packets = std::thread::scope(|scope| {
        let export = |name| move || Ran::of(&example(name), let_out).exported(&["--privileged"]);
        let running = EXAMPLES.map(|name| scope.spawn(export(name)));
        running.map(|one| one.join().unwrap())
    });
    // A member is changed where it stands first, and what is small is soon verified.
    let mut packets: Vec<(&str, Vec<u8>)> = EXAMPLES.into_iter().zip(packets).collect();
    packets.sort_by_key(|(_, whole)| whole.len());
    for (name, whole) in packets {
        let report = verify(&whole, &[]);
        assert_eq!(report.result, Outcome::Verified, "{name}: {:?}", report.failures);
        let statement = statement(&whole);
        tally = tally.and(forge(name, &statement, &targets(&statement, &mut done, 1), 1));
    }
    assert!(tally.tried > 700, "only {} were tried", tally.tried);
    tally.is_clean();
}

#[test]
fn a_changed_byte_of_a_real_packet_is_found_and_named() {
    let whole = Ran::new("parser-code").exported(&[]);
    for at in (0..whole.len()).step_by(whole.len() / 150) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        let report = verify(&changed, &[]);
        assert_eq!(report.result, Outcome::Failed, "byte {at}");
        let place = &report.failures[0].place;
        assert!(place.row.is_some() || place.path.is_some() || place.blob.is_some(), "byte {at}");
    }
}

/// Whether a row names another: only then their order says something, where both were written at once.
fn names(row: &Entry, other: &Entry) -> bool {
    let (Entry::Whole(row), Entry::Whole(other)) = (row, other) else { return false };
    let Some(kind) = other.kind.as_str().strip_prefix("govern.") else { return false };
    let text = countersign_record::json::to_text(&row.payload).unwrap();
    let members = other.payload.get("record").and_then(|record| record.as_object()).unwrap();
    let mut ids = members.iter().filter_map(|(_, value)| value.as_str());
    ids.any(|id| text.contains(&format!("\"{kind}:{id}\"")))
}

/// Rows are taken out, added, swapped, cut, told as somebody else's; formulas and matters are replaced.
#[test]
fn a_real_packet_can_not_be_rearranged() {
    let whole = Ran::new("vendor-claims").exported(&[]);
    let original = statement(&whole);
    let rows = &original.ledger.rows;
    let middle = rows.len() / 2;
    let fails = |what: &str, bytes: &[u8], code: &str| {
        let report = verify(bytes, &[]);
        assert_eq!(report.result, Outcome::Failed, "{what}");
        let codes: Vec<String> = report.failures.iter().map(|one| one.code.to_string()).collect();
        assert!(codes.iter().any(|one| one == code), "{what}: {codes:?}");
    };
    let chained = |change: &dyn Fn(&mut Vec<Entry>)| {
        let mut changed = rows.clone();
        change(&mut changed);
        file(&restated(&original, changed), &key(2))
    };
    for at in (0..rows.len()).step_by(rows.len() / 20) {
        let report = verify(&chained(&|rows| drop(rows.remove(at))), &[]);
        assert_eq!(report.result, Outcome::Failed, "row {at} taken out");
        let report = verify(&chained(&|rows| rows.insert(at, rows[at].clone())), &[]);
        assert_eq!(report.result, Outcome::Failed, "row {at} twice");
    }
    let named: Vec<usize> = (1..rows.len()).filter(|at| names(&rows[*at], &rows[at - 1])).collect();
    assert!(named.len() > 50, "{}", named.len());
    for at in named.into_iter().step_by(7) {
        let report = verify(&chained(&|rows| rows.swap(at - 1, at)), &[]);
        assert_eq!(report.result, Outcome::Failed, "{at} swapped with what it rests on and chained anew");
    }
    let with = |change: &dyn Fn(&mut countersign_verify::packet::Statement)| {
        let mut other = original.clone();
        change(&mut other);
        file(&other, &key(2))
    };
    fails("swapped", &with(&|one| one.ledger.rows.swap(middle, middle + 1)), "verify.chain");
    let cut = with(&|one| {
        one.ledger.rows.truncate(middle);
        one.ledger.head = one.ledger.rows.last().map(Entry::head).unwrap();
    });
    fails("cut", &cut, "verify.anchor");
    let hidden = with(&|one| {
        let head = one.ledger.rows[middle].head();
        one.ledger.rows[middle] = Entry::Withheld(head);
    });
    fails("a row told as somebody else's", &hidden, "verify.chain");
    fails(
        "another matter",
        &with(&|one| one.matter = "another".to_owned().try_into().unwrap()),
        "verify.row",
    );
    fails("another formula", &with(&|one| one.formulas[0].text.push(' ')), "verify.formula");
    let bytes = with(&|one| one.blobs[0].content = Content::Present(b"something else".to_vec()));
    fails("other bytes", &bytes, "verify.blob");
    // The same statement under another key is sound, and its signer unknown.
    assert_eq!(verify(&file(&original, &key(2)), &[]).result, Outcome::Verified);
    assert_eq!(verify(&file(&original, &key(2)), &[public(&key(3))]).result, Outcome::SignerUnknown);
}

/// Nothing but the file is needed; who signed is told, and is asked for where a key is trusted.
#[test]
fn a_packet_is_verified_elsewhere() {
    let ran = Ran::new("lease-memo");
    let whole = ran.exported(&[]);
    let elsewhere = Work::new();
    elsewhere.write("memo.packet.json", &whole);
    let report = elsewhere.run(&["verify", "memo.packet.json", "--json"]).good().json();
    assert_eq!(report["result"], "verified");
    assert_eq!(report["signatures"][0]["standing"], "unknown");
    let said = elsewhere.run(&["verify", "memo.packet.json"]).good();
    let first: Vec<&str> = said.text().lines().take(2).collect();
    assert_eq!(first[0], "✓ Everything in it follows from its records.");
    assert!(
        first[1].starts_with("? WHO signed it is not known: nobody here vouches for the key."),
        "{}",
        said.text()
    );
    let signer = report["signatures"][0]["key"].as_str().unwrap().to_owned();
    let said = elsewhere.run(&["verify", "memo.packet.json", "--trusted-key", &signer]).good();
    assert!(said.text().starts_with("✓ Verified: everything in it follows from its records, and a key"));
    assert!(said.text().contains("which you trust") && !said.text().contains("vouches"), "{}", said.text());
    elsewhere.write("ana.pub", format!("{}\n", public(&key(3))));
    let said = elsewhere.run(&["verify", "memo.packet.json", "--trusted-key", "ana.pub"]).exits(1);
    assert!(said.text().contains("verify.signer"), "{}", said.text());
    assert!(said.text().starts_with("? Signed by NOBODY whom you trust: "), "{}", said.text());
    assert!(!said.text().contains("NOT verified"), "{}", said.text());
    let said = elsewhere.run(&["verify", "memo.packet.json", "--trusted-key", "ana.pub", "--json"]);
    assert_eq!(said.exits(1).json()["result"], "signer_unknown");
    elsewhere.write("spoilt.json", &whole[..whole.len() / 2]);
    let refusal = elsewhere.run(&["verify", "spoilt.json"]).refused(2, "verify.file");
    assert_eq!(refusal.message.matches("envelope:").count(), 1, "{}", refusal.message);
    assert!(!elsewhere.path(DATA).exists(), "nothing is written where a packet is verified");
}

/// What is to be kept here must be in the packet: else nothing is written, and nothing is on record.
#[test]
fn what_is_not_there_is_not_withheld() {
    let ran = Ran::new("lease-memo");
    let rows = || ran.0.run(&["ledger", "rows", "--json"]).good().lines().len();
    let (before, digest) = (rows(), "0".repeat(64));
    let args = ["packet", "export", RUN, "--yes", "--out", "packet.json", "--withhold", &digest];
    let refusal = ran.0.run(&args).refused_silently(2, "field.invalid");
    assert!(refusal.message.contains(&digest), "{}", refusal.message);
    assert!(refusal.message.contains("packet show"), "{}", refusal.message);
    assert!(!ran.0.path("packet.json").exists());
    assert_eq!(rows(), before);
    let show = ran.0.run(&["packet", "show", RUN, "--json"]).json();
    let lease = show["sources"][0]["sha256"].as_str().unwrap_or_else(|| panic!("{show}")).to_owned();
    let report = verify(&ran.exported(&["--withhold", &lease]), &[]);
    assert_eq!(report.result, Outcome::VerifiedInPart, "{:?}", report.failures);
}

/// What is privileged stays here unless somebody says otherwise, and what may never leave does not.
#[test]
fn what_must_not_leave_stays() {
    let kept = Ran::new("audit-sample");
    let args = ["packet", "export", RUN, "--out", "packet.json"];
    kept.0.run(&args).refused_silently(1, "run.denied");
    assert!(!kept.0.path("packet.json").exists());
    // No source is held against the work paper, so that it is limited.
    kept.0.run(&["packet", "show", RUN]).exits(1);
    let ran = Ran::of(&example("audit-sample"), let_out);
    leaves_with_a_receipt(&ran.0);
    let part = ran.exported(&[]);
    let report = verify(&part, &[]);
    assert_eq!(report.result, Outcome::VerifiedInPart, "{:?}", report.failures);
    assert!(!report.withheld.is_empty());
    let source = std::fs::read_to_string(example("audit-sample").join("sources/expense-policy.md"));
    let needle = source.ok().and_then(|text| text.lines().find(|line| line.len() > 40).map(str::to_owned));
    if let Some(line) = needle {
        let text = String::from_utf8(part).unwrap();
        let is_privileged = report.withheld.iter().any(|one| one.reason.contains("privileged"));
        assert!(is_privileged && !text.contains(&line), "a privileged line left");
    }
}

/// A text that may never leave stays behind, with what was written from it; the packet goes without, and the receipt of each file names
/// what went along.
#[test]
fn a_packet_goes_without_what_is_local() {
    let local = |task: String| {
        let first = task.find("[[sources]]").unwrap() + "[[sources]]".len();
        task[..first].to_owned() + &task[first..].replacen("\"internal\"", "\"local_only\"", 1)
    };
    let ran = Ran::of(&example("notice-conflict"), local);
    let whole = ran.exported(&["--privileged", "--html", "page.html"]);
    let report = verify(&whole, &[]);
    assert_eq!(report.result, Outcome::VerifiedInPart, "{:?}", report.failures);
    assert!(report.withheld.iter().all(|one| one.reason == "it is local_only"), "{:?}", report.withheld);
    let kind = "govern.workspace_externalization_receipt";
    let left = ran.0.run(&["ledger", "rows", "--kind", kind, "--json"]).good().lines();
    let to: Vec<&Value> = left.iter().map(|one| &one["payload"]["record"]["destination_ref"]).collect();
    assert_eq!(to, ["file:packet.json", "file:page.html"]);
    let sources = ran.0.run(&["ledger", "rows", "--kind", "govern.source_record", "--json"]).good().lines();
    let is_local = |one: &&Value| one["payload"]["record"]["data_class"] == "local_only";
    let stays = sources.iter().find(is_local).unwrap()["payload"]["record"]["source_id"].as_str().unwrap();
    for one in &left {
        let along = one["payload"]["record"]["source_record_refs"].as_array().unwrap();
        assert!(!along.is_empty() && !along.contains(&json!(format!("src:{stays}"))), "{along:?}");
    }
    // What was exported before stands in the run, and is verified with it.
    ran.0.run(&["packet", "export", RUN, "--yes", "--out", "again.json"]).good();
    let again = std::fs::read(ran.0.path("again.json")).unwrap();
    let report = verify(&again, &[]);
    assert_eq!(report.result, Outcome::VerifiedInPart, "{:?}", report.failures);
    ran.0.run(&["lint", "--ledger"]).good();
}

/// Where a person is asked nothing leaves without their word, and what left is on record with who let it.
fn leaves_with_a_receipt(work: &Work) {
    let rows = || work.run(&["ledger", "summary", "--json"]).good().json()["rows"].as_u64().unwrap();
    let receipts = || {
        let kind = "govern.workspace_externalization_receipt";
        work.run(&["ledger", "rows", "--kind", kind, "--json"]).good().lines()
    };
    let (before, args) = (rows(), ["packet", "export", RUN, "--privileged", "--out", "first.json"]);
    let refusal = work.run(&args).refused_silently(1, "run.denied");
    assert!(refusal.message.contains("--yes"), "{}", refusal.message);
    assert!(!work.path("first.json").exists() && rows() == before && receipts().is_empty());
    let said = work.run(&[&args[..], &["--yes", "--as", "ben"]].concat()).good();
    assert!(said.text().contains("\nreceipt   run_"), "{}", said.text());
    let left = receipts();
    let record = &left[0]["payload"]["record"];
    assert_eq!((left.len(), &left[0]["actor"]), (1, &Value::from("ben")));
    assert_eq!(
        (&record["status"], &record["destination_ref"]),
        (&"completed".into(), &"file:first.json".into())
    );
    assert!(record["user_confirmation_ref"].is_string(), "{record}");
    // What is there is not written over, and nothing is said to have left.
    let refusal = work.run(&[&args[..], &["--yes"]].concat()).refused_silently(2, "file.unreadable");
    assert!(refusal.message.contains("it is there already"), "{}", refusal.message);
    assert_eq!(receipts().len(), 1);
    assert_eq!(verify(&std::fs::read(work.path("first.json")).unwrap(), &[]).result, Outcome::Verified);
}

#[test]
fn a_packet_is_shown_in_plain_words() {
    let ran = Ran::new("notice-conflict");
    let shown = ran.0.run(&["packet", "show", RUN, "--now", "2026-02-01T18:00:00Z"]).good();
    insta::assert_snapshot!("packet_show", hidden(shown.text()));
    let json = ran.0.run(&["packet", "show", RUN, "--json"]).good().json();
    let quotes =
        |claim: &Value| claim["places"].as_array().unwrap().iter().all(|one| one["quote"].is_string());
    assert_eq!(json["status"], "safe_to_rely_within_scope");
    assert!(json["claims"].as_array().unwrap().iter().all(quotes));
    assert_eq!(json["decisions"].as_array().unwrap().len(), 2);
    let whole = ran.exported(&[]);
    ran.0.write("copy.json", whole);
    let from_file = ran.0.run(&["packet", "show", "copy.json", "--json"]).good().json();
    assert_eq!((&from_file["claims"], &from_file["decisions"]), (&json["claims"], &json["decisions"]));
    Ran::new("vendor-claims").0.run(&["packet", "show", RUN]).exits(1);
    ran.0.run(&["packet", "show", "run_0000000000000000"]).refused_silently(1, "run.missing");
}

/// A task of which less is asked than it says: all that it takes is one who edits the contract and agrees to it.
fn lowered(work: &Work) -> Value {
    let task = std::fs::read_to_string(work.path("task/task.toml")).unwrap();
    let mut task: Value = toml::from_str(&task).unwrap();
    for outcome in task["outcomes"].as_array_mut().unwrap() {
        outcome["threshold"] = json!(0);
        for criterion in outcome["criteria"].as_array_mut().unwrap() {
            criterion["threshold"] = json!(0);
        }
    }
    task["outcomes"][3]["criteria"][0]["text"] = json!("The memo has a length.");
    task
}

/// Who changed what was asked, and who read and issued the packet, stands on every page of it: the work is held to a task that asks for
/// nothing, and nobody may take it for the one that was written.
#[test]
fn a_packet_says_who_changed_what_was_asked() {
    let work = Work::new();
    copied(&example("lease-memo"), &work.path("task"));
    let task = std::fs::read_to_string(work.path("task/task.toml")).unwrap();
    let task = task.replace("contract = \"waived\"", "contract = \"required\"");
    work.write("task/task.toml", task.replace("words_min = 120, words_max = 500", "words_min = 4000"));
    let at = |hour: u8, args: &[&str]| {
        let now = format!("2026-02-01T{hour:02}:00:00Z");
        work.run(&[args, &["--now", &now, "--seed", &hour.to_string()]].concat())
    };
    let command = |hour: u8, who: &str, id: &str, request: Value| {
        work.write("request.json", request.to_string());
        at(hour, &["command", "run", id, "--run", RUN, "--request", "request.json", "--as", who]).good();
    };
    let said = at(1, &["run", "task"]).exits(3);
    let (_, answer) = said.text().split_once("--id ").unwrap();
    let stop = answer.split_whitespace().next().unwrap();
    command(2, "ana", "contract_review.edit", json!({"task": lowered(&work)}));
    // The run goes on, and shows the contract as it is now.
    at(3, &["answer", RUN, "--id", stop, "--approve", "--as", "ana"]).exits(3);
    command(4, "ben", "contract_review.approve", json!({}));
    let told = at(5, &["runs", "resume", RUN]);
    assert!(told.text().contains("what was asked was changed by ana"), "{}", told.text());
    command(6, "ben", "reliance.review_packet", json!({"note": "read"}));
    command(7, "ben", "reliance.issue_work_product_certification", json!({}));
    let shown = at(8, &["packet", "show", RUN]);
    insta::assert_snapshot!("packet_show_changed", hidden(shown.text()));
    at(9, &["packet", "export", RUN, "--yes", "--out", "p.json", "--html", "p.html"]).good();
    work.run(&["verify", "p.json"]).good();
    let json = work.run(&["packet", "show", "p.json", "--json"]).json();
    let decided: Vec<(&str, &str)> = json["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["who"].as_str().unwrap(), one["command"].as_str().unwrap_or("answer")))
        .collect();
    let expected = [
        ("ana", "contract_review.edit"),
        ("ana", "answer"),
        ("ben", "contract_review.approve"),
        ("ben", "reliance.review_packet"),
        ("ben", "reliance.issue_work_product_certification"),
    ];
    assert_eq!(decided, expected);
    let length = &json["outcomes"][3]["criteria"][0];
    assert_eq!((&length["text"], &length["threshold"]), (&json!("The memo has a length."), &json!("0")));
    let page = std::fs::read_to_string(work.path("p.html")).unwrap();
    let (_, outcomes) = page.split_once("<h2 id=\"outcomes\">").unwrap();
    let changed = "<span class=\"tag bad\">changed by ana</span> threshold of “";
    assert_eq!(outcomes.matches(changed).count(), 15);
}

#[test]
fn the_page_of_a_packet_is_one_file() {
    let ran = Ran::new("lease-memo");
    let args = [
        "packet",
        "export",
        RUN,
        "--yes",
        "--now",
        "2026-02-01T18:00:00Z",
        "--out",
        "p.json",
        "--html",
        "p.html",
    ];
    ran.0.run(&args).good();
    let page = std::fs::read_to_string(ran.0.path("p.html")).unwrap();
    insta::assert_snapshot!("packet_page", hidden(&page));
    for never in
        ["<script", "http://", "https://", "javascript:", "<link", "<img", "<iframe", "url(", "@import"]
    {
        assert!(!page.contains(never), "{never}");
    }
    let digest = countersign_record::digest::Digest::of(&std::fs::read(ran.0.path("p.json")).unwrap());
    assert!(page.contains(&digest.to_string()), "the page names the file");
    // Alone, the page carries the file.
    ran.0.run(&["packet", "export", RUN, "--yes", "--html", "alone.html"]).good();
    let page = std::fs::read_to_string(ran.0.path("alone.html")).unwrap();
    let (_, carried) = page.split_once("<pre class=\"envelope\">").unwrap();
    let (carried, _) = carried.split_once("</pre>").unwrap();
    let carried = carried.replace("&quot;", "\"").replace("&#39;", "'");
    let carried = carried.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    assert_eq!(verify(carried.as_bytes(), &[]).result, Outcome::Verified);
}

/// A text without what differs from export to export: keys, and the hashes of what they signed.
fn hidden(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines() {
        let is_own =
            ["<dt>Statement", "<dt>File of", "<dt>Signed with"].iter().any(|name| line.contains(name));
        let line = match line.split_once("<code>").filter(|_| is_own) {
            Some((head, _)) => format!("{head}<code>…</code></dd></div>"),
            None => line.to_owned(),
        };
        shown.push_str(line.trim_end());
        shown.push('\n');
    }
    shown
}
