//! The words of `countersign enforce`.
//! Owns: its options and their help. Must not: act.

use clap::Args;

/// Help that does not fit into a line.
pub(crate) const AFTER: &str = "\
The input has draft, codespec_path (or codespec), task (language, and if wanted runtime, allowed_libs and denied_libs), stop (filename, \
single_file, no_prose) and prompt and, if wanted, codespec_sha256, request_id and turn_id; schemas/enforce_input.v1.schema.json says more. \
A CodeSpec is Markdown with a fenced block of rules; builtin:python and builtin:rust are paths of those that come with us. What goes out is \
an SR2 envelope: PASS with the file, laid out by the pinned formatter, or FAIL (exit 1) with every violation.

With --model a draft that fails is repaired once, by a model that runs in this process, from the violations, what the CodeSpec says of them, \
and the prompt.

Examples:
  countersign enforce draft.json
  countersign enforce draft.json --model smollm2
  countersign enforce --print-codespec python > CodeSpec.md";

#[derive(Args, Debug)]
pub(crate) struct Enforce {
    /// The input, or - for standard input
    #[arg(
        value_name = "FILE|-",
        required_unless_present = "print_codespec",
        conflicts_with = "print_codespec"
    )]
    pub(crate) file: Option<String>,
    /// Who repairs a draft that fails
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// How long a repair may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) repair_seconds: u64,
    /// Print our CodeSpec: python or rust
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) print_codespec: Option<String>,
}
