//! Rust, by `syn` and `prettyplease`.
//! Owns: how a Rust file is parsed, walked and laid out. Must not: compile it.

mod declared;
mod layout;
mod names;
mod printable;
mod tokens;
mod uses;

use crate::check::Setting;
use crate::codespec::{Need, Pattern};
use crate::report::Findings;
use crate::rule::Rule;
use declared::Declared;
use names::Names;
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use tokens::Token;
use uses::Uses;

/// A file, cut into tokens.
pub(crate) struct Source<'a> {
    code: &'a str,
    stream: TokenStream,
    tokens: Vec<Token>,
}

impl<'a> Source<'a> {
    /// Cuts a file into tokens.
    pub(crate) fn read(code: &'a str, findings: &mut Findings) -> Option<Self> {
        // What was cut before is not looked at again, and would be kept for ever.
        proc_macro2::extra::invalidate_current_thread_spans();
        // A first line for the shell is no Rust, but keeps its place.
        let shell = code.starts_with("#!") && !code.starts_with("#![");
        let length = if shell { code.find('\n').unwrap_or(code.len()) } else { 0 };
        let blanked = " ".repeat(length) + code.get(length..).unwrap_or_default();
        match blanked.parse::<TokenStream>() {
            Ok(stream) => Some(Source { code, tokens: tokens::flat(stream.clone()), stream }),
            Err(error) => {
                let line = error.span().start().line;
                let evidence =
                    "the text can't be cut into tokens: a bracket or a quote has no partner, or is none";
                findings.in_code(Rule::Syntax, line, evidence, "give code that can be parsed");
                None
            }
        }
    }

    /// The most nodes above any node, or more.
    pub(crate) fn depth(&self) -> usize {
        tokens::depth(&self.tokens)
    }

    /// Checks the file; gives it back where it can be parsed.
    pub(crate) fn check(&self, setting: &Setting<'_>, findings: &mut Findings) -> Option<syn::File> {
        let file: syn::File = match syn::parse2(self.stream.clone()) {
            Ok(file) => file,
            Err(error) => {
                let line = error.span().start().line;
                findings.in_code(Rule::Syntax, line, error.to_string(), "give code that can be parsed");
                return None;
            }
        };
        Declared::new(setting, findings).file(self.code, &file);
        let names = Names::of(&self.tokens, watched(setting));
        let mut uses = Uses::new(setting, &self.tokens, &names, findings);
        uses.look();
        let logs = uses.logs;
        if setting.rules.logging.need == Need::Required && !logs {
            let suggestion = "log what is done: log::info!(…)";
            findings.in_code(Rule::Logging, 1, "nothing in the file logs", suggestion);
        }
        Some(file)
    }

    /// Lays the file out. `Err` says why that can't be done.
    pub(crate) fn formatted(&self, file: &syn::File) -> Result<String, &'static str> {
        if tokens::has_comments(&self.tokens, self.code) || self.code.starts_with("#!/") {
            return Err("not laid out: the formatter would lose comments");
        }
        if !printable::is_printable(file) {
            return Err("not laid out: the formatter does not know all of it");
        }
        layout::formatted(file).ok_or("not laid out: the formatter made no Rust of it")
    }

    /// The file without blanks at the ends of its lines.
    pub(crate) fn trimmed(&self) -> String {
        tokens::trimmed(&self.tokens, self.code)
    }
}

/// The libraries that must not be hidden.
fn watched(setting: &Setting<'_>) -> BTreeSet<String> {
    let forbidden = setting.rules.forbidden.iter().map(|one| &one.pattern);
    let denied = setting.rules.imports.deny.iter().chain(&setting.task.denied_libs);
    let first = |pattern: &Pattern| match pattern {
        Pattern::Path(parts) => parts.first().cloned(),
        Pattern::Method(_) | Pattern::Macro(_) | Pattern::Argument(..) => None,
    };
    forbidden.chain(denied).filter_map(first).collect()
}

/// What the first comment of a file says.
pub(crate) fn first_comment(code: &str) -> Option<&str> {
    let line = code.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("#!/"))?;
    line.strip_prefix("//").map(|text| text.trim_start_matches(['/', '!']).trim())
}
