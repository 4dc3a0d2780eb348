//! What this machine offers for keeping tools in their place.
//! Owns: asking the kernel, each answer with what to do where it is no. Must not: confine this process.

use crate::held::{self, Spaces};
use crate::sandbox::Sandbox;
use crate::shell::{self, NAMES, find};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::process::Resource;
use serde::Serialize;

/// Whether something is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All of it.
    Ready,
    /// Not all of it, and what is there is enough.
    Limited,
    /// Too little: the tools that need it are refused.
    Missing,
}

/// One thing that tools need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Feature {
    /// What.
    pub name: &'static str,
    /// Whether it is there.
    pub state: State,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<&'static str>,
}

/// The oldest Landlock that also holds the network and signals.
const LANDLOCK_WHOLE: u8 = 6;

/// What tools need, one by one. Nothing is started.
#[must_use]
pub fn support() -> Vec<Feature> {
    vec![openat2(), landlock(), seccomp(), limits(), user_namespaces(), commands()]
}

/// Whether a program can really be held: runs one that says where it is. Blocks until it has ended.
#[must_use]
pub fn rehearse(sandbox: &Sandbox) -> Feature {
    const NAME: &str = "held programs";
    match shell::rehearse(sandbox) {
        Ok(Spaces::Own) => {
            ready(NAME, "a program was run, in namespaces of its own, and could do nothing else")
        }
        Ok(Spaces::Shared) => ready(NAME, "a program was run and could do nothing else"),
        Err(refusal) => Feature {
            name: NAME,
            state: State::Missing,
            detail: refusal.to_string(),
            fix: Some(
                "see what else is missing; in a container, allow Landlock and seccomp; shell.exec is refused",
            ),
        },
    }
}

fn ready(name: &'static str, detail: impl Into<String>) -> Feature {
    Feature { name, state: State::Ready, detail: detail.into(), fix: None }
}

fn openat2() -> Feature {
    const NAME: &str = "openat2";
    let flags = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match rustix::fs::openat2(CWD, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), flags) {
        Ok(_) => ready(NAME, "paths can be kept beneath a root"),
        Err(errno) => Feature {
            name: NAME,
            state: State::Missing,
            detail: format!("refused: {errno}"),
            fix: Some("use a kernel from 5.6 on; file tools are refused without it"),
        },
    }
}

fn landlock() -> Feature {
    const NAME: &str = "landlock";
    match held::landlock_abi() {
        Some(abi) if abi >= LANDLOCK_WHOLE => {
            ready(NAME, format!("version {abi}: files, the network and signals are held"))
        }
        Some(abi) => Feature {
            name: NAME,
            state: State::Limited,
            detail: format!("version {abi}: files are held, the rest by seccomp alone"),
            fix: Some("use a kernel from 6.12 on for a second wall before the network and signals"),
        },
        None => Feature {
            name: NAME,
            state: State::Missing,
            detail: "the kernel can't confine files".to_owned(),
            fix: Some(
                "use a kernel from 5.13 on with landlock among its security modules; shell.exec is refused \
                 without it",
            ),
        },
    }
}

fn seccomp() -> Feature {
    const NAME: &str = "seccomp";
    let has_filters = std::fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
        .is_ok_and(|actions| actions.split_whitespace().any(|action| action == "errno"));
    match (has_filters, held::knows_calls()) {
        (true, true) => ready(NAME, "the kernel can refuse system calls"),
        (true, false) => Feature {
            name: NAME,
            state: State::Missing,
            detail: format!("there is no filter for {}", std::env::consts::ARCH),
            fix: Some("use x86_64, aarch64 or riscv64; shell.exec is refused elsewhere"),
        },
        (false, _) => Feature {
            name: NAME,
            state: State::Missing,
            detail: "the kernel has no seccomp filters".to_owned(),
            fix: Some("use a kernel with seccomp filters; shell.exec is refused without them"),
        },
    }
}

fn limits() -> Feature {
    let cpu = rustix::process::getrlimit(Resource::Cpu).maximum;
    let memory = rustix::process::getrlimit(Resource::As).maximum;
    match (cpu, memory) {
        (None, None) => ready("resource limits", "processor time, memory and files of programs are bounded"),
        (_, _) => ready("resource limits", "bounded; this process has limits of its own that hold too"),
    }
}

fn user_namespaces() -> Feature {
    const NAME: &str = "user namespaces";
    let most = std::fs::read_to_string("/proc/sys/user/max_user_namespaces");
    match most.map(|text| text.trim().parse::<u64>()) {
        Ok(Ok(most)) if most > 0 => ready(NAME, "programs have their own network and memory"),
        Ok(_) | Err(_) => Feature {
            name: NAME,
            state: State::Limited,
            detail: "not allowed: programs are held by Landlock and seccomp alone".to_owned(),
            fix: Some(
                "allow user namespaces (user.max_user_namespaces) for one more wall before the network",
            ),
        },
    }
}

fn commands() -> Feature {
    const NAME: &str = "commands";
    let (there, missing): (Vec<&str>, Vec<&str>) = NAMES.into_iter().partition(|name| find(name).is_some());
    if missing.is_empty() {
        return ready(NAME, there.join(", "));
    }
    Feature {
        name: NAME,
        state: State::Limited,
        detail: format!("not installed: {}", missing.join(", ")),
        fix: Some("install them in /usr/bin, if shell.exec should have them (rg is ripgrep)"),
    }
}
