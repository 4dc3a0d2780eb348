//! The tokens of a data directory: who may ask its server for what.
//! Owns: their file, which holds hashes alone, and finding the one that was shown. Must not: keep a token itself.
//!
//! `tokens.json` is its owner's alone (0600). A server reads it for every request, so that what is added or revoked
//! counts at once.

use crate::failure::Failure;
use crate::place;
use countersign_durable::{self as durable, Links, Lock, NotTaken};
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::Fields;
use countersign_record::id::{MatterId, PrincipalId};
use countersign_record::json::{self, Json, Number, Object};
use countersign_record::time::{Instant, Timestamp};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use subtle::ConstantTimeEq;

/// What every token begins with, so that one that is lying about can be told.
const PREFIX: &str = "cst_";
/// How long the file's lock is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const VERSION: u64 = 1;
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// More are no help to anybody, and each request looks at all of them.
const TOKENS_MAX: usize = 1_000;

/// What is kept of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its name, which is no secret.
    pub(crate) id: String,
    /// Who acts with it.
    pub(crate) principal: PrincipalId,
    /// Where.
    pub(crate) matter: MatterId,
    /// As what.
    pub(crate) role: Role,
    sha256: Digest,
    pub(crate) made_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) revoked_at: Option<Timestamp>,
}

/// What a new token is for.
#[derive(Clone, Debug)]
pub(crate) struct For {
    pub(crate) principal: PrincipalId,
    pub(crate) matter: MatterId,
    pub(crate) role: Role,
    pub(crate) made_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
}

/// A token as its bearer shows it. It is never written down here, and does not print itself by accident.
pub(crate) struct Secret(String);

impl Secret {
    /// The text, for the one time that it is shown.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

/// The tokens of a data directory.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    file: PathBuf,
}

impl Tokens {
    /// Nothing is read or made yet.
    pub(crate) fn of(data: &Path) -> Self {
        Tokens { file: data.join("tokens.json") }
    }

    /// All of them, in the order they were made.
    pub(crate) fn list(&self) -> Result<Vec<Token>, Failure> {
        Ok(self.read()?.unwrap_or_default())
    }

    /// Makes a token.
    pub(crate) fn add(&self, wanted: For) -> Result<(Token, Secret), Failure> {
        let _lock = self.lock()?;
        let mut tokens = self.list()?;
        if tokens.len() >= TOKENS_MAX {
            let message = format!("there are {TOKENS_MAX} tokens already; remove some from tokens.json");
            return Err(Failure::new(Code::TokenFile, message));
        }
        let (token, secret) = made(wanted)?;
        tokens.push(token.clone());
        self.write(&tokens)?;
        Ok((token, secret))
    }

    /// Makes a token if there never was one.
    pub(crate) fn first(&self, wanted: For) -> Result<Option<(Token, Secret)>, Failure> {
        if self.read()?.is_some() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        // Another server may have been faster.
        if self.read()?.is_some() {
            return Ok(None);
        }
        let (token, secret) = made(wanted)?;
        self.write(std::slice::from_ref(&token))?;
        Ok(Some((token, secret)))
    }

    /// Ends a token. One that is revoked stays so, with the time that it was.
    pub(crate) fn revoke(&self, id: &str, at: &Timestamp) -> Result<Token, Failure> {
        let _lock = self.lock()?;
        let mut tokens = self.list()?;
        let found = tokens.iter_mut().find(|token| token.id == id);
        let found = found.ok_or_else(|| Failure::new(Code::TokenUnknown, "there is no token of this id"))?;
        found.revoked_at.get_or_insert_with(|| at.clone());
        let token = found.clone();
        self.write(&tokens)?;
        Ok(token)
    }

    /// What the bearer of a token may do.
    pub(crate) fn access(&self, shown: &str, now: Instant) -> Result<MatterAccess, Failure> {
        let hash = Digest::of(shown.as_bytes());
        // All are looked at, whichever it is: how long that takes says nothing.
        let mut found = None;
        for token in self.list()? {
            if bool::from(token.sha256.as_bytes().ct_eq(hash.as_bytes())) {
                found = Some(token);
            }
        }
        let Some(token) = found else {
            return Err(Failure::new(Code::TokenUnknown, "the token is none of this server's"));
        };
        if let Some(at) = token.revoked_at {
            return Err(Failure::new(Code::TokenRevoked, format!("the token was revoked at {at}")));
        }
        if let Some(at) = token.expires_at.filter(|at| at.instant() <= now) {
            return Err(Failure::new(Code::TokenExpired, format!("the token expired at {at}")));
        }
        let Token { principal, matter, role, .. } = token;
        Access::new(principal, BTreeMap::from([(matter.clone(), role)]))
            .to(&matter)
            .map_err(|refused| Failure::new(refused.code(), refused.to_string()))
    }

    fn lock(&self) -> Result<Lock, Failure> {
        let dir = durable::parent_of(&self.file);
        durable::make_dirs(dir, DIR_MODE).map_err(|error| self.trouble(&error.to_string()))?;
        Lock::take(&self.file.with_extension("lock"), PATIENCE).map_err(|error| match error {
            NotTaken::Held { .. } => self.trouble("another process changes it"),
            NotTaken::Gone | NotTaken::NotRegular | NotTaken::Io(_) => self.trouble(&error.to_string()),
        })
    }

    /// Nothing if there is no file.
    fn read(&self) -> Result<Option<Vec<Token>>, Failure> {
        let (file, _) = match durable::open_regular(&self.file, Links::Refused) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.trouble(&error.to_string())),
        };
        let about = file.metadata().map_err(|error| self.trouble(&error.to_string()))?;
        // Whoever can write it can make a token, and whoever can read it learns who there is.
        if about.permissions().mode() & 0o077 != 0 {
            return Err(self.trouble("others can read or write it; it is for its owner alone (0600)"));
        }
        let mut bytes = Vec::new();
        let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.trouble(&error.to_string()))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(self.trouble("it is too long"));
        }
        let document = json::parse(&bytes).map_err(|error| self.trouble(&error.without_text()))?;
        parsed(document).map(Some).ok_or_else(|| self.trouble("it holds no tokens of this version"))
    }

    fn write(&self, tokens: &[Token]) -> Result<(), Failure> {
        let text = json::to_text(&printed(tokens)).map_err(|error| self.trouble(&error.to_string()))?;
        let text = format!("{}\n", json::indented(&text));
        let staged = self.file.with_extension("json.new");
        // Left by a process that was ended in the middle; the lock says that none is at it now.
        let written = durable::remove(&staged)
            .and_then(|()| durable::write_new(&staged, FILE_MODE, text.as_bytes()))
            .and_then(|()| durable::replace(&staged, &self.file));
        written.map_err(|error| self.trouble(&error.to_string()))
    }

    fn trouble(&self, why: &str) -> Failure {
        Failure::new(Code::TokenFile, format!("{}: {why}", self.file.display()))
    }
}

fn made(wanted: For) -> Result<(Token, Secret), Failure> {
    let For { principal, matter, role, made_at, expires_at } = wanted;
    // Never from --seed: what can be made again can be guessed.
    let digits = Digest::from_bytes(place::entropy()?);
    let secret = Secret(format!("{PREFIX}{digits}"));
    let sha256 = Digest::of(secret.0.as_bytes());
    let id = format!("tok_{}", sha256.to_string().get(..12).unwrap_or_default());
    Ok((Token { id, principal, matter, role, sha256, made_at, expires_at, revoked_at: None }, secret))
}

fn printed(tokens: &[Token]) -> Json {
    let time = |at: &Option<Timestamp>| at.as_ref().map_or(Json::Null, |at| at.as_str().into());
    let one = |token: &Token| {
        Json::Object(Object::from([
            ("id", token.id.as_str().into()),
            ("principal", token.principal.as_str().into()),
            ("matter", token.matter.as_str().into()),
            ("role", token.role.to_string().as_str().into()),
            ("sha256", token.sha256.to_string().as_str().into()),
            ("made_at", token.made_at.as_str().into()),
            ("expires_at", time(&token.expires_at)),
            ("revoked_at", time(&token.revoked_at)),
        ]))
    };
    let version = Number::try_from(VERSION).map_or(Json::Null, Json::Number);
    Json::Object(Object::from([
        ("version", version),
        ("tokens", Json::Array(tokens.iter().map(one).collect())),
    ]))
}

/// Nothing bad is defaulted: a file with one bad token has none.
fn parsed(document: Json) -> Option<Vec<Token>> {
    let mut fields = Fields::taking(document).ok()?;
    let version = fields.integer("version");
    let tokens = fields.objects("tokens", |fields| {
        let token = Token {
            id: fields.filled("id")?,
            principal: fields.id("principal")?,
            matter: fields.id("matter")?,
            role: fields.parse("role", role)?,
            sha256: fields.parse("sha256", |text| Digest::try_from(text))?,
            made_at: fields.timestamp("made_at")?,
            expires_at: fields.optional("expires_at", Fields::timestamp),
            revoked_at: fields.optional("revoked_at", Fields::timestamp),
        };
        fields.deny_unknown();
        Some(token)
    });
    fields.deny_unknown();
    fields.finish().ok()?;
    tokens.filter(|_| version == Some(VERSION))
}

fn role(text: &str) -> Result<Role, &'static str> {
    match text {
        "viewer" => Ok(Role::Viewer),
        "operator" => Ok(Role::Operator),
        "approver" => Ok(Role::Approver),
        "admin" => Ok(Role::Admin),
        _ => Err("a role is viewer, operator, approver or admin"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::scratch::Scratch;

    fn wanted(name: &str) -> For {
        For {
            principal: PrincipalId::try_from(name).unwrap(),
            matter: MatterId::try_from("default").unwrap(),
            role: Role::Approver,
            made_at: Timestamp::try_from("2025-12-10T10:00:00Z").unwrap(),
            expires_at: Timestamp::try_from("2025-12-11T10:00:00Z").ok(),
        }
    }

    #[test]
    fn a_token_is_its_bearers_until_it_ends() {
        let scratch = Scratch::new();
        let tokens = Tokens::of(&scratch.path().join("data"));
        let at = |text: &str| Instant::read(text).unwrap();
        let before = at("2025-12-11T09:59:59Z");
        assert_eq!(tokens.access("cst_x", before).unwrap_err().code, Code::TokenUnknown);
        let (token, secret) = tokens.add(wanted("ana")).unwrap();
        assert_eq!(tokens.list().unwrap(), std::slice::from_ref(&token));
        let access = tokens.access(secret.expose(), before).unwrap();
        assert_eq!((access.principal().as_str(), access.matter().as_str()), ("ana", "default"));
        assert!(access.require(Role::Approver).is_ok() && access.require(Role::Admin).is_err());
        let after = at("2025-12-11T10:00:00Z");
        assert_eq!(tokens.access(secret.expose(), after).unwrap_err().code, Code::TokenExpired);
        let now = Timestamp::try_from("2025-12-10T11:00:00Z").unwrap();
        let revoked = tokens.revoke(&token.id, &now).unwrap();
        assert_eq!(revoked.revoked_at, Some(now));
        assert_eq!(tokens.access(secret.expose(), before).unwrap_err().code, Code::TokenRevoked);
        assert!(tokens.first(wanted("ben")).unwrap().is_none(), "there was a token");
    }

    #[test]
    fn none_is_lost_where_many_are_made() {
        let scratch = Scratch::new();
        let tokens = Tokens::of(scratch.path());
        std::thread::scope(|scope| {
            for at in 0..8 {
                let tokens = &tokens;
                scope.spawn(move || tokens.add(wanted(&format!("user-{at}"))).unwrap());
            }
        });
        assert_eq!(tokens.list().unwrap().len(), 8);
    }
}
