//! `countersign chat` at a real terminal: what is seen, what is asked, what the keys do.

use crate::binary::{self, Work};
use crate::talks::{self, Answer, Server, call, calling, chat, file, noting, playing, rows, verified, write};
use crate::terminal::Terminal;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process_group};
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::sync::mpsc::channel;

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
const UP: &str = "\u{1b}[A";
const QUESTION: &str = "allow? [y] this time  [s] for this session  [N] no:";

#[test]
fn a_turn_is_shown_as_it_goes() {
    let work = playing(&[
        calling("I look.", &[call("t1", "system.time", json!({}))]),
        noting("It is late.", json!({ "actions": ["request_permission:net:a.example"] })),
    ]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    terminal.sees("main  script  turn 0  (/help, /exit)\n");
    terminal.prompted();
    terminal.says("What time is it?");
    terminal.sees("What time is it?\nI look.\n  ▸ system.time  tell the time\n  ✓ system.time  ");
    terminal.sees(" ms\nIt is late.");
    terminal.sees("\nnote: the model asks for net:a.example\n");
    terminal.prompted();
    terminal.says("/exit");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.text());
}

#[test]
fn yes_is_for_one_call() {
    let work = playing(&[
        calling("I write.", &[write("t1", "a.txt", "one")]),
        "Written.".to_owned(),
        calling(
            "Again.",
            &[call("t2", "fs.write_text", json!({ "path": "a.txt", "text": "two!", "overwrite": true }))],
        ),
        "Not written.".to_owned(),
        calling("Again.", &[write("t3", "b.txt", "three")]),
        "Not written either.".to_owned(),
    ]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    terminal.prompted();
    terminal.says("Write.");
    terminal.sees("  ? fs.write_text: write 3 bytes to a.txt, if there is nothing yet\n");
    terminal.sees("    can't be brought back; needs fs:write\n");
    terminal.sees(QUESTION);
    assert_eq!(file(&work, "a.txt"), None, "nothing is done before the answer");
    // A person may take an hour: others see what is asked.
    let asked = work.run(&["capability", "list", "--json"]).good().json();
    assert_eq!(asked["pending"][0]["capability"], "fs:write");
    terminal.says("y");
    terminal.sees("  ▸ fs.write_text  write 3 bytes to a.txt, if there is nothing yet\n");
    terminal.sees("  ✓ fs.write_text  ");
    terminal.sees("Written.");
    terminal.prompted();
    assert_eq!(file(&work, "a.txt").unwrap(), "one");
    // What Enter alone means.
    terminal.says("Again.");
    terminal.sees("  ? fs.write_text: write 4 bytes to a.txt, in the place of what is there\n");
    terminal.sees(QUESTION);
    terminal.types("\r");
    terminal.sees("  ✗ fs.write_text  tool.denied: a person denied fs:write\n");
    terminal.sees("Not written.");
    terminal.prompted();
    // What is no answer is a no.
    terminal.says("Again.");
    terminal.sees(QUESTION);
    terminal.says("yesterday");
    terminal.sees("tool.denied: a person denied fs:write\n");
    terminal.sees("Not written either.");
    terminal.prompted();
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), Some(0));
    assert_eq!((file(&work, "a.txt").unwrap().as_str(), file(&work, "b.txt")), ("one", None));
    assert_eq!(rows(&work, "capability.granted").len(), 1);
    assert_eq!(rows(&work, "capability.denied").len(), 2);
}

#[test]
fn the_same_call_asks_again() {
    let again = || {
        calling(
            "",
            &[call("t1", "fs.write_text", json!({ "path": "a.txt", "text": "x", "overwrite": true }))],
        )
    };
    let work = playing(&[again(), "One.".to_owned(), again(), "Two.".to_owned()]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    for answer in ["One.", "Two."] {
        terminal.prompted();
        terminal.says("Go on.");
        terminal.sees(QUESTION);
        terminal.says("y");
        terminal.sees("  ✓ fs.write_text  ");
        terminal.sees(answer);
    }
    terminal.prompted();
    terminal.says("/exit");
    assert_eq!(terminal.ends(), Some(0));
    assert_eq!(rows(&work, "capability.granted").len(), 2);
    assert_eq!(rows(&work, "session.tool_ended").len(), 2);
}

#[test]
fn s_is_for_the_session() {
    let work = playing(&[
        calling("", &[write("t1", "a.txt", "1"), write("t2", "b.txt", "2")]),
        "Done.".to_owned(),
        calling("", &[write("t3", "c.txt", "3")]),
        "Done again.".to_owned(),
    ]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    terminal.prompted();
    terminal.says("Write.");
    terminal.sees(QUESTION);
    terminal.says("s");
    terminal.sees("  ✓ fs.write_text  ");
    // A grant counts from the next reply on, so the second call of this one asks again: a question too many.
    terminal.sees(QUESTION);
    terminal.says("s");
    terminal.sees("Done.");
    terminal.prompted();
    terminal.says("More.");
    let between = terminal.sees("Done again.");
    assert!(!between.contains(QUESTION), "{between}");
    terminal.prompted();
    terminal.says("/exit");
    assert_eq!(terminal.ends(), Some(0));
    assert_eq!(file(&work, "c.txt").unwrap(), "3");
}

#[test]
fn ctrl_c_leaves_a_line_that_was_begun() {
    let work = playing(&["One."]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    terminal.prompted();
    terminal.types("half a li");
    terminal.sees("half a li");
    terminal.types(CTRL_C);
    terminal.prompted();
    terminal.says("Hello?");
    terminal.sees("One.");
    terminal.prompted();
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), Some(0));
    assert_eq!(rows(&work, "session.turn_begun").len(), 1, "half a line was not said");
}

#[test]
fn who_leaves_a_question_decides_nothing() {
    let two = [write("t1", "a.txt", "1"), write("t2", "b.txt", "2")];
    let work = playing(&[calling("", &two), calling("", &two), "Still here.".to_owned()]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    for key in [CTRL_C, CTRL_D] {
        terminal.prompted();
        terminal.says("Write.");
        terminal.sees(QUESTION);
        terminal.types(key);
        terminal.sees("tool.denied: fs:write is not granted: the turn was cancelled\n");
        let rest = terminal.sees("cancelled; what was said and done until then is kept\n");
        assert!(!rest.contains(QUESTION), "nothing more is asked: {rest}");
    }
    terminal.prompted();
    terminal.says("Are you there?");
    terminal.sees("Still here.");
    terminal.prompted();
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), Some(0));
    assert_eq!((file(&work, "a.txt"), file(&work, "b.txt")), (None, None));
    for decision in ["capability.denied", "capability.granted"] {
        assert_eq!(rows(&work, decision).len(), 0, "nobody said {decision}");
    }
    assert_eq!(outcomes(&work), ["cancelled", "cancelled", "completed"]);
    let waiting = work.run(&["capability", "list", "--json"]).good().json();
    assert_eq!(waiting["pending"][0]["capability"], "fs:write", "it was asked for all the same");
    verified(&work);
}

/// How the turns ended.
fn outcomes(work: &Work) -> Vec<Value> {
    rows(work, "session.turn_ended").iter().map(|row| row["payload"]["outcome"].clone()).collect()
}

/// The children of a process.
fn children(parent: u32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name may hold anything; behind it come the state and the parent.
        let above = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        above == Some(parent)
    };
    numbers.filter(is_child).collect()
}

#[test]
fn ctrl_c_ends_a_command_with_all_of_its_group() {
    let wait = calling("I wait.", &[call("t1", "shell.exec", json!({ "cmd": "cat pipe" }))]);
    let work = playing(&[wait, "Here I am.".to_owned()]);
    let pipe = work.path("root/pipe");
    assert!(work.command("mkfifo", &["root/pipe"]).status().unwrap().success());
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    terminal.prompted();
    terminal.says("/grant shell");
    terminal.sees("shell is granted until 20");
    terminal.prompted();
    terminal.says("Wait.");
    terminal.sees("  ▸ shell.exec  ");
    // A pipe opens when both of its ends do: then the command runs, and waits for what is written.
    let (sender, opened) = channel();
    std::thread::spawn(move || sender.send(OpenOptions::new().write(true).open(pipe).unwrap()));
    let mut pipe = opened.recv_timeout(talks::PATIENCE).expect("the command opens the pipe");
    let [group] = children(terminal.id())[..] else { panic!("one child") };
    let group = Pid::from_raw(group).unwrap();
    test_kill_process_group(group).expect("it has a group of its own");
    terminal.types(CTRL_C);
    terminal.sees("  ✗ shell.exec  tool.timeout: it was cancelled\n");
    terminal.sees("cancelled; what was said and done until then is kept\n");
    terminal.prompted();
    assert_eq!(test_kill_process_group(group), Err(Errno::SRCH), "nothing of the group is left");
    assert_eq!(pipe.write_all(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe, "nobody reads the pipe");
    terminal.says("And now?");
    terminal.sees("Here I am.");
    terminal.prompted();
    terminal.says("/exit");
    assert_eq!(terminal.ends(), Some(0));
    assert_eq!(outcomes(&work), ["cancelled", "completed"]);
    assert_eq!(rows(&work, "session.tool_ended")[0]["payload"]["ok"], false);
    verified(&work);
}

#[test]
fn ctrl_c_cancels_the_turn_and_not_the_session() {
    let server =
        Server::start(vec![Answer::Stalls(vec!["One mo", "ment"]), Answer::Says(vec!["Here ", "I am."])]);
    let work = playing(&["x"]);
    server.added(&work, "slow", &[]);
    let mut terminal = Terminal::start(&work, 100, &["chat", "--model", "slow", "--root", "root"]);
    terminal.prompted();
    terminal.says("Are you there?");
    terminal.sees("One moment");
    terminal.types(CTRL_C);
    terminal.sees("cancelled; nothing of that answer counts\n");
    terminal.prompted();
    terminal.says("And now?");
    terminal.sees("Here I am.");
    terminal.prompted();
    terminal.says("/exit");
    assert_eq!(terminal.ends(), Some(0));
    drop(server.heard.recv().unwrap());
    let second = server.heard.recv().unwrap();
    assert!(second.contains("And now?") && !second.contains("Are you there?"), "{second}");
    assert_eq!(outcomes(&work), ["cancelled", "completed"]);
    verified(&work);
}

#[test]
fn the_commands_of_the_chat() {
    let work = playing(&[
        noting("Hello.", json!({ "set_goals": ["greet"] })),
        calling("", &[write("t1", "a.txt", "hi")]),
        "Done.".to_owned(),
    ]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    terminal.prompted();
    let mut says = |line: &str, seen: &[&str]| {
        terminal.says(line);
        seen.iter().for_each(|text| drop(terminal.sees(text)));
        terminal.prompted();
    };
    says(
        "/help",
        &["/help           this list", "/tools          the tools", "Ctrl-C          cancels the turn"],
    );
    says(
        "/tools",
        &["fs.write_text  needs fs:write, irreversible\n", "http.get       needs net:<host>, idempotent\n"],
    );
    says("Hello?", &["\nHello."]);
    says("/grant fs:write", &["fs:write is granted until 20"]);
    says("/state", &["revision  1, internal\n", "goals  greet\n", "granted  fs:write\n"]);
    says("Write.", &["✓ fs.write_text", "Done."]);
    says("/undo", &["turn 2 was taken back\nwhat it did stands: write 2 bytes to a.txt"]);
    says("/revoke fs:write", &["fs:write is revoked\n"]);
    says("/revoke fs:write", &["session.nothing: nothing of that name is granted\n"]);
    says("/grant", &["usage.invalid: say which: fs:write"]);
    says("/grant NO", &["capability.invalid: NO: "]);
    says("/dance", &["/dance: there is no such command; /help lists them\n"]);
    terminal.says("/exit");
    assert_eq!(terminal.ends(), Some(0));
    assert_eq!(rows(&work, "session.turn_begun").len(), 2);
}

#[test]
fn what_was_said_comes_back_with_the_arrow() {
    let work = playing(&["One.", "Two."]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    terminal.prompted();
    terminal.says("An unusual question");
    terminal.sees("One.");
    terminal.prompted();
    terminal.types(UP);
    terminal.sees("An unusual question");
    terminal.types("\r");
    terminal.sees("Two.");
    terminal.prompted();
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), Some(0));
    // Also in another process, and for its owner alone.
    let mut terminal = Terminal::start(&work, 100, &chat(&["--session", "other"]));
    terminal.prompted();
    terminal.types(UP);
    terminal.sees("An unusual question");
    terminal.types(CTRL_C);
    terminal.prompted();
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), Some(0));
    let history = std::fs::metadata(work.path(binary::DATA).join("matters/default/chat-history")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&history.permissions()) & 0o077, 0);
}

#[test]
fn colours_only_where_they_are_wanted() {
    let work = playing(&[calling("", &[call("t1", "system.time", json!({}))]), "Late.".to_owned()]);
    let dim = b"\x1b[2m";
    for (environment, has_colour) in
        [(&[][..], true), (&[("NO_COLOR", "1")][..], false), (&[("NO_COLOR", "")][..], true)]
    {
        let mut terminal = Terminal::with(&work, 100, &chat(&[]), environment);
        terminal.prompted();
        terminal.says("Time?");
        terminal.sees("✓ system.time");
        terminal.prompted();
        terminal.says("/exit");
        assert_eq!(terminal.ends(), Some(0));
        assert_eq!(terminal.raw.windows(dim.len()).any(|bytes| bytes == dim), has_colour, "{environment:?}");
    }
}

#[test]
fn narrow_and_wide() {
    let answer = "A word and another, and so on, without an end in sight.";
    for columns in [20, 40, 250] {
        let work = playing(&[
            calling(answer, &[write("t1", "a-file-with-a-rather-long-name.txt", "1")]),
            "Done.".to_owned(),
        ]);
        let mut terminal = Terminal::start(&work, columns, &chat(&[]));
        terminal.prompted();
        terminal.says("A question that is longer than the line");
        terminal.sees(answer);
        terminal.sees("write 1 byte to a-file-with-a-rather-long-name.txt, if there is nothing yet\n");
        terminal.sees("[N] no:");
        terminal.says("y");
        terminal.sees("▸ fs.write_text");
        terminal.sees("✓ fs.write_text");
        terminal.sees("Done.");
        terminal.prompted();
        terminal.says("/exit");
        assert_eq!(terminal.ends(), Some(0), "{columns}");
        assert_eq!(file(&work, "a-file-with-a-rather-long-name.txt").unwrap(), "1");
    }
}

#[test]
fn hostile_words_stay_words() {
    let evil = "\u{1b}[2J\u{1b}[1;1H\u{1b}]0;owned\u{7}\r    allow? \u{202e}";
    let seen = "\\u{1b}[2J\\u{1b}[1;1H\\u{1b}]0;owned\\u{7}\\r    allow? \\u{202e}";
    let work = playing(&[
        calling(evil, &[call("t1", "shell.exec", json!({ "cmd": "echo '\u{1b}[2J\u{202e}'" }))]),
        noting("Done.", json!({ "actions": [format!("request_permission:{evil}")] })),
    ]);
    let mut terminal = Terminal::start(&work, 100, &chat(&[]));
    terminal.prompted();
    terminal.says("Go.");
    terminal.sees(seen);
    terminal.sees("Done.");
    terminal.prompted();
    terminal.says("/exit");
    assert_eq!(terminal.ends(), Some(0));
    assert!(terminal.text().starts_with("main  script  turn 0"), "nothing was wiped:\n{}", terminal.text());
    let raw = String::from_utf8(terminal.raw.clone()).unwrap();
    assert!(!raw.contains("\u{1b}]0;") && !raw.contains('\u{202e}') && !raw.contains("\u{1b}[2J"), "{raw:?}");
}

#[test]
fn a_session_that_somebody_has_is_said_to_be() {
    let work = playing(&["One."]);
    let mut first = Terminal::start(&work, 100, &chat(&[]));
    first.prompted();
    let mut second = Terminal::start(&work, 100, &chat(&[]));
    second.sees("session.locked");
    assert_eq!(second.ends(), Some(1));
    first.types(CTRL_D);
    assert_eq!(first.ends(), Some(0));
}

#[test]
fn one_question_on_the_command_line_can_be_cancelled() {
    let server = Server::start(vec![Answer::Stalls(vec!["One mo", "ment"])]);
    let work = playing(&["x"]);
    server.added(&work, "slow", &[]);
    let mut terminal = Terminal::start(&work, 100, &["chat", "--model", "slow", "-m", "Are you there?"]);
    terminal.sees("One moment");
    terminal.types(CTRL_C);
    terminal.sees("cancelled; nothing of that answer counts");
    assert_eq!(terminal.ends(), Some(1));
    assert_eq!(rows(&work, "session.turn_ended")[0]["payload"]["outcome"], "cancelled");
}

#[test]
fn documents_come_without_prompts_and_questions() {
    let work = playing(&[calling("I write.", &[write("t1", "a.txt", "hi")]), "Not so.".to_owned()]);
    let mut terminal = Terminal::start(&work, 250, &chat(&["--json"]));
    terminal.says("Write.");
    terminal.sees("{\"session\":\"main\",\"turn\":1,");
    terminal.sees("\"trace\":\"main__turn-1\"}");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), Some(3));
    assert!(!terminal.text().contains('›') && !terminal.text().contains("allow?"), "{}", terminal.text());
}
