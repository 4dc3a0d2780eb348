//! Which files a held program can reach: Landlock.
//! Owns: the rules. Must not: run where the kernel holds less than all of the first set.

use super::Error;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use std::path::Path;

/// What every kernel with Landlock holds.
const FILES: ABI = ABI::V1;
/// The newest that is asked for, where it is there.
const MORE: ABI = ABI::V6;
/// What programs are made of: read, never run.
const LIBRARIES: [&str; 4] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
/// Where libraries are found, and what is empty: read.
const LOADED: [&str; 2] = ["/etc/ld.so.cache", "/dev/null"];
/// What the kernel runs to load a program, under the names that programs know it by. Whoever could start one anew could
/// have it load a file from beneath the root, which would be held as the program is; none of the programs starts anything.
const LOADERS: [&str; 6] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-linux-riscv64-lp64d.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
    "/lib/ld-musl-riscv64.so.1",
];

/// Leaves the program: its own file to run, its libraries and what is beneath the root to read. Nothing can be written
/// anywhere.
pub(super) fn apply(root: &Path, program: &Path) -> Result<(), Error> {
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = AccessFs::ReadFile | AccessFs::Execute;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(FILES))?
        .create()?
        .add_rule(PathBeneath::new(PathFd::new(root)?, read))?
        .add_rule(PathBeneath::new(PathFd::new(program)?, run))?;
    // Which of these are there depends on the system.
    for (paths, access) in
        [(&LIBRARIES[..], read), (&LOADED[..], AccessFs::ReadFile.into()), (&LOADERS[..], run)]
    {
        for path in paths {
            if let Ok(place) = PathFd::new(path) {
                rules = rules.add_rule(PathBeneath::new(place, access))?;
            }
        }
    }
    let status = rules.restrict_self()?;
    if status.ruleset != RulesetStatus::FullyEnforced || !status.no_new_privs {
        return Err(Error::LandlockPartly);
    }
    more()
}

/// What newer kernels hold too: truncating, devices, the network, signals. Seccomp refuses most of it anyway.
fn more() -> Result<(), Error> {
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(MORE) & !AccessFs::from_all(FILES))?
        .handle_access(AccessNet::from_all(MORE))?
        .scope(Scope::from_all(MORE))?
        .create()?
        .restrict_self()?;
    Ok(())
}

/// The newest version of Landlock that this kernel and this program both know; asking confines nobody.
pub(crate) fn abi() -> Option<u8> {
    let known =
        [(7, ABI::V7), (6, ABI::V6), (5, ABI::V5), (4, ABI::V4), (3, ABI::V3), (2, ABI::V2), (1, ABI::V1)];
    known.into_iter().find(|(_, abi)| has(*abi)).map(|(number, _)| number)
}

fn has(abi: ABI) -> bool {
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let net = AccessNet::from_all(abi);
    let scope = Scope::from_all(abi);
    let asked = rules.as_mut().handle_access(AccessFs::from_all(abi)).is_ok()
        && (net.is_empty() || rules.as_mut().handle_access(net).is_ok())
        && (scope.is_empty() || rules.as_mut().scope(scope).is_ok());
    asked && rules.create().is_ok()
}
