//! What the kernel offers for keeping tools in their place.
//! Owns: asking it, without starting anything. Must not: confine this process.

use super::Check;
use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};
use rustix::fs::{Mode, OFlags, ResolveFlags};

/// The features that tools will need, each with what can be done where it is missing.
pub(super) fn checks() -> Vec<Check> {
    vec![landlock(), seccomp(), openat2(), user_namespaces()]
}

fn landlock() -> Check {
    const NAME: &str = "landlock";
    const FIX: &str =
        "use a kernel from 5.13 on with landlock among its security modules; shell tools stay off without it";
    // Making a set of rules confines nobody; only enforcing it would.
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create);
    match rules {
        Ok(_) => Check::ok(NAME, "the kernel can confine files"),
        Err(error) => Check::limited(NAME, error.to_string(), FIX),
    }
}

fn seccomp() -> Check {
    const NAME: &str = "seccomp";
    const FIX: &str = "use a kernel with seccomp filters; shell tools stay off without them";
    match std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail") {
        Ok(actions) if actions.split_whitespace().any(|action| action == "errno") => {
            Check::ok(NAME, "the kernel can refuse system calls")
        }
        Ok(_) | Err(_) => Check::limited(NAME, "the kernel has no seccomp filters", FIX),
    }
}

fn openat2() -> Check {
    const NAME: &str = "openat2";
    const FIX: &str = "use a kernel from 5.6 on; file tools stay off without it";
    let beneath = rustix::fs::openat2(
        rustix::fs::CWD,
        ".",
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    );
    match beneath {
        Ok(_) => Check::ok(NAME, "paths can be kept beneath a root"),
        Err(error) => Check::limited(NAME, format!("refused: {error}"), FIX),
    }
}

fn user_namespaces() -> Check {
    const NAME: &str = "user namespaces";
    const FIX: &str = "raise user.max_user_namespaces; tools then lose the network by namespace too";
    match std::fs::read_to_string("/proc/sys/user/max_user_namespaces").map(|text| text.trim().parse::<u64>())
    {
        Ok(Ok(most)) if most > 0 => Check::ok(NAME, "allowed"),
        Ok(_) | Err(_) => Check::limited(NAME, "not allowed", FIX),
    }
}
