//! `http.get` in a session: what leaves has a row before it and a receipt after it, and whoever approves knows where to.

use crate::binary::Work;
use crate::talks::{Answer, Server, call, calling, chat, playing, plays, rows, turn, verified};
use crate::terminal::Terminal;
use serde_json::{Value, json};

const CAUTION: &str = "(wherever that name leads, also within your own network)";

fn page() -> Answer {
    Answer::Raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nthere".to_owned())
}

fn moved(to: &str) -> Answer {
    Answer::Raw(format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"))
}

fn gets(url: &str) -> [String; 2] {
    [calling("", &[call("t1", "http.get", json!({ "url": url }))]), "Done.".to_owned()]
}

/// Where each request was to go, by the rows before and the receipts after it.
fn sent(work: &Work) -> (Vec<Value>, Vec<Value>) {
    let of = |kind: &str, member: &str| -> Vec<Value> {
        rows(work, kind).iter().map(|row| row["payload"][member].clone()).collect()
    };
    (of("session.tool_started", "sends_to"), of("workspace.externalized", "destination_ref"))
}

#[test]
fn every_host_that_is_asked_has_a_row_and_a_receipt() {
    let second = Server::start(vec![page()]);
    let to = format!("http://127.0.0.1:{}/there", second.port);
    let first = Server::start(vec![moved(&to)]);
    let place = |server: &Server| format!("127.0.0.1:{}", server.port);
    let work = playing(&gets(&format!("http://{}/", place(&first))));
    for server in [&first, &second] {
        work.run(&["capability", "grant", &format!("net:{}", place(server))]).good();
    }
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
    let host = |server: &Server| json!(format!("host:{}", place(server)));
    assert_eq!(sent(&work), (vec![json!(place(&first))], vec![host(&first)]));
    assert_eq!((first.heard.try_iter().count(), second.heard.try_iter().count()), (1, 0));

    plays(&work, &gets(&to));
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
    assert_eq!(
        sent(&work),
        (vec![json!(place(&first)), json!(place(&second))], vec![host(&first), host(&second)])
    );
    assert_eq!(second.heard.try_iter().count(), 1);
    // From the cache nothing leaves, and there is no receipt.
    assert_eq!(turn(&work, 0, &[])["calls"][0]["ok"], true);
    assert_eq!((sent(&work).1.len(), second.heard.try_iter().count()), (2, 0));
    verified(&work);
}

#[test]
fn whoever_approves_a_name_is_told_that_it_may_lead_inside() {
    let work = playing(&gets("http://a.invalid/page"));
    let mut terminal = Terminal::start(&work, 120, &chat(&[]));
    terminal.prompted();
    terminal.says("Read.");
    terminal.sees("  ? http.get: GET http://a.invalid/page\n");
    terminal.sees(&format!("needs net:a.invalid {CAUTION}\n"));
    terminal.sees("no:");
    terminal.says("n");
    terminal.prompted();
    terminal.says("/exit");
    assert_eq!(terminal.ends(), Some(0), "{}", terminal.text());

    let waiting = |url: &str, session: &str| {
        plays(&work, &gets(url));
        work.run(&chat(&["-m", "Read.", "--session", session]));
        work.run(&["capability", "list", "--session", session]).good().text().to_owned()
    };
    let listed = waiting("http://a.invalid/page", "named");
    assert!(listed.contains(&format!("pending  net:a.invalid {CAUTION}  turn 1")), "{listed}");
    // An address says itself where it is.
    let listed = waiting("http://10.0.0.1/page", "address");
    assert!(listed.contains("pending  net:10.0.0.1  turn 1"), "{listed}");
    let help = work.run(&["capability", "grant", "--help"]).good().text().to_owned();
    assert!(help.contains("also within your own network"), "{help}");
}
