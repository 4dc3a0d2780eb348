//! What sessions and runs may remember, put together from options.
//! Owns: which stores of memory those are, where they lie and how far they may travel. Must not: read one.

use crate::cli::Global;
use crate::failure::Failure;
use crate::office::{Rooms, real};
use crate::output;
use countersign_kernel::policy::{Policy, cleaned};
use countersign_memory::conversation::{Conversation, Recalling};
use countersign_memory::recall::Stores;
use countersign_memory::remembered;
use countersign_record::code::Code;
use countersign_record::row::DataClass;
use countersign_runtime::agents::Past;
use countersign_runtime::memory_read::Recall;
use countersign_runtime::ports::model::{Model, Site};
use countersign_runtime::run::Bench;
use countersign_runtime::run::mind::Mind;
use countersign_store::roots::Claims;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// How much memory a prompt may be given, in tokens.
const RECALL_TOKENS_MAX: u32 = 1_000;

/// The stores that somebody named: how far each may travel, and where it is.
pub(crate) type Named = (BTreeMap<String, DataClass>, BTreeMap<String, String>);

pub(crate) fn stores(
    names: &[String],
    policy: &Policy,
    apart_from: &[&Path],
    claims: &Claims,
) -> Result<Named, Failure> {
    let (mut classes, mut places) = (BTreeMap::new(), BTreeMap::new());
    for store in names {
        let real = place_of_store(store, apart_from, claims)?;
        classes.insert(store.clone(), class_of_store(policy, store, &real));
        places.insert(store.clone(), real);
    }
    Ok((classes, places))
}

/// What prompts may be given from memory: those stores, and what sessions of the matter left.
pub(crate) fn recall(
    remembers: &remembered::Sessions,
    mut stores: BTreeMap<String, DataClass>,
    places: BTreeMap<String, String>,
    model: &dyn Model,
) -> Option<Recall> {
    let own = remembers.stores().into_iter();
    stores.extend(own.filter_map(|(path, class)| Some((path.to_str()?.to_owned(), class))));
    // What must not leave is not even shown to a model that is elsewhere: it would only stop the session.
    if let Site::Remote(_) = model.about().site {
        stores.retain(|_, class| *class != DataClass::LocalOnly);
    }
    (!stores.is_empty()).then(|| Recall {
        memory: Arc::new(Stores::default()),
        stores,
        places,
        tokens_max: RECALL_TOKENS_MAX,
    })
}

/// What a run of the matter may remember: its conversation, what its sessions left, and the stores that were named.
pub(crate) fn past(
    global: &Global,
    policy: &Policy,
    memory: &[String],
    mind: &Mind,
    bench: &Bench,
) -> Result<Past, Failure> {
    let rooms = Rooms::of(global)?;
    let claims = Claims::of(&global.data, bench.access.matter().clone());
    let (classes, places) = stores(memory, policy, &[&global.data], &claims)?;
    let logs = rooms.logs();
    Ok(Past {
        history_class: policy.user_class.max(policy.class_of_root(&logs.to_string_lossy())),
        history: Some(Arc::new(Recalling::new(Conversation::at(&logs)))),
        stores: recall(&remembered::Sessions::at(&rooms.memory()), classes, places, mind.model.as_ref()),
        journal: Arc::clone(&bench.journal),
        access: bench.access.clone(),
    })
}

/// Where a store really is. One that tools can write to is none: a model would tell itself what to remember. Nor is
/// what sessions keep for themselves, or what another matter writes: its class is not known here.
fn place_of_store(store: &str, apart_from: &[&Path], claims: &Claims) -> Result<String, Failure> {
    let shown = output::plain(store);
    let refused = |why: &str| Err(Failure::new(Code::UsageInvalid, format!("--memory {shown} {why}")));
    let Some(place) = real(Path::new(store)) else { return refused("has no place") };
    let lies_in = |dir: &&Path| real(dir).is_none_or(|dir| place.starts_with(dir));
    if apart_from.iter().any(lies_in) {
        return refused("lies in the data directory or the root of the tools; name a store elsewhere");
    }
    match claims.other(&place) {
        Ok(None) => Ok(place.to_string_lossy().into_owned()),
        Ok(Some(other)) => refused(&format!("lies where sessions of the matter {other} write")),
        Err(error) => refused(&format!("can't be told from what other matters write: {error}")),
    }
}

/// The class of a store, however it and the policy spell its path; `place` is where it really is.
fn class_of_store(policy: &Policy, store: &str, place: &str) -> DataClass {
    let there = |path: &str| Path::new(path).canonicalize().ok();
    let is_same = |rule: &str| {
        cleaned(store).as_deref() == Some(rule) || there(rule).is_some_and(|rule| there(store) == Some(rule))
    };
    let classes = policy.stores.iter().filter(|(rule, _)| is_same(rule)).map(|(_, class)| *class);
    classes.max().unwrap_or(DataClass::Internal).max(policy.class_of_root(place))
}
