//! Python, by the parser and the formatter of ruff.
//! Owns: how a Python file is parsed, walked and laid out. Must not: run it.
//!
//! These crates do not promise a stable interface, so their versions are pinned and nothing outside of this module uses them.

mod bind;
mod calls;
mod declared;
mod depth;
mod meaning;
mod modules;
mod reflection;
mod scope;
mod uses;

use crate::check::Setting;
use crate::codespec::Need;
use crate::input::Runtime;
use crate::lines::Lines;
use crate::report::{Findings, shown};
use crate::rule::Rule;
use declared::Declared;
use ruff_formatter::LineWidth;
use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{PySourceType, PythonVersion};
use ruff_python_formatter::{PyFormatOptions, format_module_source};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::Ranged;
use scope::Scopes;
use uses::Uses;

/// So many errors of the parser are told: those after the first follow from it.
const SYNTAX_ERRORS_MAX: usize = 3;

/// The most nodes above any node, or more.
pub(crate) fn depth(code: &str) -> usize {
    depth::depth(code)
}

fn version(setting: &Setting<'_>) -> PythonVersion {
    match setting.task.runtime {
        Some(Runtime::Python3(minor)) => PythonVersion { major: 3, minor },
        Some(Runtime::Rust) | None => PythonVersion::latest(),
    }
}

/// Checks a file.
pub(crate) fn check(code: &str, setting: &Setting<'_>, findings: &mut Findings) {
    let lines = Lines::of(code);
    let options = ParseOptions::from(Mode::Module).with_target_version(version(setting));
    let Some(parsed) = parse_unchecked(code, options).try_into_module() else { return };
    for error in parsed.errors().iter().take(SYNTAX_ERRORS_MAX) {
        let line = lines.line(error.location.start().into());
        findings.in_code(Rule::Syntax, line, error.error.to_string(), "give code that can be parsed");
    }
    for error in parsed.unsupported_syntax_errors().iter().take(SYNTAX_ERRORS_MAX) {
        let line = lines.line(error.range().start().into());
        let suggestion = format!("write it for Python {}", error.target_version);
        findings.in_code(Rule::Syntax, line, error.to_string(), suggestion);
    }
    if !parsed.errors().is_empty() {
        return;
    }
    if let Some((line, name)) = reflection::strange_encoding(code) {
        let evidence = format!("the file says that it is in {}", shown(name));
        findings.in_code(Rule::ForbiddenCode, line, evidence, "write it in UTF-8, and say nothing of it");
    }
    let body = parsed.suite();
    let mut declared = Declared::new(setting, &lines, findings);
    declared.file(code, body);
    body.iter().for_each(|stmt| declared.visit_stmt(stmt));
    let scopes = Scopes::of(body);
    let mut uses = Uses::new(setting, &scopes, &lines, findings);
    uses.visit_body(body);
    let logs = uses.logs;
    if setting.rules.logging.need == Need::Required && !logs {
        let suggestion = "make a logger: logging.getLogger(__name__)";
        findings.in_code(Rule::Logging, 1, "nothing in the file logs", suggestion);
    }
}

/// Lays a file out. `None` if that can't be done.
pub(crate) fn formatted(code: &str, setting: &Setting<'_>) -> Option<String> {
    let width = LineWidth::try_from(setting.rules.line_width).ok()?;
    let options = PyFormatOptions::from_source_type(PySourceType::Python)
        .with_target_version(version(setting))
        .with_line_width(width);
    format_module_source(code, options).ok().map(ruff_formatter::Printed::into_code)
}

/// What the first comment of a file says.
pub(crate) fn first_comment(code: &str) -> Option<&str> {
    let line = code.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("#!"))?;
    line.strip_prefix('#').map(str::trim)
}
