//! The tools do what they are for.
//! Owns: the answers of honest calls, definitions and plans. Must not: attack.

use crate::support::{Ground, LAUNCHER, cmd, json, path, text_of};
use countersign_record::json;
use countersign_record::tool::{Effect, Needs};
use countersign_runtime::ports::tool::Reads;
use countersign_tools::{Sandbox, State, rehearse, support as machine};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

#[test]
fn definitions_say_what_the_contract_says() {
    let ground = Ground::new();
    let needs = |name: &str| Needs::Capability(name.to_owned());
    let expected = [
        ("fs.read_text", Effect::None, needs("fs:read"), &["max_bytes", "path"][..]),
        ("fs.list_dir", Effect::None, needs("fs:read"), &["max_entries", "path"]),
        ("fs.write_text", Effect::Irreversible, needs("fs:write"), &["overwrite", "path", "text"]),
        ("shell.exec", Effect::None, needs("shell"), &["cmd", "timeout_s"]),
        ("system.time", Effect::None, Needs::Nothing, &[]),
    ];
    assert_eq!(ground.tools().len(), expected.len());
    for (tool, (name, effect, needs, args)) in ground.tools().iter().zip(expected) {
        let definition = tool.definition();
        assert_eq!((definition.name.as_str(), definition.effect), (name, effect));
        assert_eq!(definition.needs, needs, "{name}");
        let properties = definition.parameters.get("properties").unwrap().as_object().unwrap();
        assert_eq!(properties.iter().map(|(name, _)| name).collect::<Vec<_>>(), args);
        definition.hash().unwrap();
        let schema = json::to_text(&definition.parameters).unwrap();
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        assert!(jsonschema::draft202012::meta::is_valid(&schema), "{name}");
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        assert!(!validator.is_valid(&serde_json::json!({"surprise": 1})), "{name}");
    }
}

#[test]
fn schemas_hold_the_bounds() {
    let ground = Ground::new();
    for (name, args, fits) in [
        ("fs.read_text", r#"{"path":"a"}"#, true),
        ("fs.read_text", r#"{"path":"a","max_bytes":1000001}"#, false),
        ("fs.read_text", r#"{"path":"a","max_bytes":0}"#, false),
        ("fs.list_dir", "{}", true),
        ("fs.list_dir", r#"{"max_entries":2001}"#, false),
        ("fs.write_text", r#"{"path":"a"}"#, false),
        ("fs.write_text", r#"{"path":"a","text":"","overwrite":true}"#, true),
        ("shell.exec", r#"{"cmd":"ls","timeout_s":120}"#, true),
        ("shell.exec", r#"{"cmd":"ls","timeout_s":121}"#, false),
        ("shell.exec", r#"{"cmd":"ls","timeout_s":0}"#, false),
        ("system.time", "{}", true),
    ] {
        let schema = json::to_text(&ground.tool(name).definition().parameters).unwrap();
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        let args_read: serde_json::Value = serde_json::from_str(args).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        assert_eq!(validator.is_valid(&args_read), fits, "{name} {args}");
        // What does not fit is refused even where nobody asked the schema.
        assert_eq!(ground.plan(name, args).is_ok(), fits, "{name} {args}");
    }
}

#[test]
fn plans_say_everything_in_a_line() {
    let ground = Ground::new();
    for (name, args, summary, reads, writes) in [
        (
            "fs.read_text",
            r#"{"path":"/sandbox/./dir//b.txt"}"#,
            "read up to 20000 bytes of dir/b.txt",
            Reads::Path("dir/b.txt".into()),
            None,
        ),
        ("fs.list_dir", "{}", "list up to 200 entries of .", Reads::Path(".".into()), None),
        (
            "fs.write_text",
            r#"{"path":"n\nx","text":"é"}"#,
            "write 2 bytes to n\\nx, if there is nothing yet",
            Reads::Nothing,
            Some("n\nx"),
        ),
        (
            "fs.write_text",
            r#"{"path":"n","text":"a"}"#,
            "write 1 byte to n, if there is nothing yet",
            Reads::Nothing,
            Some("n"),
        ),
        (
            "fs.write_text",
            r#"{"path":"n","text":"","overwrite":true}"#,
            "write 0 bytes to n, in the place of what is there",
            Reads::Nothing,
            Some("n"),
        ),
        (
            "shell.exec",
            r#"{"cmd":"grep -rn 'a b' /sandbox/dir","timeout_s":3}"#,
            "run, only reading and for at most 3 s: grep '--color=never' -D skip -r -n -e 'a b' -- dir",
            Reads::Sandbox,
            None,
        ),
        ("system.time", "{}", "tell the time", Reads::Nothing, None),
    ] {
        let plan = ground.plan(name, args).unwrap();
        assert_eq!(plan.summary, summary);
        assert_eq!(plan.reads, reads);
        assert_eq!(plan.writes.as_deref(), writes);
        assert_eq!(plan.sends_to, None);
    }
}

#[test]
fn files_are_read_listed_and_written() {
    let ground = Ground::new();
    let read = |args: &str| ground.call("fs.read_text", args).unwrap();
    assert_eq!(
        read(&path("dir/b.txt")),
        json(r#"{"bytes":5,"lossy":false,"path":"dir/b.txt","text":"four\n","truncated":false}"#)
    );
    assert_eq!(text_of(&read(r#"{"path":"a.txt","max_bytes":3}"#), "text"), "one");
    fs::write(ground.root().join("é"), "aé").unwrap();
    // The letter does not fit whole, so it is left out.
    assert_eq!(
        read(r#"{"path":"é","max_bytes":2}"#),
        json(r#"{"bytes":3,"lossy":false,"path":"é","text":"a","truncated":true}"#)
    );
    assert_eq!(
        ground.call("fs.list_dir", r#"{"max_entries":2}"#).unwrap(),
        json(
            r#"{"path":".","total":3,"truncated":true,"entries":[
            {"name":"a.txt","kind":"file","bytes":14},{"name":"dir","kind":"dir"}]}"#
        )
    );
    let written = ground.call("fs.write_text", r#"{"path":"dir/new","text":"hé"}"#).unwrap();
    assert_eq!(written, json(r#"{"path":"dir/new","bytes":3}"#));
    let new = ground.root().join("dir/new");
    assert_eq!(fs::read_to_string(&new).unwrap(), "hé");
    assert_eq!(new.metadata().unwrap().mode() & 0o777, 0o600);
    fs::set_permissions(&new, fs::Permissions::from_mode(0o640)).unwrap();
    ground.call("fs.write_text", r#"{"path":"dir/new","text":"","overwrite":true}"#).unwrap();
    assert_eq!(fs::read_to_string(&new).unwrap(), "");
    assert_eq!(new.metadata().unwrap().mode() & 0o777, 0o640);
}

#[test]
fn programs_run() {
    let ground = Ground::new();
    for (line, code, stdout) in [
        ("ls", 0, "a.txt\ndir\n"),
        ("ls -1 /sandbox/dir", 0, "b.txt\n"),
        ("cat a.txt dir/b.txt", 0, "one\ntwo\nthree\nfour\n"),
        ("echo curling  'a  b' -n", 0, "curling a  b -n\n"),
        ("head -1 a.txt", 0, "one\n"),
        ("tail -n +3 a.txt", 0, "three\n"),
        ("tail -n1 a.txt", 0, "three\n"),
        ("wc -l a.txt", 0, "3 a.txt\n"),
        ("sort -r a.txt", 0, "two\nthree\none\n"),
        ("grep -n 'o$' a.txt", 0, "2:two\n"),
        ("grep -r fo", 0, "dir/b.txt:four\n"),
        ("grep nothing a.txt", 1, ""),
        ("rg --no-heading -n 'f|tw'", 0, "a.txt:2:two\ndir/b.txt:1:four\n"),
        ("rg --files", 0, "a.txt\ndir/b.txt\n"),
        ("sed -n '2p' a.txt", 0, "two\n"),
        ("sed -n -e '1p' -e '$p' a.txt", 0, "one\nthree\n"),
        ("sed 's/o/0/g;1d' a.txt", 0, "tw0\nthree\n"),
    ] {
        let output = ground.call("shell.exec", &cmd(line)).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(output.get("exit_code").unwrap(), &json(&code.to_string()), "{line}: {output:?}");
        assert_eq!(text_of(&output, "stdout"), stdout, "{line}");
        assert_eq!(text_of(&output, "stderr"), "", "{line}");
        assert_eq!(output.get("truncated").unwrap(), &json("false"), "{line}");
    }
    let pwd = ground.call("shell.exec", &cmd("pwd")).unwrap();
    assert_eq!(text_of(&pwd, "stdout").trim_end(), ground.root().canonicalize().unwrap().to_str().unwrap());
    let missing = ground.call("shell.exec", &cmd("cat none")).unwrap();
    assert_eq!(missing.get("exit_code").unwrap(), &json("1"));
    assert!(text_of(&missing, "stderr").starts_with("cat: none: "), "{missing:?}");
}

#[test]
fn the_time_is_the_one_that_was_given() {
    let ground = Ground::new();
    assert_eq!(ground.call("system.time", "{}").unwrap(), json(r#"{"utc":"2026-01-02T03:04:05Z"}"#));
}

#[test]
fn this_machine_can_hold_programs() {
    let features = machine();
    for feature in &features {
        assert_ne!(feature.state, State::Missing, "{feature:?}");
        assert_eq!(feature.fix.is_none(), feature.state == State::Ready, "{feature:?}");
    }
    let names: Vec<_> = features.iter().map(|feature| feature.name).collect();
    assert_eq!(names, ["openat2", "landlock", "seccomp", "resource limits", "user namespaces", "commands"]);
    let ground = Ground::new();
    let sandbox = |launcher: &str| Sandbox::with_launcher(&ground.root(), Path::new(launcher)).unwrap();
    let held = rehearse(&sandbox(LAUNCHER));
    assert_eq!((held.name, held.state, held.fix), ("held programs", State::Ready, None), "{held:?}");
    assert_eq!(rehearse(&sandbox("/bin/true")).state, State::Missing);
}
