//! The targets, by what they read.
//! Owns: nothing but the list. Must not: hold a law (see the modules).

pub(crate) mod documents;
pub(crate) mod embed;
pub(crate) mod enforce;
pub(crate) mod ledger;
pub(crate) mod models;
pub(crate) mod names;
pub(crate) mod recall;
pub(crate) mod says;
pub(crate) mod snapshot;
pub(crate) mod text;
