//! Tests of how a model is set up.

use super::*;
use countersign_record::json;

fn read(text: &str) -> Result<Settings, Vec<Trouble>> {
    Settings::read(&json::parse(text.as_bytes()).unwrap())
}

const SMALL: &str = "{\"provider\":\"openai\",\"base_url\":\"https://example.org/v1/\",\"model\":\"m\"}";

#[test]
fn settings_survive_their_document() {
    for text in [
        SMALL,
        "{\"version\":1,\"provider\":\"anthropic\",\"base_url\":\"https://api.anthropic.com\",\"model\":\"m\",\
         \"key_env\":\"THE_KEY\",\"max_tokens\":100,\"omit_temperature\":true,\
         \"prices\":{\"input\":3000000,\"output\":15000000},\"timeouts\":{\"first_ms\":5}}",
        "{\"provider\":\"openai\",\"base_url\":\"http://10.0.0.1:8080\",\"model\":\"m\",\"key_file\":\"/k\",\
         \"allow_plain_http\":true,\"tool_role\":\"tool\"}",
        "{\"provider\":\"scripted\",\"file\":\"/s.jsonl\"}",
        "{\"provider\":\"recorded\",\"file\":\"/r.jsonl\"}",
        "{\"provider\":\"extractive\"}",
        &format!("{{\"provider\":\"local\",\"file\":\"/m.gguf\",\"sha256\":\"{}\"}}", "a".repeat(64)),
    ] {
        let settings = read(text).unwrap();
        let document = Json::Object(settings.document());
        assert_eq!(Settings::read(&document), Ok(settings), "{text}");
    }
    let Settings::Remote(settings) = read(SMALL).unwrap() else { panic!("it is remote") };
    assert_eq!(
        (settings.max_tokens, settings.timeouts, settings.key),
        (MAX_TOKENS, Timeouts::default(), None)
    );
    assert_eq!(settings.base_url.as_str(), "https://example.org/v1");
}

#[test]
fn what_is_wrong_is_named() {
    let check = |from: &str, to: &str, path: &str| {
        let text = SMALL.replace(from, to);
        let troubles = read(&text).unwrap_err();
        assert_eq!(troubles[0].path, path, "{text}: {troubles:?}");
    };
    check("\"openai\"", "\"closedai\"", "/provider");
    check("\"provider\":\"openai\",", "", "/provider");
    check("\"model\":\"m\"", "\"model\":\" \"", "/model");
    check("\"model\":\"m\"", "\"model\":\"a\\nb\"", "/model");
    check("\"model\":\"m\"", "\"model\":\"m\",\"key\":\"sk-canary\"", "/key");
    check("\"model\":\"m\"", "\"model\":\"m\",\"version\":2", "/version");
    check("\"model\":\"m\"", "\"model\":\"m\",\"key_env\":\"sk-canary\"", "/key_env");
    check("\"model\":\"m\"", "\"model\":\"m\",\"key_env\":\"A\",\"key_file\":\"/b\"", "/key_file");
    check("\"model\":\"m\"", "\"model\":\"m\",\"key_file\":\"b\"", "/key_file");
    check("\"model\":\"m\"", "\"model\":\"m\",\"max_tokens\":0", "/max_tokens");
    check("\"model\":\"m\"", "\"model\":\"m\",\"prices\":{\"input\":1}", "/prices/output");
    check("\"model\":\"m\"", "\"model\":\"m\",\"prices\":{\"input\":-1,\"output\":1}", "/prices/input");
    check("\"model\":\"m\"", "\"model\":\"m\",\"timeouts\":{\"first_ms\":0}", "/timeouts/first_ms");
    check("\"model\":\"m\"", "\"model\":\"m\",\"timeouts\":{\"first\":1}", "/timeouts/first");
    check("\"model\":\"m\"", "\"model\":\"m\",\"tool_role\":\"system\"", "/tool_role");
    for bad in [
        "ftp://example.org",
        "example.org",
        "https://",
        "https://a:b@example.org",
        "https://a@example.org",
        "https://example.org?x=1",
        "https://example.org#x",
        "file:///etc/passwd",
        "",
    ] {
        check("https://example.org/v1/", bad, "/base_url");
    }
    assert!(read("[]").is_err() && read("{}").is_err());
}

#[test]
fn a_key_is_not_told_to_whoever_listens() {
    let check = |address: &str, is_good: bool| {
        let text = format!(
            "{{\"provider\":\"openai\",\"base_url\":\"{address}\",\"model\":\"m\",\"key_env\":\"THE_KEY\"}}"
        );
        assert_eq!(read(&text).is_ok(), is_good, "{address}");
        assert!(read(&text.replace("}", ",\"allow_plain_http\":true}")).is_ok(), "{address}");
        assert!(read(&text.replace(",\"key_env\":\"THE_KEY\"", "")).is_ok(), "{address}");
    };
    for good in [
        "https://example.org",
        "http://localhost:1234/v1",
        "http://127.0.0.1",
        "http://127.9.9.9:80",
        "http://[::1]:8080",
    ] {
        check(good, true);
    }
    for bad in [
        "http://example.org",
        "http://10.0.0.1",
        "http://localhost.example.org",
        "http://[::2]",
        "http://127.0.0.1.example.org",
    ] {
        check(bad, false);
    }
}

#[test]
fn requests_go_where_the_protocol_has_them() {
    let check = |base: &str, wire, url: &str| {
        let base = BaseUrl::try_from(base).unwrap();
        assert_eq!(base.of_requests(wire).unwrap().as_str(), url);
    };
    check("https://a.example/v1/", Wire::OpenAi, "https://a.example/v1/chat/completions");
    check("http://localhost:8080", Wire::OpenAi, "http://localhost:8080/chat/completions");
    check("https://a.example", Wire::Anthropic, "https://a.example/v1/messages");
    check("https://a.example/v1", Wire::Anthropic, "https://a.example/v1/messages");
    check("https://a.example/x/", Wire::Anthropic, "https://a.example/x/v1/messages");
    let place = |base: &str| BaseUrl::try_from(base).unwrap().place().unwrap().to_string();
    assert_eq!(place("https://Example.ORG:443/v1"), "example.org");
    assert_eq!(place("http://example.org:8080/v1"), "example.org:8080");
}
