//! What no text file may hold, whatever its language.
//! Owns: machine paths, registry hosts, trailing whitespace, the final newline. Must not: parse.
//!
//! The needles are put together from parts, so that this file passes its own rules.

use super::files::File;
use super::place;
use super::problem::{Problem, Rule};

/// Directories of one machine that tell nothing to another.
const MACHINE_DIRS: [&str; 2] = [concat!("/ro", "ot/"), concat!("/wo", "rk/")];
const HOMES: &str = concat!("/ho", "me/");

/// Hosts that packages are fetched from. A lock file names the public index by its repository, so
/// one of these means that somebody's mirror or setup leaked in.
const REGISTRY_HOSTS: [&str; 5] = [
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("files.", "pythonhosted.org"),
];

/// First labels, or parts, of hosts that are private registries.
const REGISTRY_LABELS: [&str; 5] = ["artifactory", "mirror", "mirrors", "nexus", "registry"];

/// Checks one file.
pub(crate) fn check(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let has_clean_ends = [".rs", ".md", ".toml"].iter().any(|end| file.path.ends_with(end));
    let is_written_by_tools =
        place::is_fixture(&file.path) || place::split_name(&file.path).1 == "Cargo.lock";
    for (at, line) in file.text.split('\n').enumerate() {
        let mut report = |message: String, fix: &str| {
            problems.push(Problem::new(Rule::Text, (&file.path, at + 1), message, fix));
        };
        if let Some(path) = machine_path(line) {
            report(format!("the machine path `{path}`"), "use a path relative to the repository");
        }
        if let Some(host) = registry_host(line) {
            report(
                format!("the registry host `{host}`"),
                "leave the choice of registry to the reader's setup",
            );
        }
        if has_clean_ends && !is_written_by_tools && line.ends_with(char::is_whitespace) {
            report("whitespace at the end of the line".to_owned(), "remove it");
        }
    }
    if !is_written_by_tools && !file.text.is_empty() && !file.text.ends_with('\n') {
        let line = file.text.lines().count();
        problems.push(Problem::new(
            Rule::Text,
            (&file.path, line),
            "no newline at the end of the file",
            "add one",
        ));
    }
    problems
}

/// The first absolute path into somebody's machine.
fn machine_path(line: &str) -> Option<&str> {
    let fixed = MACHINE_DIRS.iter().find_map(|dir| {
        line.match_indices(dir).find(|(at, _)| starts_path(line, *at)).map(|(at, dir)| (at, dir.len()))
    });
    let home = || {
        line.match_indices(HOMES).filter(|(at, _)| starts_path(line, *at)).find_map(|(at, _)| {
            let rest = line.get(at + HOMES.len()..)?;
            let name = rest.find(|c: char| !is_name_char(c))?;
            (name > 0 && rest[name..].starts_with('/')).then_some((at, HOMES.len() + name + 1))
        })
    };
    let (at, len) = fixed.or_else(home)?;
    line.get(at..at + len)
}

/// Whether the slash at `at` begins an absolute path and is not the middle of a longer one.
fn starts_path(line: &str, at: usize) -> bool {
    !line[..at]
        .chars()
        .next_back()
        .is_some_and(|c| is_name_char(c) || matches!(c, '~' | '*' | '}' | ')' | '>'))
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// The first host that packages are fetched from: a known one anywhere, a private one in a URL (a
/// word like `registry.insert` is code).
fn registry_host(line: &str) -> Option<&str> {
    if let Some(host) = REGISTRY_HOSTS.iter().find(|host| line.contains(**host)) {
        return Some(host);
    }
    line.match_indices("://").find_map(|(at, sign)| {
        let rest = line.get(at + sign.len()..)?;
        let authority = rest.split(|c: char| !is_name_char(c) && c != '@').next()?;
        let host = authority.rsplit('@').next()?;
        let is_registry = |label: &str| REGISTRY_LABELS.contains(&label) || label.contains("artifactory");
        (host.contains('.') && host.split('.').any(is_registry)).then_some(host)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let found: Vec<String> =
            check(&File::new(path, text)).iter().map(|p| p.head()[path.len() + 1..].to_owned()).collect();
        assert_eq!(found, expected, "{path}: {text:?}");
    }

    #[test]
    fn machine_paths() {
        for dir in [MACHINE_DIRS[0], MACHINE_DIRS[1], concat!("/ho", "me/ada/")] {
            let found = format!("2: text: the machine path `{dir}`");
            check_text("a.json", &format!("{{\n\"at\": \"{dir}x\" }}\n"), &[&found]);
            check_text("golden/a.txt", &format!("\nfile://{dir}x\n"), &[&found]);
            check_text("a.md", &format!("crates{dir}x and ~{dir}x and ${{dir}}{dir}\n"), &[]);
        }
        check_text("a.md", concat!("below /ho", "me/ or /ho", "me/<name>/ or /rooted/\n"), &[]);
    }

    #[test]
    fn registry_hosts() {
        for host in REGISTRY_HOSTS {
            check_text(
                "a.toml",
                &format!("\nhost {host}\n"),
                &[&format!("2: text: the registry host `{host}`")],
            );
        }
        for host in ["registry.example.com", "pkg.artifactory.example", "eu-artifactory.example.com"] {
            let found = format!("1: text: the registry host `{host}`");
            check_text("Cargo.lock", &format!("\"registry+https://{host}/x\"\n"), &[&found]);
            check_text("a.md", &format!("https://me@{host}:8080/x\n"), &[&found]);
        }
        check_text("Cargo.lock", "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n", &[]);
        check_text("a.md", "https://crates.io/crates/x, registry.insert(x), nexus.md\n", &[]);
    }

    #[test]
    fn whitespace_at_the_end() {
        for path in ["a.rs", "docs/a.md", "Cargo.toml"] {
            check_text(path, "a\nb \n", &["2: text: whitespace at the end of the line"]);
            check_text(path, "a\r\n", &["1: text: whitespace at the end of the line"]);
            check_text(path, " a\n\n", &[]);
        }
        check_text("a.txt", "a \n", &[]);
        check_text("crates/store/tests/golden/a.md", "a \n", &[]);
    }

    #[test]
    fn the_final_newline() {
        check_text("a.txt", "a\nb", &["2: text: no newline at the end of the file"]);
        check_text("a.txt", "a\nb\n", &[]);
        check_text("a.txt", "", &[]);
        check_text("Cargo.lock", "a", &[]);
        check_text("tests/fixtures/a.rs", "a", &[]);
    }
}
