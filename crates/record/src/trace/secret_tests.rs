//! Which names and texts are taken for secrets, which are not, and how long hostile ones take.

use super::*;
use crate::json::{Json, Object};
use crate::session::UnixTime;
use crate::trace::{Event, Kind, Redactor};
use proptest::prelude::*;
use std::format;
use std::time::Instant;
use std::vec;

fn line(data: Object) -> String {
    let event = Event { ts: UnixTime::from_micros(1).unwrap(), kind: Kind::ToolPlan, data };
    Redactor::default().line(&event).unwrap()
}

#[test]
fn names_of_secrets() {
    for name in [
        "password",
        "PASSWD",
        "userPassword",
        "db-password-2",
        "passphrase",
        "token",
        "accessToken",
        "ACCESS_TOKEN",
        "token_value",
        "x-auth-token",
        "refreshtoken",
        "csrfToken",
        "credential",
        "aws.credentials",
        "bearer",
        "Authorization",
        "proxy-authorization",
        "cookie",
        "Set-Cookie",
        "cookies",
        "client_secret",
        "secretKey",
        "api_key",
        "apikey",
        "API-Key",
        "x_api_key",
        "OPENAI_API_KEY",
        "private_key",
        "PrivateKeyPem",
        "session_key",
        "ssh-key",
        "AWS_ACCESS_KEY_ID",
        "encryption key",
    ] {
        assert_eq!(named(name), Named::Secret, "{name}");
    }
    for name in ["tokens", "output_tokens", "max_tokens", "token_count", "maxToken", "auth", "pass", "jwt"] {
        assert_eq!(named(name), Named::Texts, "{name}");
    }
    for name in [
        "",
        "text",
        "path",
        "key",
        "keys",
        "author",
        "secretary",
        "secretariat",
        "tokenizer",
        "compass",
        "passage",
        "cook",
        "request_hash",
        "session",
        "session_id",
        "monkey",
        "authority",
        "bear",
        "private",
        "api",
        "detail",
        "Ü",
    ] {
        assert_eq!(named(name), Named::Plain, "{name}");
    }
}

#[test]
fn texts_that_hold_secrets() {
    let long = "a1B2c3D4e5F6g7H8i9J0k1L2";
    let check = |text: &str, expected: &str| {
        let expected = expected.replace('*', REDACTED);
        assert_eq!(without(text), expected, "{text}");
        assert_eq!(without(&expected), expected, "again");
    };
    check(&format!("use sk-proj-{long}."), "use *.");
    check(&format!("(ghp_{long}) github_pat_{long}"), "(*) *");
    check("AKIAIOSFODNN7EXAMPLE, then", "*, then");
    check(
        &format!("curl -H 'Authorization: Bearer {long}' https://a.example"),
        "curl -H 'Authorization: *' https://a.example",
    );
    check(&format!("bearer {long} and basic dXNlcjpwYXNz"), "bearer * and basic *");
    check("see eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-_x now", "see * now");
    check("eyJ-x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0. y", "eyJ-x * y");
    check("git clone https://ana:p@ss@git.example:8443/a?b@c", "git clone https://*@git.example:8443/a?b@c");
    check("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nb", "a *\nb");
    check("a -----BEGIN PRIVATE KEY-----\nMIIE", "a *");
    check("PASSWORD=hunter2 ?token=abc&x=1", "PASSWORD=* ?token=*&x=1");
    check(r#"{"password": "a \" b", "n": 1}"#, r#"{"password": "*", "n": 1}"#);
    check(r#"{\"api_key\":\"abc\",\"n\":1}"#, r#"{\"api_key\":\"*",\"n\":1}"#);
    check("Cookie: a=b; c=d\nHost: x", "Cookie: *\nHost: x");
    check("password: grün😀\npwd := 'é'", "password: *\npwd := '*'");
    check("secret=\"é\\", "secret=\"*");
    check(
        "Passwort: hunter2, DB_PASSWORT='a b' passwd=x passwd : y",
        "Passwort: *, DB_PASSWORT='*' passwd=* passwd : *",
    );
}

#[test]
fn keys_that_their_vendors_mark() {
    let check = |text: String, expected: &str| {
        assert_eq!(without(&text), expected.replace('*', REDACTED), "{text}");
    };
    // A mark that no word begins with needs neither a digit nor a capital behind it.
    for mark in ["sk_live_", "sk_test_", "rk_live_", "rk_test_"] {
        check(format!("pay with {mark}abcdefghijkl."), "pay with *.");
        check(format!("key={mark}a1B2c3D4e5F6"), "key=*");
    }
    let (id, key) = ("a1B2c3D4e5F6g7H8i9J0k1", "a-B2c3D4e5_6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V");
    check(format!("mail with SG.{id}.{key}, then"), "mail with *, then");
    check(format!("\"SG.{id}.{key}\""), "\"*\"");
}

#[test]
fn what_an_option_of_a_command_is_given() {
    let check = |text: &str, expected: &str| {
        let expected = expected.replace('*', REDACTED);
        assert_eq!(without(text), expected, "{text}");
        assert_eq!(without(&expected), expected, "again");
    };
    check("mysql --password hunter2 --user ana", "mysql --password * --user ana");
    check("mysql --password  p;w&1\nls", "mysql --password  *\nls");
    check("--db-password 'a b' --api-key \"c \\\" d\" e", "--db-password '*' --api-key \"*\" e");
    check(
        "--password ,a\\b --password \\$c --password \\\"d e\\\"",
        "--password * --password * --password \\\"*\"",
    );
    check("--password=hunter2 --token '-abc'", "--password=* --token '*'");
    check(
        r#"["mysql","--password","a b","-u"] ['--token', 'x']"#,
        r#"["mysql","--password","*","-u"] ['--token', '*']"#,
    );
    check(r#"{\"argv\":[\"--password\",\"a b\",1]}"#, r#"{\"argv\":[\"--password\",\"*",1]}"#);
    check("--password grün😀 x --pass é", "--password * x --pass *");
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "",
        "The bearer of this letter has a basic Understanding of risk-management and task-scheduling.",
        "sk-learn-is-a-library-of-estimators, ghp_ is a prefix, AKIA too, eyJ is not a key, and eyJ.eyJ.eyJ neither",
        "https://a.example:8443/x@y?z=1 ssh://git@host.example/a mailto:ana@b.example",
        "max_tokens=4096, tokens: 12, output_tokens: \"17\"",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "Token::parse(x), a::secret::b, author: Ana, key: value, secretary=Ben, 10:00:00",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "sk-1, sk-A2b, ghp_3 and risk-A1b2C3d4E5f6G7h8i9",
        "-----BEGIN ",
        "password:",
        "=:=:://@::=\\\"'",
        "SG.a.b, SG.short1.short2 and MSG.a1B2c3D4e5F6g7H8i9J0.a1B2c3D4e5F6g7H8i9J0, sk_live_ and sk_test_a",
        "mysql --password --user ana --password-file key.txt --max-tokens 12 --tokens 3 --password",
        "well--password hunter, -- password x, \"--password\" or '--token', --secretary Ben, --password\nls",
    ] {
        assert_eq!(without(text), text);
    }
}

#[test]
fn hostile_texts_take_no_longer_than_others() {
    let pieces = [
        "sk-",
        "sk-aaaaaaaaaaaaaaaaaaaaaaaa-",
        "eyJ",
        "eyJ-",
        "eyJaaaaaaaaa.",
        "eyJaaaaaaaa-eyJaaaaaaaa.",
        "://",
        "://a:",
        "a:@",
        "=",
        "token=",
        "token=\"",
        "token:",
        "token='[redacted]",
        "cookie:[redacted]",
        "tokens=1",
        "tokens=\"1",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "-----END ",
        "bearer ",
        "bearer aaaaaaaa",
        "basic a1",
        "\\\"",
        "pass:1:",
        "é=",
        "a",
        "password=[redacted]\"",
        "SG.",
        "SG.aaaaaaaaaaaaaaaaaaaaaa.",
        "--password",
        " --password ",
        "--password\",\"",
        " --tokens 1",
        " --tokens \"1",
        "--password [redacted]\"",
    ];
    for piece in pieces {
        let text = piece.repeat(4_000_000 / piece.len());
        let begun = Instant::now();
        let redacted = without(&text);
        // A quadratic pass over four million bytes takes hours.
        assert!(begun.elapsed().as_secs() < 30, "{piece}");
        assert!(redacted.len() <= text.len() * 12);
    }
}

/// A secret of a kind, and the text that holds it.
fn secret() -> impl Strategy<Value = (String, String)> {
    let key = "[A-Za-z0-9]{8}[0-9][A-Z][A-Za-z0-9]{14,40}";
    prop_oneof![
        key.prop_map(|key| (key.clone(), format!("sk-{key}"))),
        key.prop_map(|key| (key.clone(), format!("ghp_{key}"))),
        "[a-z]{12,40}".prop_map(|key| (key.clone(), format!("sk_live_{key}"))),
        key.prop_map(|key| (key.clone(), format!("SG.{key}.{key}"))),
        key.prop_map(|key| (key.clone(), format!("--password {key}"))),
        key.prop_map(|key| (key.clone(), format!("Passwort: {key}"))),
        "[A-Z0-9]{16}".prop_map(|key| (key.clone(), format!("AKIA{key}"))),
        key.prop_map(|key| (key.clone(), format!("Bearer {key}"))),
        key.prop_map(|key| (key.clone(), format!("eyJ{key}.eyJ{key}.{key}"))),
        key.prop_map(|key| (key.clone(), format!("https://ana:{key}@a.example/"))),
        key.prop_map(|key| (
            key.clone(),
            format!("-----BEGIN EC PRIVATE KEY-----\n{key}\n-----END EC PRIVATE KEY-----")
        )),
        key.prop_map(|key| (key.clone(), format!("client_secret={key}"))),
        key.prop_map(|key| (key.clone(), format!("\"accessToken\": \"{key}\""))),
    ]
}

proptest! {
    #[test]
    fn what_is_redacted_never_appears((key, held) in secret(), before in "[ -~\n]{0,40}[ \n(,]|", after in "([ \n),][ -~]{0,40})?") {
        // What stands before may be a quote that is open, or a secret itself: only that the key is gone is sure.
        let text = format!("{before}{held}{after}");
        let redacted = without(&text);
        prop_assert!(!redacted.contains(&key), "{text} -> {redacted}");
        let data = Object::from([("detail", Json::from(text.as_str()))]);
        prop_assert!(!line(Object::from([("args", Json::Object(data))])).contains(&key));
    }

    #[test]
    fn what_a_name_hides_never_appears(name in "(my|x-|DB_)?(password|Token|API_KEY|secret|Cookie)(_1|)", key in "[a-z]{12}") {
        let inner = Object::from([("deep", Json::Array([Json::from(key.as_str())].into()))]);
        let mut data = Object::from([("plain", Json::from("stays"))]);
        data.insert(name.as_str(), Json::Object(inner));
        let line = line(data);
        prop_assert!(!line.contains(&key) && line.contains("stays"), "{line}");
    }

    #[test]
    fn plain_words_stay(text in "([a-z]{1,12}[ ,.\n!?]){0,40}") {
        prop_assert_eq!(without(&text), text);
    }

    #[test]
    fn any_text_is_cut_between_letters(text in "(\\PC|[:=\"'\\\\@ -]|sk-|token|://|eyJ){0,60}") {
        let once = without(&text);
        prop_assert!(once.len() <= text.len() * 12);
    }
}
