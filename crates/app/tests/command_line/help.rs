//! The words of the command line: help that teaches, errors in one form, a page for every code.

use crate::binary::{BINARY, DATA, FIXED, Work};
use serde_json::{Value, json};

/// The subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let Some((_, rest)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = rest.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect()
}

/// Every command with its help.
fn walk(work: &Work, path: &[String], found: &mut Vec<(String, String)>) {
    let mut args: Vec<&str> = path.iter().map(String::as_str).collect();
    args.push("--help");
    let done = work.run(&args).good();
    for name in subcommands(done.text()) {
        walk(work, &[path, &[name]].concat(), found);
    }
    found.push((path.join(" "), done.text().to_owned()));
}

/// Every command, those beneath it first.
const COMMANDS: &[&str] = &[
    "envelope validate",
    "envelope canonical",
    "envelope hash",
    "envelope",
    "ledger append",
    "ledger rows",
    "ledger tail",
    "ledger summary",
    "ledger verify",
    "ledger anchor",
    "ledger export",
    "ledger import",
    "ledger blob",
    "ledger erase",
    "ledger hold place",
    "ledger hold release",
    "ledger hold list",
    "ledger hold",
    "ledger",
    "scope",
    "enforce",
    "memory read",
    "memory append",
    "memory recall",
    "memory index",
    "memory clear",
    "memory status",
    "memory snapshot show",
    "memory snapshot export",
    "memory snapshot import",
    "memory snapshot",
    "memory",
    "models list",
    "models show",
    "models add",
    "models remove",
    "models",
    "run",
    "packet show",
    "packet export",
    "packet",
    "verify",
    "task new",
    "task check",
    "task",
    "ask",
    "process",
    "answer",
    "runs list",
    "runs show",
    "runs resume",
    "runs",
    "health",
    "findings",
    "review",
    "attention",
    "evidence",
    "chain",
    "board",
    "budget show",
    "budget cap",
    "budget",
    "command list",
    "command run",
    "command",
    "checkpoint",
    "fork",
    "replay",
    "diff",
    "audit",
    "serve",
    "chat",
    "session list",
    "session show",
    "session settle",
    "session replies",
    "session undo",
    "session",
    "capability list",
    "capability grant",
    "capability deny",
    "capability revoke",
    "capability",
    "tools",
    "trace show",
    "trace tail",
    "trace",
    "principal add",
    "principal list",
    "principal trust",
    "principal",
    "token add",
    "token list",
    "token revoke",
    "token",
    "lint",
    "conformance",
    "formula list",
    "formula show",
    "formula eval",
    "formula",
    "derive",
    "explain",
    "doctor",
    "completions",
    "",
];

#[test]
fn every_command_teaches() {
    let work = Work::new();
    let mut found = Vec::new();
    walk(&work, &[], &mut found);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, COMMANDS);
    for (name, help) in &found {
        let example = format!("countersign {name}").trim_end().to_owned();
        let examples = help.split_once("Example").map(|(_, rest)| rest).unwrap_or_default();
        assert!(examples.contains(&example), "{name} has no example of itself:\n{help}");
        for option in ["--data", "--matter", "--store", "--as", "--now", "--seed", "--json"] {
            assert!(
                help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")),
                "{name} lacks {option}"
            );
        }
        let words: Vec<&str> = name.split_whitespace().collect();
        let by_word = work.run(&[&["help"], &words[..]].concat()).good();
        assert!(by_word.text().contains("Example"), "help {name}");
        let version = work.run(&[&words[..], &["--version"]].concat()).good();
        assert!(
            version.text().ends_with(&format!(" {}\n", env!("CARGO_PKG_VERSION"))),
            "{name}: {}",
            version.text()
        );
    }
    let version = work.run(&["--version"]).good();
    assert_eq!(version.text(), format!("countersign {}\n", env!("CARGO_PKG_VERSION")));
    assert!(!work.path(DATA).exists());
}

/// What is wrong with how a help text is broken into lines of at most `width` characters.
fn badly_broken(help: &str, width: usize) -> Option<String> {
    let length = |text: &str| text.chars().count();
    let lines: Vec<&str> = help.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        if length(line) > width || line.trim_end() != *line {
            return Some(format!("too long, or space at its end: {line:?}"));
        }
        if line.ends_with("[default:") || line.ends_with("[env:") {
            return Some(format!("broken inside its brackets: {line:?}"));
        }
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let word = next.split(' ').next().unwrap_or_default();
        // Prose begins at the margin, and goes on there only if the next word had no room.
        let is_prose = |line: &str| line.starts_with(char::is_alphabetic) && !line.ends_with(':');
        if is_prose(line) && is_prose(next) && length(line) + 1 + length(word) <= width {
            return Some(format!("a line is left half empty: {line:?}"));
        }
    }
    None
}

#[test]
fn help_reads_well_on_any_terminal() {
    let work = Work::new();
    let mut found = Vec::new();
    walk(&work, &[], &mut found);
    let examples = |help: &str| {
        let (_, rest) = help.split_once("\nExample").unwrap();
        rest.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    for (name, piped) in &found {
        let mut args: Vec<&str> = name.split_whitespace().collect();
        args.push("--help");
        assert_eq!(badly_broken(piped, 100), None, "{name}, not on a terminal:\n{piped}");
        for width in [80, 100] {
            let output = work.command(BINARY, &args).env("COLUMNS", width.to_string()).output().unwrap();
            let help = String::from_utf8(output.stdout).unwrap();
            assert_eq!(badly_broken(&help, width), None, "{name} at {width}:\n{help}");
            assert_eq!(examples(&help), examples(piped), "{name} at {width}: examples stay as they are");
        }
        let (own, every) = piped.split_once("\nOptions of every command:\n").unwrap();
        assert!(every.contains("--data <DIR>") && !own.contains("--data <DIR>"), "{name}:\n{piped}");
    }
    let root = &found.last().unwrap().1;
    for name in ["COUNTERSIGN_DATA", "COUNTERSIGN_MATTER", "COUNTERSIGN_STORE", "COUNTERSIGN_AS"] {
        assert!(root.contains(name), "{root}");
    }
}

/// The indented lines below a line of a help text, without their indent.
fn lines_below(help: &str, above: &str) -> String {
    let (_, rest) = help.split_once(above).unwrap_or_else(|| panic!("no {above:?} in:\n{help}"));
    let below = rest.lines().skip(1).map_while(|line| line.strip_prefix("  "));
    below.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_policy_of_the_help_has_every_member_and_can_be_used() {
    let work = Work::new();
    let help = work.run(&["chat", "--help"]).good();
    let policy = lines_below(help.text(), "A policy (");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/policy.v1.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut members: Vec<&str> = policy.lines().map(|line| line.split_once(" = ").unwrap().0).collect();
    members.sort_unstable();
    assert_eq!(members, schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>());
    assert!(policy.lines().all(|line| line.contains(" # ")), "each says what it is for:\n{policy}");
    assert!(help.text().contains("schemas/policy.v1.schema.json"), "{}", help.text());
    work.write("policy.toml", &policy);
    work.run(&["chat", "-m", "Hello.", "--policy", "policy.toml"]).good();
}

#[test]
fn the_replies_of_the_help_can_be_used() {
    let work = Work::new();
    let help = work.run(&["models", "add", "--help"]).good();
    let hash = "0123456789abcdef".repeat(4);
    for (provider, above, count) in [("scripted", "A script is", 3), ("recorded", "A recording is", 1)] {
        let (_, from) = help.text().split_once(above).unwrap_or_else(|| panic!("{}", help.text()));
        // The sentence above them may be wrapped, and ends with a colon.
        let (_, replies) = from.split_once(":\n").unwrap();
        let replies = lines_below(&format!("\n{replies}"), "").replace("9f86d081…", &hash);
        assert_eq!(replies.lines().count(), count, "{replies}");
        work.write("replies.jsonl", &replies);
        let add = ["models", "add", provider, "--provider", provider, "--file", "replies.jsonl"];
        work.run(&add).good();
        work.run(&["models", "show", provider]).good();
    }
}

#[test]
fn help_says_what_is_a_command_and_what_is_there() {
    let work = Work::new();
    let words = |args: &[&str]| {
        let help = work.run(args).good();
        help.text().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let chat = words(&["chat", "--help"]);
    for part in [
        "a line that begins with /help, /tools, /state or /exit is a command",
        "every other line is said, also one that begins with a slash",
        "neither beneath --root nor in the data directory",
    ] {
        assert!(chat.contains(part), "{part}: {chat}");
    }
    assert!(words(&["tools", "--help"]).contains("memory.read is there in a chat with --memory"));
}

#[test]
fn a_wrong_command_line_is_an_error_like_any_other() {
    let work = Work::new();
    let check = |args: &[&str], code: &str, word: &str| {
        let refusal = work.run(args).refused_silently(2, code);
        assert!(refusal.message.contains(word), "{args:?}: {}", refusal.message);
        assert!(!refusal.message.contains('\u{1b}'), "{args:?}: colours are not for machines");
    };
    check(&[], "usage.invalid", "a command is missing");
    check(&["ledger"], "usage.invalid", "a command is missing");
    check(&["ledger", "hold"], "usage.invalid", "a command is missing");
    for bare in ["models", "session", "capability", "trace"] {
        check(&[bare], "usage.invalid", "a command is missing");
    }
    check(&["session", "settle", "main"], "usage.invalid", "required arguments");
    check(&["session", "settle", "main", "--call", "t1", "--found", "maybe"], "usage.invalid", "maybe");
    check(&["chat", "--class", "secret"], "usage.invalid", "secret");
    check(&["legder"], "usage.invalid", "legder");
    check(&["ledger", "verfiy"], "usage.invalid", "verfiy");
    check(&["ledger", "verify", "--quick"], "usage.invalid", "--quick");
    check(&["envelope", "validate"], "usage.invalid", "required arguments");
    check(&["envelope", "validate", "a", "b"], "usage.invalid", "'b'");
    check(&["envelope", "validate", "a", "--kind", "sr3"], "usage.invalid", "sr3");
    check(&["ledger", "erase", &"0".repeat(64)], "usage.invalid", "required arguments");
    check(&["ledger", "rows", "--limit", "-1"], "usage.invalid", "-1");
    check(&["ledger", "rows", "--limit", "18446744073709551616"], "usage.invalid", "--limit");
    check(&["ledger", "rows", "--limit", "1", "--limit", "2"], "usage.invalid", "--limit");
    check(&["ledger", "summary", "--json", "--json"], "usage.invalid", "--json");
    check(&["completions", "tcsh"], "usage.invalid", "tcsh");
    check(&["explain"], "usage.invalid", "required arguments");
    check(&["explain", "json.empty", "--list"], "usage.invalid", "--list");
    for seed in ["x", "-1", "1.5", "", "18446744073709551616"] {
        let arg = format!("--seed={seed}");
        check(&["ledger", "summary", &arg], "usage.invalid", "--seed");
    }
    for now in
        ["yesterday", "2025-12-10", "2025-12-10T10:00:00", "2025-02-30T10:00:00Z", "2025-12-10T10:00:60Z", ""]
    {
        let arg = format!("--now={now}");
        check(&["ledger", "summary", &arg], "time.invalid", "--now");
    }
    for now in ["10000-01-01T00:00:00Z", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"] {
        let arg = format!("--now={now}");
        check(&["ledger", "summary", &arg], "time.invalid", "the years 0000 to 9999");
    }
    assert!(!work.path(DATA).exists());
}

#[test]
fn every_code_has_a_page() {
    let work = Work::new();
    let list = work.run(&["explain", "--list", "--json"]).good().json();
    let pages = list.as_array().unwrap();
    assert!(pages.len() >= 60);
    let text = work.run(&["explain", "--list"]).good();
    assert_eq!(text.text().lines().count(), pages.len());
    for page in pages {
        let code = page["code"].as_str().unwrap();
        let one = work.run(&["explain", code, "--json"]).good().json();
        assert_eq!(&one, page);
        let words = |name: &str| page[name].as_str().unwrap().to_owned();
        assert!(["title", "explanation", "fix"].iter().all(|name| words(name).len() >= 8), "{code}");
        assert!(["note", "warning", "error", "critical"].contains(&words("severity").as_str()), "{code}");
        assert!(code.starts_with(&format!("{}.", words("area"))), "{code}");
        let text = work.run(&["explain", code]).good();
        let expected = format!(
            "{code} ({})\n{}\n\n{}\n\nFix: {}\n",
            words("severity"),
            words("title"),
            words("explanation"),
            words("fix"),
        );
        assert_eq!(text.text(), expected);
    }
}

#[test]
fn an_unknown_code_is_answered_with_a_near_one() {
    let work = Work::new();
    for (asked, near) in [
        ("ledger.conflit", "ledger.conflict"),
        ("json.duplicat_name", "json.duplicate_name"),
        ("LEDGER.LOCKED", "ledger.locked"),
        ("anchor.untrust", "anchor.untrusted"),
    ] {
        let refusal = work.run(&["explain", asked]).refused_silently(2, "usage.invalid");
        assert_eq!(refusal.message, format!("there is no code {asked}; did you mean {near}?"));
        assert!(refusal.details["fix"].is_string());
    }
    for nonsense in ["", "nope", "x"] {
        let refusal = work.run(&["explain", nonsense]).refused_silently(2, "usage.invalid");
        assert!(!refusal.message.contains("did you mean"), "{}", refusal.message);
    }
    let refusal = work.run(&["explain"]).refused_silently(2, "usage.invalid");
    assert!(refusal.message.contains("<CODE>"), "{}", refusal.message);
}

#[test]
fn completions_for_every_shell() {
    let work = Work::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = work.run(&["completions", shell]).good();
        for word in ["countersign", "validate", "tail", "trusted-key", "principal"] {
            assert!(done.text().contains(word), "{shell} lacks {word}");
        }
    }
    let script = work.run(&["completions", "bash"]).good();
    work.write("completions.bash", &script.bytes);
    let checked = work.command("bash", &["-n", "completions.bash"]).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn doctor_says_what_is_there_and_leaves_nothing() {
    let work = Work::new();
    let done = work.run(&["doctor", "--json"]).good();
    let diagnosis = done.json();
    assert_eq!((&diagnosis["ok"], &diagnosis["version"]), (&json!(true), &json!(env!("CARGO_PKG_VERSION"))));
    let checks = diagnosis["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    for name in ["data directory", "durable writes", "clock", "ledger", "keys"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for check in checks {
        let verdict = check["verdict"].as_str().unwrap();
        assert!(["ok", "limited", "failed"].contains(&verdict), "{check}");
        assert!(!check["found"].as_str().unwrap().is_empty(), "{check}");
        assert_eq!(check["fix"].is_string(), verdict != "ok", "{check}");
    }
    let text = work.run(&["doctor"]).good();
    assert!(names.iter().all(|name| text.text().contains(name)), "{}", text.text());
    let left: Vec<_> = std::fs::read_dir(work.path(".")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // A clock that stands before this product was made can't be right.
    let early = work.run(&["doctor", "--json", "--now", "1990-01-01T00:00:00Z"]).exits(1).json();
    assert_eq!(early["ok"], false);
}

#[test]
fn json_is_one_document_a_line() {
    let work = Work::new();
    let envelope = "{\"envelope_id\":\"env_0000000000000001\"}";
    work.write("envelope.json", envelope);
    work.write(
        "rows",
        "{\"stream\":\"s\",\"kind\":\"external.a\",\"payload\":1,\"blobs\":[{\"text\":\"x\"}]}\n".repeat(2),
    );
    let digest = countersign_record::digest::Digest::of(b"x").to_string();
    let key =
        work.run(&["principal", "add", "zoe", "--json", "--data", "other"]).good().json()["key"].clone();
    let check = |args: &[&str], lines: usize| {
        let done = work.run(&[args, &["--json"], &FIXED[..]].concat());
        assert!(done.err.is_empty() && done.exit.is_some_and(|exit| exit <= 1), "{args:?}: {}", done.err);
        let documents = done.lines();
        assert_eq!(documents.len(), lines, "{args:?}: {}", done.text());
        assert!(documents.iter().all(|one: &Value| one.is_object() || one.is_array()), "{args:?}");
    };
    check(&["envelope", "validate", "envelope.json"], 1);
    check(&["envelope", "canonical", "envelope.json"], 1);
    check(&["envelope", "hash", "envelope.json"], 1);
    check(&["ledger", "append", "rows"], 2);
    check(&["ledger", "append", "rows", "--atomic"], 2);
    check(&["ledger", "rows"], 4);
    check(&["ledger", "tail", "--count", "4"], 4);
    check(&["ledger", "summary"], 1);
    check(&["ledger", "verify"], 1);
    check(&["ledger", "anchor"], 1);
    check(&["ledger", "export", "archive"], 1);
    check(&["ledger", "import", "archive", "--data", "restored"], 1);
    check(&["ledger", "hold", "place", "h", "--reason", "r"], 1);
    check(&["ledger", "hold", "list"], 1);
    check(&["ledger", "hold", "release", "h", "--reason", "r"], 1);
    check(&["ledger", "blob", &digest], 1);
    check(&["ledger", "erase", &digest, "--reason", "r"], 1);
    check(&["principal", "add", "ana"], 1);
    check(&["principal", "trust", "ben", key.as_str().unwrap()], 1);
    check(&["principal", "list"], 1);
    check(&["models", "add", "m", "--provider", "openai", "--model", "x"], 1);
    check(&["models", "list"], 1);
    check(&["models", "show", "m"], 1);
    check(&["models", "remove", "m"], 1);
    check(&["tools"], 1);
    check(&["chat", "-m", "Hello."], 1);
    check(&["chat", "-m", "And?"], 1);
    check(&["session", "list"], 1);
    check(&["session", "show", "main"], 1);
    check(&["session", "replies", "main"], 2);
    check(&["session", "undo", "main"], 1);
    check(&["capability", "grant", "net:example.org"], 1);
    check(&["capability", "list"], 1);
    check(&["capability", "revoke", "net:example.org", "--reason", "r"], 1);
    check(&["trace", "show"], 1);
    check(&["trace", "show", "main__turn-1"], 1);
    check(&["trace", "tail", "main__turn-1"], 5);
    check(&["trace", "tail", "--no-follow"], 5);
    check(&["explain", "json.empty"], 1);
    check(&["explain", "--list"], 1);
    check(&["command", "list"], 1);
    check(&["doctor"], 1);
}
