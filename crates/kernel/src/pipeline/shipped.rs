//! The pipelines that ship, by what they are.
//! Owns: their names and hashes, so that whoever only has a run's records knows whether it went by one. Must not: hold their stages;
//! they are files of the product, and its tests compare them with this list.

/// Each pipeline that ships, with the SHA-256 of its canonical form; where it has changed, of every form that it had, the newest last.
pub const SHIPPED: [(&str, &[&str]); 4] = [
    ("default", &["d33ca2c394ba0d82e42af99e03b6c8f9be9ab71c486b1339ea55f6d8d6724ed2"]),
    ("ragstream", &["d1832a097d25d78241c4cc3d527c75354f4980543810a40b38a9ef43a5bdd1c0"]),
    ("six-agent", &["f50f1c98d60851a4570685ad8da8f037620b3c54a5178bf48d910b69b5d1a808"]),
    ("task", &["6833851d283a8f419837f008e414dd650d942012cc302bd4a85ff83098e668be"]),
];

/// Whether a pipeline has the name of one that ships, and is another.
#[must_use]
pub fn is_other(name: &str, hash: &str) -> bool {
    SHIPPED.iter().any(|(shipped, hashes)| *shipped == name && !hashes.contains(&hash))
}
