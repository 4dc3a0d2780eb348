//! Drafts of Rust that a review got past the rules, and harmless ones that it did not.

use crate::drafts::{broken, names};
use countersign_enforce::rule::Rule;
use countersign_enforce::{CodeSpec, Language};
use std::collections::BTreeSet;

/// What a file breaks of the CodeSpec that comes with us; where its parts stand is another matter.
fn broken_of_ours(code: &str) -> BTreeSet<&'static str> {
    let code = format!("//! Doc.\n\n{code}\n");
    let mut found = broken(Language::Rust, &code, CodeSpec::built_in(Language::Rust), &[]);
    found.remove(Rule::StructureOrder.as_str());
    found
}

/// What got past, and what it breaks.
const GOT_PAST: &[(&str, &[Rule])] = &[
    (
        "macro_rules! at {\n    ($m:ident) => {\n        std::$m::read_to_string(\"/etc/hostname\")\n    };\n}\n/// Doc.\npub fn f() -> String {\n    at!(fs).unwrap_or_default()\n}",
        &[Rule::ForbiddenCode, Rule::ImportNotAllowed],
    ),
    (
        "macro_rules! bring {\n    ($m:ident) => {\n        use std::$m as held;\n    };\n}\nbring!(fs);\n/// Doc.\npub fn f() -> String {\n    held::read_to_string(\"/etc/hostname\").unwrap_or_default()\n}",
        &[Rule::ForbiddenCode, Rule::ImportNotAllowed],
    ),
    (
        "macro_rules! pick {\n    (use x, $e:expr) => {\n        $e\n    };\n}\n/// Doc.\npub fn f() -> String {\n    pick!(use x, std::fs::read_to_string(\"/etc/hostname\")).unwrap_or_default()\n}",
        &[Rule::ForbiddenIo, Rule::ImportNotAllowed],
    ),
    (
        "mod a {\n    pub use std as b;\n}\n/// Doc.\npub fn f() -> String {\n    a::b::fs::read_to_string(\"/etc/hostname\").unwrap_or_default()\n}",
        &[Rule::ForbiddenIo],
    ),
    (
        "mod a {\n    pub use std as b;\n}\nuse a::b as q;\n/// Doc.\npub fn f() -> String {\n    q::fs::read_to_string(\"/etc/hostname\").unwrap_or_default()\n}",
        &[Rule::ForbiddenIo],
    ),
    (
        "mod a {\n    pub extern crate std as b;\n}\n/// Doc.\npub fn f() -> String {\n    self::a::b::fs::read_to_string(\"/etc/hostname\").unwrap_or_default()\n}",
        &[Rule::ForbiddenIo],
    ),
    (
        "use std::path::Path;\n/// Doc.\npub fn f() -> bool {\n    Path::exists(Path::new(\"/etc\"))\n}",
        &[Rule::ForbiddenIo],
    ),
    (
        "use std::path::Path;\n/// Doc.\npub fn f() -> Vec<bool> {\n    [Path::new(\"/etc\")].into_iter().map(Path::is_dir).collect()\n}",
        &[Rule::ForbiddenIo],
    ),
    (
        "use std::path::Path;\n/// Doc.\npub fn f() -> usize {\n    Path::read_dir(Path::new(\"/etc\")).map_or(0, Iterator::count)\n}",
        &[Rule::ForbiddenIo],
    ),
    (
        "use std::path::Path;\n/// Doc.\npub fn f() -> bool {\n    Path::new(\"/etc\").metadata().is_ok() && Path::new(\"/etc\").read_link().is_ok()\n}",
        &[Rule::ForbiddenIo],
    ),
    ("/// Doc.\npub fn f() -> bool {\n    std::path::absolute(\"x\").is_ok()\n}", &[Rule::ForbiddenIo]),
    (
        "use std::path::Path;\n/// Doc.\npub fn f() -> bool {\n    Path::new(\"/etc\").is_symlink()\n}",
        &[Rule::ForbiddenIo],
    ),
    (
        "use std::hash::{BuildHasher, Hasher, RandomState};\n/// Doc.\npub fn f() -> u64 {\n    RandomState::new().build_hasher().finish()\n}",
        &[Rule::ForbiddenTime],
    ),
    ("/// Doc.\npub fn f() {\n    std::thread::sleep_ms(5);\n}", &[Rule::ForbiddenTime]),
    (
        "/// Doc.\npub fn f() {\n    std::thread::park_timeout(std::time::Duration::from_secs(1));\n}",
        &[Rule::ForbiddenTime],
    ),
    ("/// Doc.\npub fn f() {\n    std::thread::sleep_until();\n}", &[Rule::ForbiddenTime]),
    ("use std::io;\n/// Doc.\npub fn f(out: &mut io::Stdout) {\n    drop(out);\n}", &[Rule::ForbiddenIo]),
    ("use std::net::ToSocketAddrs;\n/// Doc.\npub fn f() {}", &[Rule::ForbiddenNetwork]),
    ("use std as s;\n/// Doc.\npub fn f() {\n    drop(s::fs::read(\"x\"));\n}", &[Rule::ForbiddenIo]),
    ("use std::{self as s};\n/// Doc.\npub fn f() {\n    drop(s::fs::read(\"x\"));\n}", &[Rule::ForbiddenIo]),
    (
        "extern crate std as s;\n/// Doc.\npub fn f() {\n    drop(s::fs::read(\"x\"));\n}",
        &[Rule::ForbiddenIo],
    ),
    ("/// Doc.\npub fn f() {\n    drop(r#std::r#fs::read(\"x\"));\n}", &[Rule::ForbiddenIo]),
    ("/// Doc.\npub fn f() {\n    drop(<std::fs::File>::open(\"x\"));\n}", &[Rule::ForbiddenIo]),
    ("/// Doc.\npub fn f() -> &'static str {\n    include_str!(\"/etc/hostname\")\n}", &[Rule::ForbiddenIo]),
    (
        "use std::include_str as s;\n/// Doc.\npub fn f() -> &'static str {\n    s!(\"/etc/hostname\")\n}",
        &[Rule::ForbiddenIo, Rule::ImportNotAllowed],
    ),
    (
        "macro_rules! call {\n    ($m:ident) => {\n        $m!(\"/etc/hostname\")\n    };\n}\n/// Doc.\npub fn f() -> &'static str {\n    call!(include_str)\n}",
        &[Rule::ForbiddenCode],
    ),
    (
        "macro_rules! call {\n    ($m:ident) => {\n        $m!(\"x\")\n    };\n}\n/// Doc.\npub fn f() {\n    call!(println)\n}",
        &[Rule::ForbiddenCode],
    ),
    ("#[doc = include_str!(\"/etc/hostname\")]\npub fn f() {}", &[Rule::ForbiddenIo]),
    ("extern \"C\" {\n    fn getpid() -> i32;\n}\n/// Doc.\npub fn f() {}", &[Rule::ForbiddenCode]),
    ("#[path = \"/etc/x.rs\"]\nmod x;\n/// Doc.\npub fn f() {}", &[Rule::OtherFile]),
    ("#[path = \"/etc/x.rs\"]\npub(crate) mod x;\n/// Doc.\npub fn f() {}", &[Rule::OtherFile]),
    (
        "macro_rules! u {\n    ($u:tt) => {\n        $u { std::hint::unreachable_unchecked() }\n    };\n}\n/// Doc.\npub fn f() {\n    u!(unsafe)\n}",
        &[Rule::ForbiddenCode],
    ),
    (
        "/// Doc.\npub fn f() {}\n\n#[cfg(test)]\nmod tests {\n    use std::*;\n\n    fn g() {\n        drop(fs::read(\"x\"));\n    }\n}",
        &[Rule::ImportNotAllowed, Rule::ImportStar],
    ),
    (
        "use std::*;\n/// Doc.\npub fn f() {\n    drop(fs::read(\"x\"));\n}",
        &[Rule::ImportNotAllowed, Rule::ImportStar],
    ),
    (
        "mod a {\n    pub use std as b;\n}\nuse a::b::*;\n/// Doc.\npub fn f() {\n    drop(fs::read(\"x\"));\n}",
        &[Rule::ImportNotAllowed, Rule::ImportStar],
    ),
    (
        "use rustix::fs::open;\nuse walkdir::WalkDir;\n/// Doc.\npub fn f() {\n    drop(open);\n    drop(WalkDir::new(\"/\"));\n}",
        &[Rule::ImportNotAllowed],
    ),
    (
        "#[unsafe(no_mangle)]\npub extern \"C\" fn getpid() -> i32 {\n    /* evil */ 0\n}",
        &[Rule::Docstring, Rule::ForbiddenCode],
    ),
    (
        "/// Doc.\n#[no_mangle]\npub extern \"C\" fn malloc(x: usize) -> usize {\n    x\n}",
        &[Rule::ForbiddenCode],
    ),
    (
        "/// Doc.\n#[link_section = \".init_array\"]\npub static INIT_IT: extern \"C\" fn() = go;\n/// Doc.\npub extern \"C\" fn go() {}",
        &[Rule::ForbiddenCode],
    ),
    (
        "mod m {\n    pub struct X;\n}\nfn g() {\n    let chrono = 1;\n    drop(chrono);\n}\n/// Doc.\npub fn f() {\n    drop(chrono::Utc::now());\n}",
        &[Rule::Docstring, Rule::ForbiddenTime],
    ),
    (
        "#[cfg(never)]\nmod tokio {}\n/// Doc.\npub fn f() {\n    drop(tokio::fs::read(\"x\"));\n}",
        &[Rule::ForbiddenIo],
    ),
    (
        "#[cfg_attr(all(), path = \"/etc/x.rs\")]\nmod x {\n    mod y;\n}\n/// Doc.\npub fn f() {}",
        &[Rule::OtherFile],
    ),
    ("/// Doc.\npub fn f() -> &'static str {\n    std::env!(\"HOME\")\n}", &[Rule::ForbiddenIo]),
    (
        "/// Doc.\npub fn f() -> bool {\n    let p = std::path::PathBuf::from(\"/etc\");\n    std::path::PathBuf::exists(&p)\n}",
        &[Rule::ForbiddenIo],
    ),
];

#[test]
fn what_got_past_is_held() {
    for (code, rules) in GOT_PAST {
        assert_eq!(broken_of_ours(code), names(rules), "{code}");
    }
}

#[test]
fn what_computes_passes() {
    for code in [
        "use std::process::ExitCode;\n/// Doc.\npub fn f() -> ExitCode {\n    ExitCode::SUCCESS\n}",
        "use std::process;\n/// Doc.\npub fn f() -> process::ExitCode {\n    process::ExitCode::SUCCESS\n}",
        "use std::net::{IpAddr, Ipv4Addr};\n/// Doc.\npub fn f(a: IpAddr) -> bool {\n    a == IpAddr::V4(Ipv4Addr::LOCALHOST)\n}",
        "#![allow(clippy::all)]\nuse serde::{Deserialize, Serialize};\nuse std::collections::{BTreeMap, HashMap};\nuse std::fmt;\nuse std::io::{self, BufRead, Read, Write};\nuse std::sync::{Arc, Mutex};\nuse std::time::Duration;\n\n/// Doc.\n#[derive(Debug, Clone, Serialize, Deserialize)]\npub struct S {\n    at: Duration,\n}\n\nimpl fmt::Display for S {\n    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {\n        write!(f, \"{:?}\", self.at)\n    }\n}\n\n/// Doc.\npub fn f<R: BufRead, W: io::Write>(r: &mut R, w: &mut W) -> io::Result<usize> {\n    let m: HashMap<String, u8> = HashMap::new();\n    let b: BTreeMap<u8, u8> = [(1, 2)].into_iter().collect();\n    let x = Arc::new(Mutex::new(std::mem::take(&mut vec![1u8])));\n    let mut s = String::new();\n    r.read_to_string(&mut s)?;\n    writeln!(w, \"{}\", s)?;\n    drop(x);\n    Ok(m.len() + b.len() + usize::MAX.min(std::f64::consts::PI as usize) + std::iter::once(1).count())\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn x() {\n        assert_eq!(S { at: Duration::ZERO }.to_string(), \"0ns\");\n    }\n}",
        "macro_rules! tell {\n    ($($arg:tt)*) => {\n        log::info!($($arg)*)\n    };\n}\n\nmacro_rules! name_of {\n    ($name:ident, $value:expr) => {\n        /// Doc.\n        pub fn $name() -> u8 {\n            $crate::helper($value)\n        }\n    };\n}\n\nfn helper(x: u8) -> u8 {\n    tell!(\"x {}\", x);\n    x\n}\n\nname_of!(one, 1 + 1);",
        "mod a {\n    pub use std::collections::BTreeMap as Map;\n\n    /// Doc.\n    pub fn exists() -> bool {\n        true\n    }\n}\n/// Doc.\npub fn f() -> a::Map<u8, bool> {\n    a::Map::from([(1, a::exists())])\n}",
    ] {
        assert_eq!(broken_of_ours(code), names(&[]), "{code}");
    }
}
