//! A test never sleeps to wait.
//! Owns: that one ban. Must not: look at product code, whose clock is a port.

use proc_macro2::{Delimiter, TokenTree};

use super::problem::{Problem, Rule};
use super::source::Source;
use super::tokens;

const CALLS: [&str; 3] = ["sleep", "sleep_ms", "sleep_until"];

/// Checks the test code of one file.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    tokens::levels(source.tokens.clone(), &mut |level| {
        for (at, tree) in level.iter().enumerate() {
            let is_named = CALLS.iter().any(|name| tokens::is_word(Some(tree), name));
            let is_defined = at > 0 && tokens::is_word(level.get(at - 1), "fn");
            if is_named && is_called(level.get(at + 1)) && !is_defined && source.is_test(tree.span()) {
                let fix = "wait for the event itself, or move a virtual clock";
                problems.push(source.problem(Rule::Sleep, tree.span(), "a test sleeps", fix));
            }
        }
    });
    problems
}

fn is_called(next: Option<&TokenTree>) -> bool {
    matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::source::check_rule;

    #[test]
    fn only_test_code_is_told_not_to_sleep() {
        let found = &["2: sleep: a test sleeps"];
        check_rule(check, "crates/store/tests/a.rs", "fn f() {\n std::thread::sleep(d); }", found);
        check_rule(
            check,
            "crates/store/src/a.rs",
            "#[cfg(test)]\nmod t { async fn f() { sleep_until(d).await } }",
            found,
        );
        check_rule(check, "crates/store/src/a.rs", "#[test]\nfn f() { m!(clock.sleep(d)) }", found);
        check_rule(check, "crates/store/src/a.rs", "fn f() { std::thread::sleep(d); }", &[]);
        check_rule(
            check,
            "crates/store/tests/a.rs",
            "fn sleep() { run(\"sleep(1)\"); let sleep = asleep(1); }",
            &[],
        );
    }
}
