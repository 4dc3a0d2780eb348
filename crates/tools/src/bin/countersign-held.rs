//! Holds one program, as the hidden subcommand of `countersign` does.
//! Owns: nothing. Must not: be part of the product; the tests of this crate start it.

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_tools::held::entered(std::env::args_os()).unwrap_or(ExitCode::FAILURE)
}
