//! The edge: the command line `countersign`.
//! Owns: arguments, files, standard streams, exit codes, and wiring the crates together. Must not: decide; what
//! may happen is said by the crates it calls, and this crate may not know more than how to ask them.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

mod beneath;
mod charge;
mod checking;
mod cli;
mod command;
mod enforcing;
mod failure;
mod http;
mod input;
mod launch;
mod mcp;
mod office;
mod output;
mod passages;
mod pipelines;
mod place;
mod program;
mod remembering;
mod roots;
mod signals;
mod sources;
mod tables;
mod tasks;
mod tokens;

use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

/// A run hands small pieces of memory from thread to thread, stage after stage.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // A program that a tool starts is held by this binary, before it becomes that program.
    if let Some(code) = countersign_tools::held::entered(std::env::args_os()) {
        return code;
    }
    // Long before any output: a reader that goes away (`| head`) must end us with an error code from `write`,
    // which Rust's runtime arranges by ignoring SIGPIPE.
    let arguments = match cli::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return output::usage(&error),
    };
    let outcome = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime.block_on(command::run(arguments)),
        Err(error) => Err(Failure::file("the runtime", &error)),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => output::failure(&failure),
    }
}
