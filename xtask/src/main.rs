//! Repository chores, run as `cargo run -p xtask -- <task>`.
//! Owns: the command line of the chores. Must not: be depended on, or be needed to use the product.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

mod codes;
mod generated;
mod schemas;
mod tables;
mod tidy;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use generated::Directory;

/// Exit code when a task could not do its work, as opposed to having found problems (1).
const COULD_NOT_RUN: u8 = 2;

/// Chores of the Countersign repository.
#[derive(Parser)]
#[command(name = "xtask", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the house rules that the compiler and clippy cannot hold.
    ///
    /// Prints `path:line: rule: message (fix)` per problem and exits 1 when there is any.
    Tidy {
        /// Repository to check [default: the workspace around the current directory].
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
    },
    /// Write the JSON Schemas of the wire types into `schemas/`.
    Schemas(Generate),
    /// Write a page for every code, and their index, into `docs/codes/`.
    Codes(Generate),
    /// Write the tables of governance into `docs/tables/`.
    Tables(Generate),
}

#[derive(Args)]
struct Generate {
    /// Write nothing; exit 1 when a file is not what would be written.
    #[arg(long)]
    check: bool,
    /// Repository to write to [default: the workspace around the current directory].
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(code) => code,
        Err(error) => {
            // With stderr gone too there is nobody left to tell; the exit code still says it.
            writeln!(std::io::stderr(), "xtask: {error:#}").ok();
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

fn run(cli: Cli) -> Result<ExitCode> {
    match cli.task {
        Task::Tidy { root } => run_tidy(&root.map_or_else(find_root, Ok)?),
        Task::Schemas(generate) => run_generate(&schemas::directories()?, generate),
        Task::Codes(generate) => run_generate(&[codes::directory()], generate),
        Task::Tables(generate) => run_generate(&[tables::directory()], generate),
    }
}

fn run_generate(directories: &[Directory], generate: Generate) -> Result<ExitCode> {
    let root = generate.root.map_or_else(find_root, Ok)?;
    let mut out = std::io::stdout().lock();
    let mut differs = false;
    for directory in directories {
        let differing = directory.differing(&root)?;
        if !generate.check {
            directory.write(&root)?;
            writeln!(
                out,
                "{}: {} files, {} changed",
                directory.path,
                directory.files.len(),
                differing.len()
            )?;
            continue;
        }
        for path in &differing {
            writeln!(out, "{path}: not what is generated (run `cargo run -p xtask -- {}`)", directory.task)?;
        }
        differs |= !differing.is_empty();
    }
    Ok(if differs { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn run_tidy(root: &Path) -> Result<ExitCode> {
    let report = tidy::run(root)?;
    let mut out = std::io::stdout().lock();
    for problem in &report.problems {
        writeln!(out, "{problem}")?;
    }
    if report.problems.is_empty() {
        writeln!(out, "tidy: {} files listed by {}, no problems", report.files, report.listed_by)?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(std::io::stderr(), "tidy: {} problems", report.problems.len())?;
    Ok(ExitCode::FAILURE)
}

/// The nearest directory, from the current one upwards, that holds a workspace manifest: tasks work
/// from any directory of the repository, as cargo itself does.
fn find_root() -> Result<PathBuf> {
    let here = Path::new(".").canonicalize().context("cannot name the current directory")?;
    here.ancestors()
        .find(|dir| {
            std::fs::read_to_string(dir.join("Cargo.toml"))
                .is_ok_and(|text| text.lines().any(|line| line.trim() == "[workspace]"))
        })
        .map(Path::to_path_buf)
        .with_context(|| format!("no workspace manifest in or above {}; give --root", here.display()))
}
