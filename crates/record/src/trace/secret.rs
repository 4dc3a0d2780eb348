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
const PARTS: [&str; 21] = [
    "password",
    "passwort",
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
const PREFIXES: [(&str, usize); 20] = [
    ("sk-", 16),
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
/// What no word begins with: whatever follows is a key, also if it is of small letters alone.
const MARKS: [&str; 4] = ["sk_live_", "sk_test_", "rk_live_", "rk_test_"];
/// The least that follows a mark.
const MARKED_BYTES_MIN: usize = 10;
/// The least that each part of a key of two parts has.
const PART_BYTES_MIN: usize = 16;
/// Options that say where a secret is, not what it is.
const PLACES: [&str; 4] = ["-file", "-path", "-env", "-stdin"];
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
            b'-' => self.private_key(at).or_else(|| self.option(at)),
            _ if byte.is_ascii_alphabetic() && (at == 0 || !is_word(self.byte(at - 1))) => {
                let key = self.key(at).or_else(|| self.marked(at)).or_else(|| self.parted(at));
                key.or_else(|| self.bearer(at)).or_else(|| self.jwt(at))
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

    /// `sk_live_…`.
    fn marked(&self, at: usize) -> Option<(usize, usize)> {
        let begun = at + MARKS.iter().find(|mark| self.starts(at, mark))?.len();
        (self.look(begun, is_key).len() >= MARKED_BYTES_MIN).then(|| (at, self.run(begun, is_key)))
    }

    /// `SG.`, an id, a dot and the key.
    fn parted(&self, at: usize) -> Option<(usize, usize)> {
        if !self.starts(at, "SG.") {
            return None;
        }
        let id = self.look(at + 3, is_key);
        let dot = at + 3 + id.len();
        let is_long = [id, self.look(dot + 1, is_key)].iter().all(|part| part.len() >= PART_BYTES_MIN);
        (is_long && self.byte(dot) == b'.').then(|| (at, self.run(dot + 1, is_key)))
    }

    /// What an option of a command is given: `--password …`, also as the next item of a list.
    fn option(&self, at: usize) -> Option<(usize, usize)> {
        if !self.starts(at, "--") || at > 0 && is_key(self.byte(at - 1)) {
            return None;
        }
        let name = core::str::from_utf8(self.look(at, is_key)).ok()?;
        let named = named(name);
        if named == Named::Plain || PLACES.iter().any(|place| name.ends_with(place)) {
            return None;
        }
        let begin = self.given(at + name.len())?;
        // Found before, as in what is assigned.
        if self.starts(begin, REDACTED) {
            return None;
        }
        let end = match self.byte(begin - 1) {
            quote @ (b'"' | b'\'') => self.quoted(begin, quote),
            // The next option.
            _ if self.byte(begin) == b'-' => return None,
            _ => self.run(begin, |byte| byte > b' ' && !b"\"'".contains(&byte)),
        };
        self.is_secret(named, begin, end).then_some((begin, end))
    }

    /// Where begins what an option is given, behind its quote. Where a quote ends the option, a comma and another
    /// quote must follow: the rest of a sentence is nothing that it is given.
    fn given(&self, after: usize) -> Option<usize> {
        let blanks = self.look(after, |byte| b" \t".contains(&byte)).len();
        let begin = after + blanks;
        if blanks > 0 {
            let escape = usize::from(self.byte(begin) == b'\\');
            let is_quoted = b"\"'".contains(&self.byte(begin + escape));
            return Some(if is_quoted { begin + escape + 1 } else { begin });
        }
        let gap = self.look(after, |byte| b" \t,\"'\\".contains(&byte));
        let is_next = gap.contains(&b',') && gap.last().is_some_and(|last| b"\"'".contains(last));
        is_next.then_some(after + gap.len())
    }

    /// Whether what stands there is a secret, as its name says: a number may be how many there are.
    fn is_secret(&self, named: Named, begin: usize, end: usize) -> bool {
        let value = self.bytes.get(begin..end).unwrap_or_default();
        let is_number = value.iter().all(|byte| byte.is_ascii_digit() || b".,".contains(byte));
        named == Named::Secret || !is_number
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
        self.is_secret(named, begin, end).then_some((begin, end))
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
