//! Which package may use which: the map of the architecture as data.
//! Owns: the table and the allow-lists of the pure crates. Must not: read a manifest (see `manifests`).
//!
//! A new package needs a row here, and a row needs the sentence of what the package may not do.

/// One package, by its directory name.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Completes "it may not …".
    pub(crate) may_not: &'static str,
    /// The packages of this repository it may use.
    pub(crate) may_use: &'static [&'static str],
    pub(crate) kind: Kind,
}

/// What a package promises about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Values in, values out, `no_std`; of foreign crates it may use these only.
    Pure { externals: &'static [&'static str] },
    /// Touches the world.
    Edge,
    /// Never part of the product.
    Dev,
}

const PURE_EXTERNALS: &[&str] = &["serde", "thiserror"];
/// What formulas need of mathematics, the same on every platform, and one spelling of a text.
const GOVERN_EXTERNALS: &[&str] = &["icu_normalizer", "libm", "once_cell", "thiserror"];
/// A power that every platform agrees on, finding a text or a pattern in a text whatever its case and spelling, and (as a
/// feature) schemas.
const KERNEL_EXTERNALS: &[&str] = &[
    "aho-corasick",
    "icu_casemap",
    "icu_normalizer",
    "libm",
    "memchr",
    "regex",
    "schemars",
    "serde",
    "thiserror",
    "url",
    "wide",
];
/// The formulas, read once.
const WORK_EXTERNALS: &[&str] = &["once_cell", "thiserror"];
/// Holding documents against JSON Schemas, as a task asks, and a run against the pipeline of its task's folder.
const VERIFY_EXTERNALS: &[&str] = &["jsonschema", "serde", "serde_json", "thiserror", "toml"];
const RECORD_EXTERNALS: &[&str] =
    &["ed25519-dalek", "itoa", "memchr", "ryu-js", "schemars", "serde", "sha2", "thiserror"];

const ADAPTER_USES: &[&str] = &["durable", "govern", "kernel", "record", "runtime"];
const MEMORY_USES: &[&str] = &["durable", "govern", "kernel", "mapped", "record", "runtime"];
const SOURCES_USES: &[&str] = &["durable", "kernel", "memory", "record"];
const EVERYTHING_BELOW_APP: &[&str] = &[
    "durable", "enforce", "govern", "kernel", "local", "mapped", "memory", "models", "record", "runtime",
    "sources", "store", "tools", "verify", "views", "web", "work",
];
const EVERYTHING: &[&str] = &[
    "app", "durable", "enforce", "govern", "kernel", "local", "mapped", "memory", "models", "record",
    "runtime", "sources", "store", "testkit", "tools", "verify", "views", "web", "work",
];

/// The packages that may ask for `unsafe`, each in the one place it is there for. Their lints are the workspace's, but
/// that `unsafe_code` is denied and not forbidden.
pub(crate) const UNSAFE: &[&str] = &["mapped"];

/// The map.
#[rustfmt::skip] // one row per line reads as the table it is
pub(crate) const TABLE: &[Row] = &[
    pure("record",  "know any other crate", &[], RECORD_EXTERNALS),
    pure("kernel",  "do I/O or see time", &["record"], KERNEL_EXTERNALS),
    pure("govern",  "do I/O or see time", &["record"], GOVERN_EXTERNALS),
    pure("work",    "do I/O, see time, or derive a value without a registered formula", &["govern", "kernel", "record"], WORK_EXTERNALS),
    pure("verify",  "do I/O, know how a run is carried out, or compare a value with itself", &["govern", "kernel", "record"], VERIFY_EXTERNALS),
    pure("views",   "write", &["govern", "kernel", "record"], PURE_EXTERNALS),
    edge("enforce", "run what it checks", &["record"]),
    edge("durable", "know what is in a file", &[]),
    edge("runtime", "know SQL, HTTP or a vendor", &["govern", "kernel", "record", "views", "work"]),
    edge("store",   "interpret rows", ADAPTER_USES),
    edge("mapped",  "interpret what it maps", &[]),
    edge("memory",  "decide", MEMORY_USES),
    edge("sources", "decide which files are eligible", SOURCES_USES),
    edge("models",  "see tools or the store", ADAPTER_USES),
    edge("tools",   "run without a grant, or open a socket", ADAPTER_USES),
    edge("web",     "fetch without a grant", ADAPTER_USES),
    edge("local",   "see tools or the store", &["durable", "models", "record", "runtime"]),
    edge("app",     "decide", EVERYTHING_BELOW_APP),
    dev("testkit",  "be part of the product", EVERYTHING_BELOW_APP),
    dev("xtask",    "be used by another package", &["enforce", "govern", "kernel", "record", "work"]),
    dev("fuzz",     "be used by another package", EVERYTHING),
];

const fn pure(
    name: &'static str,
    may_not: &'static str,
    may_use: &'static [&'static str],
    externals: &'static [&'static str],
) -> Row {
    Row { name, may_not, may_use, kind: Kind::Pure { externals } }
}

const fn edge(name: &'static str, may_not: &'static str, may_use: &'static [&'static str]) -> Row {
    Row { name, may_not, may_use, kind: Kind::Edge }
}

const fn dev(name: &'static str, may_not: &'static str, may_use: &'static [&'static str]) -> Row {
    Row { name, may_not, may_use, kind: Kind::Dev }
}

/// What a package is tested with that it may not know: what it looks at is made by others.
pub(crate) const TESTED_WITH: &[(&str, &str)] = &[("verify", "work")];

/// The row of a package, by its directory name.
pub(crate) fn row(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

/// Whether `used` is below the package, however many steps down.
pub(crate) fn is_built_on(package: &Row, used: &str) -> bool {
    package.may_use.iter().any(|next| *next == used || row(next).is_some_and(|next| is_built_on(next, used)))
}

/// Whether the package promises to be pure.
pub(crate) fn is_pure(name: &str) -> bool {
    row(name).is_some_and(|row| matches!(row.kind, Kind::Pure { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_used_package_has_a_row_and_no_row_is_there_twice() {
        for (at, row) in TABLE.iter().enumerate() {
            assert!(!TABLE[..at].iter().any(|earlier| earlier.name == row.name), "{} twice", row.name);
            for used in row.may_use {
                assert!(super::row(used).is_some(), "{} may use {used}, which has no row", row.name);
            }
        }
    }

    #[test]
    fn the_map_has_no_cycle() {
        let mut placed: Vec<&str> = Vec::new();
        for _ in TABLE {
            let next = TABLE
                .iter()
                .find(|r| !placed.contains(&r.name) && r.may_use.iter().all(|u| placed.contains(u)));
            placed.push(next.expect("every package left uses another one left").name);
        }
        assert_eq!(placed.len(), TABLE.len());
    }

    #[test]
    fn pure_crates_use_pure_crates_only() {
        for row in TABLE.iter().filter(|row| is_pure(row.name)) {
            assert!(row.may_use.iter().all(|used| is_pure(used)), "{} uses the world", row.name);
        }
    }
}
