//! Ways around the rules of Rust, and code that only looks like one.

use crate::drafts::{broken, names, spec};
use countersign_enforce::Language;
use countersign_enforce::rule::Rule;

const RULES: &str = "[imports]
deny = ['libc']
star = 'forbidden'
[logging]
print = 'forbidden'
[calls]
io = ['std::fs', 'include_str!', '.exists']
network = ['std::net', 'reqwest']
time = ['std::time::Instant', 'time']
process = ['std::process']
code = ['asm!']
unsafe = 'forbidden'";

fn check(code: &str, rules: &[Rule]) {
    let spec = spec(Language::Rust, RULES);
    assert_eq!(broken(Language::Rust, code, &spec, &[]), names(rules), "{code}");
}

#[test]
fn names_are_followed() {
    for code in [
        "use std::fs;",
        "use std::fs as f; fn a() { f::read(1); }",
        "use std::{fs::read as r, mem}; fn a() { r(1); }",
        "use std::fs::{self as q}; fn a() { q::read(1); }",
        "fn a() { std::fs::read(1); }",
        "fn a() { ::std::fs::read(1); }",
        "fn a() { let r = std::fs::read; }",
        "fn a() { b(std::fs::read) }",
        "use std as s; fn a() { s::fs::read(1); }",
        "extern crate std as s; fn a() { s::fs::read(1); }",
        "use std as s; use s::fs as t; fn a() { t::read(1); }",
        "use std as s; fn a() { self::s::fs::read(1); }",
        "use std as s; fn a() { crate::s::fs::read(1); }",
        "mod m { pub use std as s; } fn a() { m::x(); } fn b() { use std::fs as g; }",
        "type F = std::fs::File; fn a() { F::open(1); }",
        "fn a(f: std::fs::File) {}",
        "impl Drop for std::fs::File {}",
        "fn a() { <std::fs::File>::open(1); }",
        "fn a() { vec![std::fs::read(1)]; }",
        "macro_rules! m { () => { std::fs::read(1) } }",
        "macro_rules! m { () => { use std::fs as f; f::read(1) } }",
        "fn a() { r#std::fs::read(1); }",
        "fn std() {} fn a() { std::fs::read(1); }",
        "mod m { mod std {} } fn a() { std::fs::read(1); }",
        "mod m { use other as std; } fn a() { std::fs::read(1); }",
        "fn a() { include_str!(\"x\"); }",
        "fn a() { std::include_str!(\"x\"); }",
        "use std::include_str as i; fn a() { i!(\"x\"); }",
        "fn a() { p.exists(); }",
        "fn a() { p.exists::<u8>(); }",
        "#[cfg(feature = \"a\")] use std::fs;",
    ] {
        check(code, &[Rule::ForbiddenIo]);
    }
    check("use std::net::TcpStream; fn a() { TcpStream::connect(1); }", &[Rule::ForbiddenNetwork]);
    check("fn a() { reqwest::get(1); }", &[Rule::ForbiddenNetwork]);
    check("mod m { mod reqwest {} } fn a() { reqwest::get(1); }", &[Rule::ForbiddenNetwork]);
    check("use std::time::*; fn a() { Instant::now(); }", &[Rule::ImportStar]);
    check("use core::time::Instant as I; fn a() { I::now(); }", &[Rule::ForbiddenTime]);
    check("use time::now;", &[Rule::ForbiddenTime]);
    check("use std::process::Command; fn a() { Command::new(1); }", &[Rule::ForbiddenProcess]);
    check("use core::arch::asm as x; fn a() { x!(\"nop\"); }", &[Rule::ForbiddenCode]);
    check("fn a() { unsafe { b() } }", &[Rule::ForbiddenCode]);
    check("extern \"C\" { fn system(); }", &[Rule::ForbiddenCode]);
    check("fn a() { println!(\"x\"); }", &[Rule::PrintLogging]);
    check("use std::println as p; fn a() { p!(\"x\"); }", &[Rule::PrintLogging]);
    check("fn a() { dbg!(1); }", &[Rule::PrintLogging]);
    check("use libc as l; fn a() { l::system(1); }", &[Rule::ImportDenied]);
    check("fn a() { libc::system(1); }", &[Rule::ImportDenied]);
    check("extern crate libc;", &[Rule::ImportDenied]);
    check("mod other;", &[Rule::OtherFile]);
}

#[test]
fn macros_put_no_name_together() {
    for code in [
        "macro_rules! m { ($a:ident) => { std::$a::read(1) } }",
        "macro_rules! m { ($a:ident) => { $a::fs::read(1) } }",
        "macro_rules! m { ($a:ident) => { use std::$a as held; } }",
        "macro_rules! m { ($a:ident) => { $a!(1) } }",
        "macro_rules! m { ($($a:ident)*) => { $($a)::*(1) } }",
        "macro_rules! m { ($a:tt $b:tt) => { $a $b } }",
        "macro_rules! m { ($($a:tt)*) => { std $($a)* } }",
        "macro_rules! m { ($a:ident) => {} } m!([::] x);",
    ] {
        let found = broken(Language::Rust, code, &spec(Language::Rust, RULES), &[]);
        assert!(found.contains(Rule::ForbiddenCode.as_str()), "{code}: {found:?}");
    }
    check("macro_rules! m { ($($a:tt)*) => { log::info!($($a)*) } }", &[]);
    check("macro_rules! m { ($a:ident, $b:expr) => { $crate::a($b); <$a>::b(); if $b != $a {} } }", &[]);
    check("macro_rules! m { ($a:ty) => { <$a as Default>::default() } }", &[]);
    check("fn a() { m!(use x, std::fs::read(1)); }", &[Rule::ForbiddenIo]);
    check("fn a() { m!(x [::fs::read]); }", &[Rule::ForbiddenIo]);
    check("mod a { pub use std as b; } fn c() { a::b::fs::read(1); }", &[Rule::ForbiddenIo]);
    check("mod a { pub extern crate std; } fn c() { a::std::fs::read(1); }", &[Rule::ForbiddenIo]);
    check("fn a() { b.map(Path::exists); }", &[Rule::ForbiddenIo]);
    check("fn a() { <Path>::exists(b); }", &[Rule::ForbiddenIo]);
    check("#[cfg(never)] mod reqwest {} fn a() { reqwest::get(1); }", &[Rule::ForbiddenNetwork]);
    check("#[no_mangle] fn a() {}", &[Rule::ForbiddenCode]);
    check("mod a { pub fn exists() {} } fn b() { a::exists(); }", &[]);
}

#[test]
fn what_only_looks_like_it_passes() {
    for code in [
        "fn a() { let fs = 1; let x = fs != 2; }",
        "fn a(time: u8) -> u8 { time }",
        "mod time { pub fn now() {} } fn a() { time::now(); }",
        "struct S { time: u8 } fn a(s: S) { s.time; S { time: 1 }; }",
        "fn a() { \"std::fs::read\"; }",
        "fn a() { 'time: loop { break 'time; } }",
        "use std::io::Read; fn a() { Vec::<u8>::new(); u8::from(1); str::from_utf8(b\"\"); }",
        "enum E { A } use E::*; fn a() { let exists = 1; }",
        "#[cfg(test)] mod tests { use super::*; }",
        "fn a<T: Default>() -> T { T::default() }",
        "impl S { fn b() { Self::c() } }",
        "fn a() -> impl Fn() + use<> {}",
        "use crate::clock as time; fn a() { time::now(); }",
        "fn a() { for i in 0..time {} }",
    ] {
        check(code, &[]);
    }
}

#[test]
fn lists_of_libraries_hold() {
    let spec = spec(Language::Rust, "[imports]\nallow = ['serde', 'regex']");
    let check = |code: &str, libs: &[&str], rules: &[Rule]| {
        let found = broken(Language::Rust, code, &spec, &[("allowed_libs", libs)]);
        assert_eq!(found, names(rules), "{code}");
    };
    check(
        "use serde::Serialize; use std::fmt; use crate::a; use self::b; mod c { use super::d; }",
        &["serde"],
        &[],
    );
    check("use regex::Regex;", &["serde"], &[Rule::ImportNotAllowed]);
    check("fn a() { regex::Regex::new(1); }", &["serde"], &[Rule::ImportNotAllowed]);
    // A task may name more than the CodeSpec does.
    check("fn a() { rand::random() }", &["rand"], &[]);
    check("fn a() { rand::random() }", &["serde"], &[Rule::ImportNotAllowed]);
    check("mod helper { pub fn x() {} } fn a() { helper::x(); u8::from(1); }", &["serde"], &[]);
    check("#[derive(serde::Serialize)] struct S;", &["serde"], &[]);
    check("#[derive(bincode::Encode)] struct S;", &["serde"], &[Rule::ImportNotAllowed]);
}

#[test]
fn hostile_nesting_is_refused_or_survived() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{", "1", "}"),
        ("!", "1", ""),
        ("&", "1", ""),
        ("return ", "1", ""),
        ("|| ", "1", ""),
        ("|a, b| ", "1", ""),
        ("1 | |a, b, c| ", "1", ""),
        ("yield ", "1", ""),
        ("a.", "a", ""),
        ("1 + ", "1", ""),
        ("f(", "1", ")"),
        ("if a { 1 } else ", "{ 1 }", ""),
        ("m!(", "1", ")"),
        ("x = ", "1", ""),
        ("unsafe {", "1", "}"),
    ] {
        for count in [90, 400, 50_000] {
            let code = format!("fn a() {{ let x = {}{middle}{}; }}", open.repeat(count), close.repeat(count));
            let found =
                broken(Language::Rust, &code, &spec(Language::Rust, "[calls]\nio = ['std::fs']"), &[]);
            assert!(found.is_subset(&names(&[Rule::Nesting, Rule::Syntax])), "{open} {count}: {found:?}");
            assert!(count < 50_000 || !found.is_empty(), "{open} {count}");
        }
    }
    for count in [90, 400, 50_000] {
        let code = format!("type X = {}u8{};", "Box<".repeat(count), ">".repeat(count));
        broken(Language::Rust, &code, &spec(Language::Rust, ""), &[]);
        let code = format!("type X = {}u8{};", "A<u8, ".repeat(count), ">".repeat(count));
        broken(Language::Rust, &code, &spec(Language::Rust, ""), &[]);
        let rules = "macro_rules! m { a => b ; (x) => }";
        broken(Language::Rust, rules, &spec(Language::Rust, ""), &[]);
        let code = format!("use {}x{};", "{a::".repeat(count), "}".repeat(count));
        broken(Language::Rust, &code, &spec(Language::Rust, ""), &[]);
        let code = format!("{} fn x() {{}} {}", "mod a {".repeat(count), "}".repeat(count));
        broken(Language::Rust, &code, &spec(Language::Rust, ""), &[]);
    }
}
