//! What is a secret by its look: names of members, and what keys look like in a text.
//! Owns: the words and the forms, found in one pass. Must not: know a secret itself (`Redactor` does).

use super::REDACTED;
use alloc::string::String;
use alloc::vec::Vec;

/// What a member holds, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// Anything.
    Plain,
    /// A secret, if it is a text: `tokens` may be keys, or how many words were read.
    Texts,
    /// A secret.
    Secret,
}

/// A name with one of these in it names a secret, however its words are joined.
const PARTS: [&str; 20] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "credential",
    "bearer",
    "authorization",
    "cookie",
    "apikey",
    "privatekey",
    "sessionkey",
    "accesskey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sharedkey",
    "accountkey",
    "sshkey",
    "authkey",
];
/// What begins like one of them and is none.
const INNOCENT: [&str; 2] = ["secretar", "secretion"];
/// Words that name a secret if they stand for themselves.
const WORDS: [&str; 5] = ["auth", "pass", "pwd", "jwt", "otp"];
/// Words by which a name with a token in it is about how many there are.
const COUNTS: [&str; 8] = ["count", "counts", "max", "min", "limit", "budget", "total", "used"];

/// What a name says of what it names.
pub(super) fn named(name: &str) -> Named {
    let joined: String =
        name.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let joined = INNOCENT.iter().fold(joined, |joined, innocent| joined.replace(innocent, ""));
    if PARTS.iter().any(|part| joined.contains(part)) {
        return Named::Secret;
    }
    let words = words(name);
    let is_count = words.iter().any(|word| COUNTS.contains(&word.as_str()));
    match () {
        () if words.iter().any(|word| word.ends_with("token")) && !is_count => Named::Secret,
        () if words.iter().any(|word| word.ends_with("token") || word.ends_with("tokens")) => Named::Texts,
        () if words.iter().any(|word| WORDS.contains(&word.as_str())) => Named::Texts,
        () => Named::Plain,
    }
}

/// `accessToken`, `ACCESS_TOKEN` and `access-token` are `access` and `token`.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut before = ' ';
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins = letter.is_uppercase()
            && (!before.is_uppercase() || letters.peek().is_some_and(|next| next.is_lowercase()));
        if (begins || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(core::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.push(word);
    words
}

/// How keys begin, and how much must follow before it is one.
const PREFIXES: [(&str, usize); 24] = [
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("rk_test_", 10),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("hf_", 20),
    ("pypi-", 30),
    ("whsec_", 16),
];
/// How far is looked before it is decided whether something is a key: what is longer is taken whole, once.
const LOOK_BYTES_MAX: usize = 64;
/// A word of this length behind `Bearer` is no word of a language.
const BEARER_BYTES_MIN: usize = 24;
/// The least that each part of a JWT has.
const JWT_PART_BYTES_MIN: usize = 8;
/// Headers whose whole line is a secret.
const HEADERS: [&str; 5] = ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"];

/// A text without what looks like a secret. Each byte is looked at a bounded number of times.
pub(super) fn without(text: &str) -> String {
    let mut scan = Scan { text, bytes: text.as_bytes(), no_jwt_before: 0 };
    let mut redacted = String::with_capacity(text.len());
    let (mut at, mut kept) = (0, 0);
    while at < text.len() {
        match scan.secret(at) {
            Some((begin, end)) if begin < end && begin >= kept => {
                redacted.push_str(text.get(kept..begin).unwrap_or_default());
                redacted.push_str(REDACTED);
                (at, kept) = (end, end);
            }
            Some(_) | None => at += 1,
        }
    }
    redacted.push_str(text.get(kept..).unwrap_or_default());
    redacted
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// No JWT begins before this place: its end was looked for.
    no_jwt_before: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_key(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn is_token68(byte: u8) -> bool {
    is_key(byte) || b".~+/=".contains(&byte)
}

/// Whether no word of a language looks like it: a digit in it, a capital within it, a sign.
fn is_odd(piece: &[u8]) -> bool {
    let has_capital = piece
        .windows(2)
        .any(|two| matches!(two, [left, right] if left.is_ascii_lowercase() && right.is_ascii_uppercase()));
    has_capital || piece.iter().any(|byte| byte.is_ascii_digit() || b"+/=".contains(byte))
}

impl Scan<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn starts(&self, at: usize, with: &str) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(with.as_bytes()))
    }

    /// Where a run of bytes ends.
    fn run(&self, at: usize, is_in: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        at + rest.iter().position(|byte| !is_in(*byte)).unwrap_or(rest.len())
    }

    /// The first bytes of a run, as many as are looked at.
    fn look(&self, at: usize, is_in: impl Fn(u8) -> bool) -> &[u8] {
        let end = self.bytes.len().min(at + LOOK_BYTES_MAX);
        let rest = self.bytes.get(at..end).unwrap_or_default();
        let length = rest.iter().position(|byte| !is_in(*byte)).unwrap_or(rest.len());
        rest.get(..length).unwrap_or_default()
    }

    /// The secret that shows itself here: from where to where.
    fn secret(&mut self, at: usize) -> Option<(usize, usize)> {
        let byte = self.byte(at);
        match byte {
            b':' if self.starts(at, "://") => self.userinfo(at + 3),
            b':' | b'=' => self.assigned(at),
            b'-' => self.private_key(at),
            _ if byte.is_ascii_alphabetic() && (at == 0 || !is_word(self.byte(at - 1))) => {
                self.key(at).or_else(|| self.bearer(at)).or_else(|| self.jwt(at))
            }
            _ => None,
        }
    }

    fn key(&self, at: usize) -> Option<(usize, usize)> {
        let (prefix, least) = PREFIXES.iter().find(|(prefix, _)| self.starts(at, prefix))?;
        let begun = at + prefix.len();
        let piece = self.look(begun, is_key);
        let has_odd = piece.iter().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        (piece.len() >= *least && has_odd).then(|| (at, self.run(begun, is_key)))
    }

    /// `Bearer …`, `Basic …`.
    fn bearer(&self, at: usize) -> Option<(usize, usize)> {
        let word = self.look(at, is_word);
        let is_basic = word.eq_ignore_ascii_case(b"basic");
        if !is_basic && !word.eq_ignore_ascii_case(b"bearer") {
            return None;
        }
        let after = at + word.len();
        let blanks = self.look(after, |byte| byte == b' ').len();
        let begin = after + blanks;
        let piece = self.look(begin, is_token68);
        let is_secret = piece.len() >= 8 && is_odd(piece) || !is_basic && piece.len() >= BEARER_BYTES_MIN;
        (blanks > 0 && is_secret).then(|| (begin, self.run(begin, is_token68)))
    }

    fn jwt(&mut self, at: usize) -> Option<(usize, usize)> {
        if at < self.no_jwt_before || !self.starts(at, "eyJ") {
            return None;
        }
        let head = self.run(at, is_key);
        // Whatever begins in this run ends where it ends.
        self.no_jwt_before = head;
        let body = self.run(head + 1, is_key);
        let is_jwt = self.byte(head) == b'.'
            && self.byte(body) == b'.'
            && head - at >= JWT_PART_BYTES_MIN
            && body - head > JWT_PART_BYTES_MIN;
        is_jwt.then(|| (at, self.run(body + 1, is_key)))
    }

    /// `user:password@` of a URL, after its `//`.
    fn userinfo(&self, at: usize) -> Option<(usize, usize)> {
        let end = self.run(at, |byte| !b"/?#\\\"'<>".contains(&byte) && byte > b' ');
        let authority = self.bytes.get(at..end)?;
        let length = authority.iter().rposition(|byte| *byte == b'@')?;
        authority.get(..length)?.contains(&b':').then_some((at, at + length))
    }

    /// A private key in PEM, to its end; without an end all that follows is taken for it.
    fn private_key(&self, at: usize) -> Option<(usize, usize)> {
        if !self.starts(at, "-----BEGIN ") {
            return None;
        }
        let line = self.look(at, |byte| byte != b'\n');
        line.windows(11).any(|part| part == b"PRIVATE KEY").then_some(())?;
        let rest = self.text.get(at..)?;
        let Some(end) = rest.find("-----END ") else { return Some((at, self.bytes.len())) };
        let end = at + end + 9;
        let last = self.look(end, |byte| byte != b'\n');
        let dashes = last.windows(5).position(|part| part == b"-----");
        Some((at, end + dashes.map_or(0, |dashes| dashes + 5)))
    }

    /// What is assigned to a name of a secret: `password=…`, `"token": "…"`, `Cookie: …`.
    fn assigned(&self, at: usize) -> Option<(usize, usize)> {
        let sign = self.byte(at);
        let is_path = sign == b':' && (self.byte(at + 1) == b':' || at > 0 && self.byte(at - 1) == b':');
        let name = self.name_before(at)?;
        let named = named(name);
        if is_path || named == Named::Plain {
            return None;
        }
        let mut begin = at + 1 + self.look(at + 1, |byte| b"=> \t".contains(&byte)).len();
        begin += usize::from(self.byte(begin) == b'\\');
        let quote = self.byte(begin);
        // Found before: what would be looked through again and again.
        if self.starts(begin + usize::from(b"\"'".contains(&quote)), REDACTED) {
            return None;
        }
        let end = match quote {
            b'"' | b'\'' => {
                begin += 1;
                self.quoted(begin, quote)
            }
            _ if sign == b':' && HEADERS.iter().any(|header| name.eq_ignore_ascii_case(header)) => {
                self.run(begin, |byte| !b"\r\n\"'".contains(&byte))
            }
            _ if sign == b':' => self.run(begin, |byte| byte > b' ' && !b",}\"'".contains(&byte)),
            _ => self.run(begin, |byte| byte > b' ' && !b"&;\"'<>)".contains(&byte)),
        };
        let value = self.bytes.get(begin..end)?;
        let is_number = value.iter().all(|byte| byte.is_ascii_digit() || b".,".contains(byte));
        (named == Named::Secret || !is_number).then_some((begin, end))
    }

    /// Where a text in quotes ends: before the quote that is not part of it.
    fn quoted(&self, at: usize, quote: u8) -> usize {
        let is_escaped = at >= 2 && self.byte(at - 2) == b'\\';
        let mut end = at;
        while end < self.bytes.len() && self.byte(end) != quote {
            end += if self.byte(end) == b'\\' && !is_escaped { 2 } else { 1 };
        }
        let end = end.min(self.bytes.len());
        // A step over an escape may end within a letter.
        (end..=self.bytes.len()).find(|end| self.text.is_char_boundary(*end)).unwrap_or(end)
    }

    /// The name that stands before a sign, in quotes or not.
    fn name_before(&self, at: usize) -> Option<&str> {
        let mut end = at;
        let mut back = |is_in: &[u8], most: usize| {
            let least = end.saturating_sub(most);
            while end > least && is_in.contains(&self.byte(end - 1)) {
                end -= 1;
            }
        };
        back(b" ", 4);
        back(b"\"'\\", 2);
        let from = end.saturating_sub(LOOK_BYTES_MAX);
        let before = self.bytes.get(from..end)?;
        let length = before.iter().rev().take_while(|byte| is_key(**byte) || **byte == b'.').count();
        self.text.get(end - length..end).filter(|name| name.len() >= 3)
    }
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
