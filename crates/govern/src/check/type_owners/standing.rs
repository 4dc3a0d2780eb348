//! Whether the registry of owners is clean, from row to row.
//! Owns: what changes with a row, so that nobody goes through all of them again. Must not: say which row is wrong; the rule does.

use super::{ANOTHER, Listed, NOT_IMPORTED, STRAY, TWICE, is_claim};
use crate::member::Member;
use crate::world::Record;
use alloc::collections::{BTreeMap, BTreeSet};

/// All types, as far as rows were taken in.
#[derive(Default)]
pub(super) struct Standing<'w> {
    types: BTreeMap<&'w str, OfType<'w>>,
    /// The types that something is wrong with.
    faulty: BTreeMap<&'w str, &'static str>,
}

/// What documents say of one type.
#[derive(Default)]
struct OfType<'w> {
    /// The last entry of each document that owns it or did, and those of them that are canonical, the first one first.
    own: BTreeMap<&'w str, Record<'w>>,
    canonical: BTreeSet<(u64, &'w str)>,
    /// How many entries import it from each document.
    imports: BTreeMap<&'w str, usize>,
    /// How many entries say that a document imports it.
    listed: BTreeMap<&'w str, usize>,
    /// The documents that declared it and did not say that they import it, and those of them that nobody lists.
    declared: BTreeSet<&'w str>,
    unlisted: BTreeSet<&'w str>,
    /// The documents whose last declaration says that they own it.
    claims: BTreeSet<&'w str>,
    /// What documents declare: the last hash of each, how many declarations there are of each, with each hash, and of each with it.
    last: BTreeMap<&'w str, &'w str>,
    count: usize,
    by_doc: BTreeMap<&'w str, usize>,
    by_hash: BTreeMap<&'w str, usize>,
    by_both: BTreeMap<(&'w str, &'w str), usize>,
}

impl<'w> Standing<'w> {
    /// What is wrong with the first type that something is wrong with.
    pub(super) fn fault(&self) -> Option<(&'w str, &'static str)> {
        self.faulty.iter().next().map(|(name, fault)| (*name, *fault))
    }

    /// Takes in an entry of the registry.
    pub(super) fn enter(&mut self, entry: Record<'w>) {
        let json = entry.json();
        let Some((name, owner)) = json.text("type_name").zip(json.text("canonical_owner_doc")) else {
            return;
        };
        let own = self.types.entry(name).or_default();
        if json.is("status", "imported") {
            *own.imports.entry(owner).or_default() += 1;
        } else if let Some(before) = own.own.insert(owner, entry) {
            own.canonical.remove(&(before.seq(), owner));
            before.json().texts("imported_by_docs").into_iter().for_each(|document| own.unlist(document));
        }
        if json.is("status", "canonical") {
            own.canonical.insert((entry.seq(), owner));
        }
        for document in json.texts("imported_by_docs") {
            *own.listed.entry(document).or_default() += 1;
            own.unlisted.remove(document);
        }
        self.judge(name);
    }

    /// Takes in a declaration.
    pub(super) fn declare(&mut self, declaration: Record<'w>, listed: &Listed<'w>) {
        let json = declaration.json();
        let Some((name, doc)) = json.text("type_name").zip(json.text("declared_in_doc")) else { return };
        let own = self.types.entry(name).or_default();
        if !json.is("declared_as", "imported") && !listed.held(declaration, name, doc) {
            own.declared.insert(doc);
            if !own.listed.contains_key(doc) {
                own.unlisted.insert(doc);
            }
        }
        match is_claim(declaration) {
            true => own.claims.insert(doc),
            false => own.claims.remove(doc),
        };
        if let Some(hash) = json.text("schema_hash") {
            own.last.insert(doc, hash);
            own.count += 1;
            *own.by_doc.entry(doc).or_default() += 1;
            *own.by_hash.entry(hash).or_default() += 1;
            *own.by_both.entry((doc, hash)).or_default() += 1;
        }
        self.judge(name);
    }

    fn judge(&mut self, name: &'w str) {
        match self.types.get(name).and_then(OfType::fault) {
            Some(fault) => self.faulty.insert(name, fault),
            None => self.faulty.remove(name),
        };
    }
}

impl<'w> OfType<'w> {
    /// An entry that says so counts no more.
    fn unlist(&mut self, document: &'w str) {
        let Some(count) = self.listed.get_mut(document) else { return };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.listed.remove(document);
            if self.declared.contains(document) {
                self.unlisted.insert(document);
            }
        }
    }

    fn fault(&self) -> Option<&'static str> {
        let (_, owner) = self.canonical.first()?;
        let is_other = |document: &&'w str| document != owner;
        if self.canonical.len() > 1 {
            Some(TWICE)
        } else if self.imports.keys().take(2).any(&is_other) {
            Some(STRAY)
        } else if self.unlisted.iter().take(2).any(&is_other) || self.claims.iter().take(2).any(is_other) {
            Some(NOT_IMPORTED)
        } else {
            let hash = self.last.get(owner)?;
            let count = |counted: Option<&usize>| counted.copied().unwrap_or(0);
            let others = self.count - count(self.by_doc.get(owner));
            let alike = count(self.by_hash.get(hash)) - count(self.by_both.get(&(owner, hash)));
            (others > alike).then_some(ANOTHER)
        }
    }
}
