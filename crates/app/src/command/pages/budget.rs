//! `countersign budget`: what a run costs, and what all runs of a matter may spend.
//! Owns: reading amounts, and the page of the matter. Must not: decide what may be spent.

use super::body::amounts;
use super::lines::{BEYOND, caps};
use super::{Page, looking};
use crate::cli::Global;
use crate::cli::pages::{Budget, Caps, OfBudget};
use crate::failure::{Exit, Failure};
use crate::output;
use crate::place::Place;
use countersign_govern::types::cost::CostDimension as Dimension;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_runtime::purse::Purses;
use countersign_work::cost::{self, Amounts, UNIT};
use std::sync::Arc;

/// Decimals of an amount of dollars.
const DECIMALS_MAX: usize = 6;

pub(crate) async fn run(global: &Global, asked: OfBudget) -> Result<Exit, Failure> {
    match asked.command.unwrap_or(Budget::Show { run: asked.run }) {
        Budget::Show { run: Some(run) } => super::run(global, Page::Budget, &run).await,
        Budget::Show { run: None } => matter(global).await,
        Budget::Cap(wanted) => {
            let wanted = read(&wanted)?;
            purses(global)?.cap(&wanted).await?;
            matter(global).await
        }
    }
}

fn purses(global: &Global) -> Result<Purses, Failure> {
    let bench = looking(Place::open(global)?)?;
    Ok(Purses { journal: bench.journal, access: bench.access, clock: Arc::clone(&bench.clock) })
}

async fn matter(global: &Global) -> Result<Exit, Failure> {
    let purse = purses(global)?.read().await?;
    if global.json {
        let told = Object::from([
            ("matter", Json::from(global.matter.as_str())),
            ("caps", amounts(purse.caps())),
            ("spent", amounts(purse.spent())),
            ("held", amounts(&purse.held())),
            ("overspent", amounts(&purse.overspent())),
        ]);
        output::json(&Json::from(told))?;
        return Ok(Exit::Success);
    }
    output::line(&format!("may    {}", caps(purse.caps())))?;
    output::line(&format!("spent  {}", cost::told(purse.spent())))?;
    output::line(&format!("held   {}", cost::told(&purse.held())))?;
    let over = purse.overspent();
    if !over.is_empty() {
        output::line(&format!("over   {BEYOND} {}", cost::told(&over)))?;
    }
    Ok(Exit::Success)
}

fn read(caps: &Caps) -> Result<Amounts, Failure> {
    let counts = [
        (Dimension::ExternalApiCalls, caps.calls),
        (Dimension::InputTokens, caps.input_tokens),
        (Dimension::OutputTokens, caps.output_tokens),
    ];
    let too_much = || Failure::new(Code::UsageInvalid, "an amount is more than can be counted");
    let mut all = Amounts::new();
    for (dimension, count) in counts {
        if let Some(count) = count {
            all.insert(dimension, count.checked_mul(UNIT).ok_or_else(too_much)?);
        }
    }
    if let Some(text) = &caps.usd {
        let wrong =
            || Failure::new(Code::UsageInvalid, format!("--usd {text}: it is no amount, as 20 or 0.5"));
        all.insert(Dimension::Usd, dollars(text).ok_or_else(wrong)?);
    }
    Ok(all)
}

/// Millionths of a dollar.
fn dollars(text: &str) -> Option<u64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(rest) || rest.len() > DECIMALS_MAX {
        return None;
    }
    let micros: u64 = format!("{rest:0<DECIMALS_MAX$}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(UNIT)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact() {
        for (text, micros) in
            [("20", Some(20_000_000)), ("0.5", Some(500_000)), ("1.000001", Some(1_000_001))]
        {
            assert_eq!(dollars(text), micros, "{text}");
        }
        for text in ["", ".5", "1.0000001", "-1", "1e3", "1,5", "99999999999999999999"] {
            assert_eq!(dollars(text), None, "{text}");
        }
    }
}
