//! Runs one target for as long as somebody has patience, or one input.
//! Owns: the arguments. Must not: hold a law or a mutation.

use countersign_fuzz::session::{self, SEED, Until};
use countersign_fuzz::{TARGETS, Target};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

const HELP: &str = "\
Hostile input for one parser.

  cargo run -p countersign-fuzz -- TARGET [--seed N] [--cases N | --seconds N]
  cargo run -p countersign-fuzz -- TARGET FILE

The first form runs the corpus and then mutations of it: for 60 seconds where neither a number of cases nor
of seconds is given. The second runs one input. Exit 0: every law held. 1: one was broken, the input is kept
below target/fuzz-failures. 2: the arguments make no sense.
";

enum Work {
    Help,
    Input { target: &'static Target, file: String },
    Session { target: &'static Target, seed: u64, until: Until },
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match read(&arguments) {
        Ok(work) => perform(work),
        Err(message) => writeln!(io::stderr(), "{message}\n\n{HELP}").map(|()| ExitCode::from(2)),
    };
    done.unwrap_or(ExitCode::from(2))
}

fn read(arguments: &[String]) -> Result<Work, String> {
    let mut words = arguments.iter().map(String::as_str);
    let target = match words.next() {
        None | Some("help" | "-h" | "--help") => return Ok(Work::Help),
        Some(name) => Target::named(name).ok_or_else(|| format!("there is no target {name}"))?,
    };
    let (mut seed, mut until) = (SEED, Until::Elapsed(Duration::from_secs(60)));
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse::<u64>().map_err(|_| format!("{word} needs a number, not {text}"))
        };
        match word {
            "--seed" => seed = number()?,
            "--cases" => until = Until::Cases(number()?),
            "--seconds" => until = Until::Elapsed(Duration::from_secs(number()?)),
            _ if word.starts_with("--") => return Err(format!("there is no option {word}")),
            file if arguments.len() == 2 => return Ok(Work::Input { target, file: file.to_owned() }),
            file => return Err(format!("{file} stands beside other arguments")),
        }
    }
    Ok(Work::Session { target, seed, until })
}

fn perform(work: Work) -> io::Result<ExitCode> {
    let mut out = io::stdout();
    match work {
        Work::Help => {
            writeln!(out, "{HELP}\nTargets:")?;
            TARGETS.iter().try_for_each(|target| writeln!(out, "  {}", target.name))?;
            Ok(ExitCode::SUCCESS)
        }
        Work::Input { target, file } => match session::caught(target, &std::fs::read(&file)?) {
            Ok(()) => writeln!(out, "{file}: every law of {} holds", target.name).map(|()| ExitCode::SUCCESS),
            Err(message) => writeln!(out, "{file}: {message}").map(|()| ExitCode::FAILURE),
        },
        Work::Session { target, seed, until } => match session::run(target, seed, until)? {
            Ok(summary) => {
                let session::Summary { files, cases, took } = summary;
                writeln!(
                    out,
                    "{}: {files} seeds and {cases} cases of seed {seed} in {took:.1?}",
                    target.name
                )?;
                Ok(ExitCode::SUCCESS)
            }
            Err(failure) => writeln!(out, "{failure}").map(|()| ExitCode::FAILURE),
        },
    }
}
