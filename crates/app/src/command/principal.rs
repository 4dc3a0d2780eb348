//! `countersign principal`: who may sign.
//! Owns: making and listing keys. Must not: show a private one.

use crate::cli::{Global, Principal};
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place::entropy;
use countersign_record::code::Code;
use countersign_record::id::PrincipalId;
use countersign_record::sign::PublicKey;
use countersign_store::keys::Keyring;
use serde::Serialize;

#[derive(Serialize)]
struct Shown {
    name: PrincipalId,
    key: PublicKey,
    own: bool,
}

pub(super) fn run(global: &Global, command: Principal) -> Result<Exit, Failure> {
    let keys = Keyring::open(&global.data);
    match command {
        Principal::Add { name } => {
            let name = PrincipalId::try_from(name)?;
            let key = keys.add(&name, entropy()?)?;
            show(global, Shown { name, key, own: true })?;
        }
        Principal::Trust { name, key } => {
            let name = PrincipalId::try_from(name)?;
            let key = PublicKey::try_from(key.as_str())
                .map_err(|error| Failure::new(Code::FieldInvalid, format!("the key: {error}")))?;
            keys.trust(&name, key)?;
            show(global, Shown { name, key, own: false })?;
        }
        Principal::List => {
            let all: Vec<Shown> = keys
                .list()?
                .into_iter()
                .map(|one| Shown { name: one.name, key: one.key, own: one.own })
                .collect();
            if global.json {
                output::json(&all)?;
            } else if all.is_empty() {
                output::line("No principals yet: countersign principal add NAME makes one.")?;
            } else {
                all.iter().try_for_each(|one| output::line(&text(one)))?;
            }
        }
    }
    Ok(Exit::Success)
}

fn show(global: &Global, shown: Shown) -> Result<(), Failure> {
    if global.json { output::json(&shown) } else { output::line(&text(&shown)) }
}

fn text(shown: &Shown) -> String {
    let whose = if shown.own { "own key" } else { "trusted" };
    format!("{}  {}  {whose}", shown.name, shown.key)
}
