//! How much a held program may use, and what of a user's power it keeps.
//! Owns: resource limits, capabilities. Must not: be undone by the program.

use super::{Error, refused};
use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Memory, as addresses: enough for a search through large files, too little to press the machine.
const ADDRESS_BYTES_MAX: u64 = 1 << 30;
const FILES_MAX: u64 = 64;

/// Sets the limits, for good.
pub(super) fn apply(cpu_s: u64) -> Result<(), Error> {
    for (what, resource, most) in [
        ("the limit of processor time", Resource::Cpu, cpu_s),
        ("the limit of memory", Resource::As, ADDRESS_BYTES_MAX),
        ("the limit of file sizes", Resource::Fsize, 0),
        ("the limit of open files", Resource::Nofile, FILES_MAX),
        ("the limit of processes", Resource::Nproc, 0),
        ("the limit of core files", Resource::Core, 0),
        ("the limit of locked memory", Resource::Memlock, 0),
    ] {
        // A second more before processor time ends the hard way, so that the first end says what it is.
        let hard = if resource == Resource::Cpu { most.saturating_add(1) } else { most };
        // What is lower already stays.
        let hard = rustix::process::getrlimit(resource).maximum.map_or(hard, |held| held.min(hard));
        let limit = Rlimit { current: Some(most.min(hard)), maximum: Some(hard) };
        rustix::process::setrlimit(resource, limit).map_err(refused(what))?;
    }
    Ok(())
}

/// A superuser keeps the name only. New privileges are refused already, so that a program can't bring them back.
pub(super) fn drop_capabilities() -> Result<(), Error> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none).map_err(refused("giving up capabilities"))
}
