//! One file per command.
//! Owns: which command does what. Must not: hold what a command does.

pub(crate) mod answer;
mod ask;
mod audit;
mod capability;
pub(crate) mod chat;
mod checkpoint;
mod commands;
mod conformance;
mod diff;
mod doctor;
mod enforce;
mod envelope;
mod explain;
mod fork;
mod formula;
mod governed;
mod ledger;
mod lint;
mod memory;
pub(crate) mod models;
mod packet;
mod pages;
mod principal;
pub(crate) mod process;
mod replay;
mod run;
pub(crate) mod runs;
mod scope;
mod serve;
pub(crate) mod session;
mod task;
mod token;
mod trace;
mod verify;

use crate::cli::{Arguments, Command};
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place;
use clap::CommandFactory;
use pages::Page;

/// Runs one command.
pub(crate) async fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let global = arguments.global;
    // A bad --now is refused everywhere, also by commands that do not look at the clock.
    place::clock(&global)?;
    match arguments.command {
        Command::Envelope(command) => envelope::run(&global, command),
        Command::Ledger(command) => ledger::run(&global, command).await,
        Command::Scope(scope) => scope::run(&global, &scope),
        Command::Enforce(enforce) => enforce::run(&global, &enforce).await,
        Command::Memory(command) => memory::run(&global, &command).await,
        Command::Models(command) => models::run(&global, command),
        Command::Run(run) => run::run(&global, &run).await,
        Command::Packet(command) => packet::run(&global, &command).await,
        Command::Verify(command) => verify::run(&global, &command),
        Command::Task(command) => task::run(&global, command),
        Command::Ask(ask) => ask::run(&global, &ask).await,
        Command::Process(process) => process::run(&global, &process).await,
        Command::Answer(answer) => answer::run(&global, answer).await,
        Command::Runs(command) => runs::run(&global, command).await,
        Command::Health(of) => pages::run(&global, Page::Health, &of.run).await,
        Command::Findings(of) => pages::run(&global, Page::Findings, &of.run).await,
        Command::Review(of) => pages::run(&global, Page::Review, &of.run).await,
        Command::Attention(of) => pages::attention(&global, of.run.as_deref()).await,
        Command::Evidence(of) => pages::run(&global, Page::Evidence, &of.run).await,
        Command::Chain(of) => pages::run(&global, Page::Chain, &of.run).await,
        Command::Board(of) => pages::run(&global, Page::Board, &of.run).await,
        Command::Budget(command) => pages::budget(&global, command).await,
        Command::Governed(command) => commands::run(&global, command).await,
        Command::Checkpoint(command) => checkpoint::run(&global, &command).await,
        Command::Fork(command) => fork::run(&global, &command).await,
        Command::Replay(command) => replay::run(&global, &command).await,
        Command::Diff(command) => diff::run(&global, &command).await,
        Command::Audit(command) => audit::run(&global, &command).await,
        Command::Serve(serve) => serve::run(&global, &serve).await,
        Command::Chat(chat) => chat::run(&global, &chat).await,
        Command::Session(command) => session::run(&global, command).await,
        Command::Capability(command) => capability::run(&global, command).await,
        Command::Tools => session::tools(&global),
        Command::Trace(command) => trace::run(&global, command).await,
        Command::Principal(command) => principal::run(&global, command),
        Command::Token(command) => token::run(&global, command),
        Command::Lint(lint) => lint::run(&global, &lint).await,
        Command::Conformance(conformance) => conformance::run(&global, &conformance),
        Command::Formula(command) => formula::run(&global, &command),
        Command::Derive(derive) => formula::derive(&global, &derive),
        Command::Explain { code, .. } => explain::run(&global, code.as_deref()),
        Command::Doctor => doctor::run(&global).await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "countersign", &mut script);
            output::bytes(&script).map(|()| Exit::Success)
        }
    }
}
