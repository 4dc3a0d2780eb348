//! What keeps somebody from relying on a work product, as a user meets it.
//! Owns: tasks that are left out in part, not insisted on, overspent, changed behind the packet. Must not: repeat what the rules of
//! `countersign-work` are tried on.

use crate::binary::Work;
use crate::examples::Example;
use serde_json::{Value, json};

/// A ledger that lints clean, a packet that verifies elsewhere, and a replay that comes to the same.
fn is_sound(example: &Example) {
    let lint = example.work.run(&["lint", "--ledger", "--json"]).good().json();
    assert_eq!(lint["codes"], json!([]));
    let out = ["packet", "export", &example.run, "--yes", "--out", "packet.json"];
    example.at(20, "ana", &out).good();
    let report = example.work.run(&["verify", "packet.json", "--data", "nowhere", "--json"]).good().json();
    assert_eq!(report["result"], "verified", "{report}");
    example.at(21, "ana", &["replay", &example.run]).good();
}

#[test]
fn what_must_be_met_is_not_left_out_quietly() {
    let example = Example::run("notice-conflict", 3);
    let id = example.told["question"]["id"].as_str().unwrap();
    let skip = |outcome: &str| {
        let target = format!("outcome_record:{}.{outcome}", example.run);
        let request = json!({"target_ref": target, "reason": "policy_blocked"}).to_string();
        example.command(10, "ana", "task.skip", &request)
    };
    for (evaluated, words) in [
        ("laufzeit-genannt", "laufzeit-genannt has been evaluated"),
        ("frist-geklaert", "frist-geklaert has been evaluated: answer what is asked about it"),
    ] {
        let refusal = skip(evaluated).refused_silently(1, "command.state");
        assert!(refusal.message.contains(words), "{refusal:?}");
    }
    skip("vermerk-vollstaendig").good();
    let receipts = example.records("task_skip_receipt");
    assert_eq!(receipts.len(), 1, "{receipts:?}");
    assert_eq!(
        (&receipts[0]["reason"], &receipts[0]["downstream_effect"]),
        (&json!("policy_blocked"), &json!("none"))
    );
    let args = ["answer", &example.run, "--id", id, "--choose", "prefer-rahmenvertrag"];
    let done = example.at(11, "ana", &args).exits(1);
    assert!(done.text().starts_with("Not safe to rely on.\n"), "{}", done.text());
    assert!(done.text().contains("✗ vermerk-vollstaendig (Left out)"), "{}", done.text());
    let refusal = skip("vermerk-vollstaendig").refused_silently(1, "command.state");
    assert!(refusal.message.contains("the run has ended"), "{refusal:?}");
    is_sound(&example);
}

/// A task of one source and one work product, which comes from a file or from recorded replies.
const TASK: &str = r#"schema_version = "1.0"
id = "small"
title = "Small"
goal = "Say what the rent is."
$WORK
[[artifacts]]
id = "work"
$ARTIFACT

[[sources]]
id = "lease"
path = "lease.md"
kind = "document"
trust_basis = "user_supplied"
verified_by = "ana"
tier = 2
$SOURCE

$OUTCOMES
"#;
const LEASE: &str =
    "The rent of the warehouse is 900 euros a month, and SECRETWORD says that it is too much.\n";
const MEMO: &str = "path = \"memo.md\"\nkind = \"markdown\"\n\
    sections = [{ id = \"rent\", heading = \"Rent\", ask = \"What is the rent of the warehouse?\", quotes = 1 }]";
const CODE: &str = "path = \"say.py\"\nkind = \"code\"\ncodespec = \"builtin:python\"\nlanguage = \"python\"\n\
    filename = \"say.py\"";
const REPLY: &str = "~~~python\n\"\"\"Say.\"\"\"\nimport logging\nlog = logging.getLogger(__name__)\n\n\ndef f() -> str:\n    \
    \"\"\"Say.\"\"\"\n    log.debug(\"f\")\n    return 'SECRETWORD counsel thinks it is weak'\n~~~";
const GROUNDED: &str = "[[outcomes]]\nid = \"grounded\"\nstatement = \"It stands.\"\n\n[[outcomes.criteria]]\nid = \"g\"\n\
    text = \"Every sentence stands in a source.\"\nbasis = \"source_grounded\"\nrequired = true\nthreshold = 1.0\n";
const DEFINES: &str = "[[outcomes]]\nid = \"defines\"\nstatement = \"It defines something.\"\n\n[[outcomes.criteria]]\n\
    id = \"d\"\ntext = \"There is a function.\"\nbasis = \"deterministic_check\"\nrequired = true\n\
    check = { kind = \"matches\", pattern = \"def\" }\n";

/// Runs a small task, as ana; the parts of it in their order.
fn ran([work, artifact, source, outcomes]: [&str; 4], exit: i32) -> Example {
    let task = TASK.replace("$WORK", work).replace("$ARTIFACT", artifact);
    let task = task.replace("$SOURCE", source).replace("$OUTCOMES", outcomes);
    let place = Work::new();
    std::fs::create_dir(place.path("task")).unwrap();
    place.write("task/task.toml", task);
    place.write("task/lease.md", LEASE);
    let reply = json!({ "text": REPLY, "input_tokens": 50, "output_tokens": 100_000 });
    place.write("task/replies.jsonl", reply.to_string() + "\n");
    let args = ["run", "task", "--now", "2026-02-01T09:00:00Z", "--seed", "1", "--as", "ana", "--json"];
    let told = place.run(&args).exits(exit).json();
    let run = told["run"].as_str().unwrap().to_owned();
    Example { work: place, run, told }
}

/// What leaves without `--privileged`: the file and the page.
fn left(example: &Example) -> String {
    is_sound_in_part(example);
    let page = ["packet", "export", &example.run, "--yes", "--html", "page.html"];
    example.at(22, "ana", &page).good();
    let read = |name: &str| std::fs::read_to_string(example.work.path(name)).unwrap();
    read("packet.json") + &read("page.html")
}

/// As `is_sound`, of a packet whose texts stay behind in part.
fn is_sound_in_part(example: &Example) {
    let lint = example.work.run(&["lint", "--ledger", "--json"]).good().json();
    assert_eq!(lint["codes"], json!([]));
    let out = ["packet", "export", &example.run, "--yes", "--out", "packet.json"];
    example.at(18, "ana", &out).good();
    let report = example.work.run(&["verify", "packet.json", "--data", "nowhere", "--json"]).good().json();
    assert_eq!(report["result"], "verified_in_part", "{report}");
    example.at(21, "ana", &["replay", &example.run]).good();
}

/// How the last packet is labelled.
fn label(example: &Example) -> [Value; 2] {
    let packet = example.records("task_reliance_packet").pop().unwrap();
    [packet["data_class"].clone(), packet["privileged"].clone()]
}

#[test]
fn code_that_is_written_from_what_is_privileged_is_privileged() {
    let source = "data_class = \"privileged\"\nprivileged = true";
    let example = ran(["[work]\nreplies = \"replies.jsonl\"\n", CODE, source, DEFINES], 0);
    assert_eq!(label(&example), [json!("privileged"), json!(true)]);
    assert!(!left(&example).contains("SECRETWORD"), "neither the work nor the replies leave");
}

#[test]
fn what_is_called_privileged_stays_here_whatever_its_class_is_called() {
    for source in ["privileged = true", "privileged = true\ndata_class = \"public\""] {
        let example = ran(["", MEMO, source, GROUNDED], 0);
        assert_eq!(label(&example), [json!("privileged"), json!(true)], "{source}");
        assert!(!left(&example).contains("SECRETWORD"), "{source}");
    }
}

/// An outcome that nothing meets, and that the work need not meet.
const OPTION: &str = "[[outcomes]]\nid = \"boat\"\nstatement = \"The memo names the boat.\"\nrequired = false\n\n\
    [[outcomes.criteria]]\nid = \"named\"\ntext = \"A boat is named.\"\nbasis = \"deterministic_check\"\n$REQUIRED\
    check = { kind = \"mentions\", all = [\"boat\"] }\n";

#[test]
fn what_need_not_be_met_limits_and_no_more() {
    // With a required criterion the outcome fails and nothing mends it; without one evaluator and judge differ.
    let ways: [(&str, &[&str]); 2] = [("required = true\n", &["stop"]), ("", &["stop"])];
    for (required, choices) in ways {
        let outcomes = format!("{GROUNDED}\n{}", OPTION.replace("$REQUIRED", required));
        let mut example = ran(["", MEMO, "", &outcomes], 3);
        for (hour, choice) in (10..).zip(choices) {
            let id = example.told["question"]["id"].as_str().unwrap().to_owned();
            let args = ["answer", &example.run, "--id", &id, "--choose", choice, "--json"];
            example.told = example.at(hour, "ana", &args).exits(1).json();
        }
        let shown = example.work.run(&["packet", "show", &example.run]).exits(1);
        let text = shown.text();
        assert!(
            text.contains("Can be relied on with the limitations that are listed."),
            "{choices:?}: {text}"
        );
        let health = example.work.run(&["health", &example.run]).good();
        assert!(health.text().contains("it need not be met"), "{}", health.text());
        is_sound(&example);
    }
}

#[test]
fn what_was_spent_beyond_the_budget_is_told_and_limits() {
    let work = "[work]\nreplies = \"replies.jsonl\"\n\n[budget]\noutput_tokens = 50000\n";
    let example = ran([work, CODE, "", DEFINES], 1);
    let shown = example.work.run(&["packet", "show", &example.run]).exits(1);
    for words in ["Can be relied on with the limitations", "see the outcomes and the budget"] {
        assert!(shown.text().contains(words), "{}", shown.text());
    }
    let told = example.records("budget_narrative").pop().unwrap();
    let words = "That is beyond the budget by 50000 output tokens.";
    assert!(told["summary"].as_str().unwrap().ends_with(words), "{told}");
    is_sound(&example);
}

#[test]
fn a_cap_that_nothing_holds_is_refused() {
    let place = Work::new();
    std::fs::create_dir(place.path("task")).unwrap();
    let task = TASK.replace("$WORK", "[budget]\nwall_clock_ms = 0\n").replace("$ARTIFACT", MEMO);
    place.write("task/task.toml", task.replace("$SOURCE", "").replace("$OUTCOMES", GROUNDED));
    place.write("task/lease.md", LEASE);
    for command in [&["task", "check", "task"][..], &["run", "task"]] {
        let refusal = place.run(command).refused_silently(2, "task.invalid");
        assert!(refusal.message.contains("nothing is held back for it"), "{refusal:?}");
    }
}

/// How a packet is shown, and what is said of the files of its sources.
fn shown(example: &Example, exit: i32) -> (String, serde_json::Value) {
    let args = ["packet", "show", &example.run];
    let text = example.at(12, "ana", &args).exits(exit).text().to_owned();
    let files = example.at(12, "ana", &[&args[..], &["--json"]].concat()).exits(exit).json();
    (text, files["files"].clone())
}

#[test]
fn a_source_that_changed_behind_the_packet_is_seen_where_it_is_shown() {
    let example = ran(["", MEMO, "", GROUNDED], 0);
    let (text, files) = shown(&example, 0);
    assert!(!text.contains("Sources have changed"), "{text}");
    assert_eq!(files, json!({"looked_at": true, "changed": []}));
    example.work.write("task/lease.md", LEASE.replace("900", "950"));
    let (text, files) = shown(&example, 1);
    assert!(text.contains("Sources have changed since this packet was made (lease.md)."), "{text}");
    assert!(text.contains(&format!("source.recheck --run {}", example.run)), "{text}");
    assert_eq!(files, json!({"looked_at": true, "changed": ["lease.md"]}));
    let out = ["packet", "export", &example.run, "--yes", "--out", "changed.json"];
    let done = example.at(13, "ana", &out).good();
    let words = "! Sources have changed since the packet was made (lease.md).";
    assert!(done.text().starts_with(words), "{}", done.text());
    // Once that is on record and the packet renewed, it says so itself.
    for (hour, command) in [(14, "source.recheck"), (15, "reliance.renew_packet")] {
        example.at(hour, "ana", &["command", "run", command, "--run", &example.run]).good();
    }
    let renewed = example.at(16, "ana", &["packet", "show", &example.run]).exits(1);
    assert!(!renewed.text().contains("Sources have changed"), "{}", renewed.text());
    // What was another one in between stays out of date, and what helps is told.
    example.work.write("task/lease.md", LEASE);
    let again = example.at(17, "ana", &["command", "run", "source.recheck", "--run", &example.run]).good();
    assert!(again.text().contains("out of date lease.md"), "{}", again.text());
    assert!(again.text().contains("begin another run of its task"), "{}", again.text());
}

#[test]
fn what_nobody_can_look_at_is_told() {
    let example = ran(["", MEMO, "", GROUNDED], 0);
    std::fs::remove_dir_all(example.work.path("task")).unwrap();
    let (text, files) = shown(&example, 0);
    assert!(text.contains("nobody has looked whether the sources are still the same"), "{text}");
    assert_eq!(files, json!({"looked_at": false, "changed": []}));
}

#[test]
fn a_packet_that_fell_is_not_called_forged() {
    let example = Example::run("vendor-claims", 1);
    let finding = example.records("evaluation_finding_event")[0]["finding_id"].clone();
    let request = json!({ "finding_id": finding }).to_string();
    example.command(10, "ben", "finding.confirm", &request).good();
    let out = ["packet", "export", &example.run, "--yes", "--out", "packet.json"];
    let done = example.at(11, "ana", &out).good();
    assert!(
        done.text().starts_with("! The packet no longer holds: what was found about the work"),
        "{}",
        done.text()
    );
    let verify = |more: &[&str]| {
        example.work.run(&[&["verify", "packet.json", "--data", "nowhere"][..], more].concat()).exits(1)
    };
    let said = verify(&[]);
    assert!(said.text().starts_with("! Sound, and no longer to be relied on:"), "{}", said.text());
    assert!(!said.text().contains("NOT verified"), "{}", said.text());
    let report = verify(&["--json"]).json();
    assert_eq!((&report["result"], &report["failures"]), (&json!("fallen"), &json!([])), "{report}");
}

/// Who decides on the contract by a command answers the run that waits for it.
#[test]
fn a_contract_is_agreed_to_by_its_command() {
    let task = TASK
        .replace("$WORK", "[policies]\napproval = { contract = \"required\" }")
        .replace("$ARTIFACT", MEMO);
    for (command, request, words) in [
        ("contract_review.approve", "{}", "Safe to rely on within its scope."),
        ("contract_review.reject", r#"{"reason":"too dear"}"#, ""),
    ] {
        let place = Work::new();
        std::fs::create_dir(place.path("task")).unwrap();
        place.write("task/task.toml", task.replace("$SOURCE", "").replace("$OUTCOMES", GROUNDED));
        place.write("task/lease.md", LEASE);
        let args = ["run", "task", "--now", "2026-02-01T09:00:00Z", "--seed", "1", "--as", "ana", "--json"];
        let told = place.run(&args).json();
        let example = Example { run: told["run"].as_str().unwrap().to_owned(), work: place, told };
        example.command(10, "ana", command, request).good();
        let listed = example.at(11, "ana", &["runs", "list"]).good();
        assert!(!listed.text().contains("waits"), "{}", listed.text());
        if !words.is_empty() {
            let done = example.at(12, "ana", &["runs", "resume", &example.run]).good();
            assert!(done.text().starts_with(words), "{}", done.text());
            is_sound(&example);
        }
    }
}

/// A packet is about the bytes of its work, and says so where the file is another one.
#[test]
fn work_that_was_changed_behind_its_packet_is_told() {
    let example = ran(["", MEMO, "", GROUNDED], 0);
    let path = example.told["products"][0]["path"].as_str().unwrap().to_owned();
    example.at(10, "ana", &["packet", "show", &example.run]).good();
    example.work.write(&path, "The rent of the warehouse is 9 euros a month.\n");
    let shown = example.at(10, "ana", &["packet", "show", &example.run]).exits(1);
    assert!(shown.text().contains("memo.md has been changed: the"), "{}", shown.text());
    let shown = example.at(10, "ana", &["packet", "show", &example.run, "--json"]).exits(1).json();
    assert_eq!(shown["work_changed"], json!([path]));
}

/// What could not be written has not left, however often it is asked for under the same key.
#[test]
fn an_export_that_failed_stays_one() {
    let example = ran(["", MEMO, "", GROUNDED], 0);
    let request = json!({"destination": "nowhere/evidence.json", "confirmed": true}).to_string();
    let ask = |hour: u8| example.keyed(hour, "ana", ("evidence.export_package", &request), &["--key", "k"]);
    ask(10).refused_silently(2, "file.unreadable");
    let refusal = ask(11).refused_silently(1, "command.state");
    assert!(refusal.message.contains("could not be written: give it another key"), "{refusal:?}");
}

#[test]
fn a_cap_is_not_taken_away_by_naming_none() {
    let work = Work::new();
    work.run(&["budget", "cap"]).refused(2, "usage.invalid");
    work.run(&["budget", "cap", "--none", "--calls", "5"]).refused(2, "usage.invalid");
    work.run(&["budget", "cap", "--calls", "5"]).good();
    let shown = work.run(&["budget", "cap", "--none"]).good();
    assert!(shown.text().contains("there is no cap"), "{}", shown.text());
}

/// A draft of many sentences; how many of them are looked at, and what the run comes to.
struct Long {
    draft: fn(usize) -> String,
    source: fn(usize) -> String,
    many: usize,
    looked_at: usize,
    exit: i32,
}

/// A long draft comes to its end, whatever its sentences are: what is behind those that are looked at is told, and limits.
#[test]
fn a_long_draft_comes_to_its_end() {
    let said = |at| format!("Item {at} of the list costs {} euros.", at + 3);
    let unsaid = |at| format!("Nobody counted shelf {at} in the shed.");
    let other = |at| format!("The fee of the warehouse is {} euros.", at + 3);
    for Long { draft, source, many, looked_at, exit } in [
        Long { draft: said, source: said, many: 2_100, looked_at: 2_000, exit: 1 },
        Long { draft: unsaid, source: said, many: 1_100, looked_at: 1_100, exit: 3 },
        Long { draft: other, source: other, many: 300, looked_at: 300, exit: 3 },
    ] {
        let sentences = |of: fn(usize) -> String| (0..many).map(of).collect::<Vec<_>>().join("\n\n");
        let place = Work::new();
        std::fs::create_dir(place.path("task")).unwrap();
        let work = "path = \"memo.md\"\nkind = \"markdown\"\nfrom = \"draft.md\"";
        let task = TASK.replace("$WORK", "").replace("$ARTIFACT", work).replace("$SOURCE", "");
        place.write("task/task.toml", task.replace("$OUTCOMES", GROUNDED));
        place.write("task/lease.md", sentences(source));
        place.write("task/draft.md", sentences(draft));
        let args = ["run", "task", "--now", "2026-02-01T09:00:00Z", "--seed", "1", "--as", "ana", "--json"];
        let mut told = place.run(&args).exits(exit).json();
        let run = told["run"].as_str().unwrap().to_owned();
        let example = Example { run, work: place, told: Value::Null };
        // Who takes no change gets another one, until the run ends with what there is.
        for hour in 10..20 {
            let Some(id) = told["question"]["id"].as_str() else { break };
            let reject = ["answer", &example.run, "--id", id, "--choose", "reject", "--json"];
            told = example.at(hour, "ana", &reject).json();
        }
        assert_eq!(told["claims"]["all"], looked_at, "{}", told["claims"]);
        let rest = told["claims"].get("not_held").cloned().unwrap_or_default();
        assert_eq!(rest, if many > looked_at { json!(1) } else { Value::Null });
        is_sound(&example);
    }
}

/// A run of a draft whose sentence stands in the lease, and that cites other places; it asks whether the sentence may cite the lease.
fn cites(places: &str) -> Example {
    let place = Work::new();
    std::fs::create_dir(place.path("task")).unwrap();
    let work = "path = \"memo.md\"\nkind = \"markdown\"\nfrom = \"draft.md\"";
    let task = TASK.replace("$WORK", "").replace("$ARTIFACT", work).replace("$SOURCE", "");
    place.write("task/task.toml", task.replace("$OUTCOMES", GROUNDED));
    place.write("task/lease.md", "# Lease\n\nCats sleep.\n\nThe rent is 900 euros a month.\n");
    place.write("task/draft.md", format!("# Memo\n\nThe rent is 900 euros a month. {places}\n"));
    let args = ["run", "task", "--now", "2026-02-01T09:00:00Z", "--seed", "1", "--as", "ana", "--json"];
    let told = place.run(&args).exits(3).json();
    let run = told["run"].as_str().unwrap().to_owned();
    Example { work: place, run, told }
}

/// A sentence that a source says stays, whatever it cites: a search finds the place, and the sentence cites it.
#[test]
fn a_sentence_that_cites_the_wrong_place_gets_the_right_one() {
    for (places, words) in [
        ("[lease.md:3]", "the place that it cites does not say it"),
        ("[other.md:7]", "the place that it cites does not say it"),
        ("[lease.md:5] [lease.md:3]", "not all that it cites says it"),
    ] {
        let example = cites(places);
        let findings = example.work.run(&["findings", &example.run, "--json"]).good().json();
        assert!(findings["body"][0]["text"].as_str().unwrap().contains(words), "{findings}");
        let need = example.records("research_need").pop().unwrap();
        assert_eq!(need["status"], "answered", "{need}");
        assert!(need["answer_ref"].as_str().unwrap().ends_with("lease"), "{need}");
        let id = example.told["question"]["id"].as_str().unwrap();
        let accept = ["answer", &example.run, "--id", id, "--choose", "accept", "--json"];
        let told = example.at(12, "ana", &accept).good().json();
        assert_eq!(told["status"], "safe_to_rely_within_scope", "{told}");
        is_sound(&example);
    }
}
