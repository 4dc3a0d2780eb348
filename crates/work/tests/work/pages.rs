//! Pages, after any history: what is shown follows from the records, from the first on; its header names what it was made of, and counts
//! until that changes.
//!
//! What a page must say is told a second time here, straight from the rows.

mod oracle;

use crate::chances::{self, Begin};
use crate::stage::{LEASE, Stage};
use crate::walks::{self, Act};
use countersign_govern::fold;
use countersign_govern::member::Member;
use countersign_govern::types::read_models::DerivedReadModelRecordReadModelKind as ReadModel;
use countersign_govern::world::Draft;
use countersign_record::digest::Digest;
use countersign_record::json::Json;
use countersign_work::desk::{Desk, hash_of};
use countersign_work::page::{self, Header};
use countersign_work::{attention, board, call, closing, cost, finding, outcome, rely};
use oracle::{Log, Shown};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Something that happens around a run.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Walk(Act),
    /// A command of a person: which, and about which of the things that it could be about.
    Command(usize, usize),
    /// The file of the source is looked at again, and is the same or another.
    Recheck {
        is_same: bool,
    },
    Budget,
    Show,
    End,
}

/// Commands, with the members of what they are about.
const COMMANDS: [(&str, About); 16] = [
    ("finding.contest", About::Finding),
    ("finding.confirm", About::Finding),
    ("finding.reject", About::Finding),
    ("finding.withdraw_contest", About::Finding),
    ("hard_call.defer", About::Question),
    ("hard_call.resolve", About::Question),
    ("attention.resolve_item", About::Item),
    ("attention.dismiss_item", About::Item),
    ("reliance.review_packet", About::Nothing),
    ("reliance.issue_work_product_certification", About::Nothing),
    ("reliance.renew_packet", About::Nothing),
    ("reliance.archive_packet", About::Nothing),
    ("checkpoint.create", About::Nothing),
    ("task_replay.create_fork", About::Reason),
    ("library.promote_source", About::Source),
    ("task.cancel", About::Nothing),
];

#[derive(Clone, Copy)]
enum About {
    Nothing,
    Finding,
    Question,
    Item,
    Reason,
    Source,
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let one = prop_oneof![
        12 => walks::act().prop_map(Happening::Walk),
        8 => (0..COMMANDS.len(), 0..4_usize).prop_map(|(which, at)| Happening::Command(which, at)),
        2 => any::<bool>().prop_map(|is_same| Happening::Recheck { is_same }),
        1 => Just(Happening::Budget),
        4 => Just(Happening::Show),
        1 => Just(Happening::End),
    ];
    prop::collection::vec(one, 1..12)
}

/// Lets something happen; what can't happen now does not.
fn happen(stage: &mut Stage, happening: Happening) {
    match happening {
        // Nobody works on a run that was cancelled.
        Happening::Walk(Act::Wait(_) | Act::Restart | Act::Show) => {}
        Happening::Walk(_) | Happening::End if stage.is_over => return,
        Happening::Walk(_)
        | Happening::Command(..)
        | Happening::Recheck { .. }
        | Happening::Budget
        | Happening::Show
        | Happening::End => {}
    }
    match happening {
        Happening::Walk(act) => walks::happen(stage, act),
        Happening::Command(which, at) => command(stage, which, at),
        Happening::Recheck { is_same } => {
            let bytes = if is_same { LEASE.as_bytes() } else { b"# Another lease" };
            give(stage, "source.recheck", &format!(r#"{{"found": {{"lease": "{}"}}}}"#, Digest::of(bytes)));
        }
        Happening::Budget => {
            stage.later();
            cost::narrative(&mut stage.desk).unwrap();
        }
        Happening::Show => {
            stage.later();
            closing::show(&mut stage.desk).unwrap();
        }
        Happening::End => {
            stage.later();
            closing::end(&mut stage.desk, None).unwrap();
        }
    }
}

/// A person gives a command; what comes of it is theirs to see.
fn give(stage: &mut Stage, id: &str, request: &str) {
    let key = format!("{id} {}", stage.desk.end());
    stage.command(id, request, &key, "ana").unwrap_or_else(|refusal| panic!("{id} {request}: {refusal}"));
}

fn command(stage: &mut Stage, which: usize, at: usize) {
    let (id, about) = COMMANDS[which];
    let request = match about {
        About::Nothing => Some("{}".to_owned()),
        About::Finding => {
            let all = finding::all(&stage.desk);
            let grounds =
                if id == "finding.contest" || id == "finding.reject" { r#", "grounds": "no""# } else { "" };
            let one = all.get(at % all.len().max(1));
            one.map(|one| format!(r#"{{"finding_id": "{}"{grounds}}}"#, one.event.finding_id))
        }
        About::Question => call::open(&stage.desk).first().map(|call| {
            let option = &call.options[at % call.options.len()].option_id;
            let option = if id == "hard_call.resolve" {
                format!(r#", "option_id": "{option}""#)
            } else {
                String::new()
            };
            format!(r#"{{"hard_call_id": "{}"{option}}}"#, call.hard_call_id)
        }),
        About::Item => {
            let all = attention::open(&stage.desk);
            let one = all.get(at % all.len().max(1));
            one.map(|one| format!(r#"{{"item_id": "{}"}}"#, one.item_id))
        }
        About::Reason => Some(r#"{"reason": "try"}"#.to_owned()),
        About::Source => Some(r#"{"source": "lease"}"#.to_owned()),
    };
    if let Some(request) = request {
        give(stage, id, &request);
    }
}

/// Everything that is shown is as it must be.
fn holds(stage: &Stage) {
    let desk = &stage.desk;
    let log = Log::new(desk);
    folded(stage);
    told(desk, &log);
    let standing = standing(desk);
    for shown in log.shown() {
        named(&log, &shown);
        counts(&standing, &log, &shown);
    }
    still(desk, &log);
}

/// What is folded as rows come is what is folded from the first row on, at once; and so is every page.
fn folded(stage: &Stage) {
    let (desk, again) = (&stage.desk, stage.again());
    let standing = desk.projections();
    assert_eq!(standing, again.projections(), "folded from the first row on");
    assert_eq!(standing, fold::projections(&desk.world(), desk.end()), "folded as a ledger is");
    for kind in ReadModel::ALL {
        assert_eq!(page::header(desk, *kind), page::header(&again, *kind), "{kind:?}");
    }
    let fresh = |desk: &Desk| page::fresh(desk).unwrap().rows().cloned().collect::<Vec<Draft>>();
    let (shown, anew) = (fresh(desk), fresh(&again));
    assert!(shown == anew, "every page, derived from the first row on");
    assert!(shown.starts_with(&desk.rows().cloned().collect::<Vec<_>>()), "showing changes nothing");
}

/// Pages say what the rows say, read one after the other.
fn told(desk: &Desk, log: &Log<'_>) {
    for one in &desk.task().outcomes {
        assert_eq!(outcome::state(desk, &one.id).as_str(), log.outcome(&desk.own(&one.id)), "{}", one.id);
    }
    let findings: Vec<(String, String, String)> = finding::all(desk)
        .into_iter()
        .map(|one| (one.event.finding_id, one.event.finding_event_id, one.state.as_str().to_owned()))
        .collect();
    assert_eq!(findings, log.findings());
    let items: Vec<String> = attention::open(desk).into_iter().map(|one| one.item_id).collect();
    assert_eq!(items, log.items());
    let spent = cost::spent(desk).into_iter().map(|(unit, amount)| (unit.as_str().to_owned(), amount));
    assert_eq!(spent.collect::<BTreeMap<_, _>>(), log.spent());
    let entries: Vec<(String, Option<bool>)> = board::entries(desk)
        .into_iter()
        .map(|one| (one.event.event_id, one.post.map(|post| post.lifecycle_state.as_str() == "active")))
        .collect();
    assert_eq!(entries, log.board());
    let packet = rely::last(desk).map(|one| (one.packet_id, one.lifecycle_state.as_str().to_owned()));
    assert_eq!(packet, log.packet());
}

/// The manifest names what the page was made of: what it cites, no more and no less, and all of it was there before.
fn named(log: &Log<'_>, shown: &Shown<'_>) {
    let manifest = log.manifest(shown);
    let Json::Object(mut members) = manifest.clone() else { panic!("{manifest:?}") };
    let hash = members.remove("input_manifest_hash").unwrap();
    let made = hash_of(&members.into()).unwrap();
    assert_eq!(hash.as_str(), Some(String::from(made).as_str()), "{shown:?}");
    let inputs = log.inputs(shown);
    assert_eq!(inputs, log.cited(shown), "{shown:?}");
    for input in &inputs {
        let place = log.place(input).unwrap_or_else(|| panic!("{input} of {shown:?} is no row"));
        assert!(place <= shown.from, "{input} of {shown:?} is at {place}");
    }
}

/// Until where each header counts, and what ended it, as the fold has it.
type Standing = BTreeMap<String, Option<(u64, String)>>;

fn standing(desk: &Desk) -> Standing {
    let headers = desk.projections().into_iter().filter(|one| one.kind == "DerivedReadModelRecord");
    let ended = |one: &Json| {
        let by = one.text("invalidated_by_event_ref")?.to_owned();
        Some((one.count("valid_until_event_seq")?, by))
    };
    headers.map(|one| (one.id, ended(&one.record))).collect()
}

/// A header counts from where it was put down until the first row that changes what it shows, and is closed right behind that.
fn counts(standing: &Standing, log: &Log<'_>, shown: &Shown<'_>) {
    let expected = log.ended(shown);
    assert_eq!(standing.get(&shown.id), Some(&expected), "{shown:?}");
    assert_eq!(log.closed(&shown.id), expected.into_iter().collect::<Vec<_>>(), "{shown:?}");
}

/// What still counts is what would be shown now.
fn still(desk: &Desk, log: &Log<'_>) {
    let trial = page::fresh(desk).unwrap();
    let fresh = Log::new(&trial);
    let now: Vec<Shown<'_>> = fresh.shown().filter(|one| one.from > desk.end()).collect();
    for shown in log.shown().filter(|one| log.ended(one).is_none()) {
        let same = now.iter().find(|one| one.kind == shown.kind && fresh.subject(one) == log.subject(&shown));
        if let Some(same) = same {
            assert_eq!(log.body(&shown), fresh.body(same), "{shown:?} still counts");
        }
    }
}

/// What a person asks for at any time is what stands there right after it was put down.
fn is_current(stage: &Stage) {
    let mut desk = stage.desk.clone();
    cost::narrative(&mut desk).unwrap();
    closing::show(&mut desk).unwrap();
    closing::inbox(&mut desk).unwrap();
    let log = Log::new(&desk);
    named(&log, &log.shown().last().unwrap());
    for kind in [
        ReadModel::AttentionLedger,
        ReadModel::FindingsInbox,
        ReadModel::TaskHealthCard,
        ReadModel::BudgetNarrative,
    ] {
        let header = page::header(&desk, kind).unwrap();
        assert!(matches!(header, Header { until: None, ended_by: None, .. }), "{kind:?}: {header:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 240, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_follow_from_the_records_whatever_happens(happenings in happenings()) {
        let mut stage = Stage::with(r#""budget": {"input_tokens": 50}"#);
        for one in happenings {
            happen(&mut stage, one);
            holds(&stage);
            is_current(&stage);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_follow_from_the_records_while_work_is_mended(
        numbers in prop::collection::vec(any::<u8>(), 0..60),
        begin in chances::begin(),
    ) {
        mended(&numbers, &begin);
    }
}

/// Steps between two looks at the pages.
const STRIDE: usize = 3;

fn mended(numbers: &[u8], begin: &Begin) {
    let mut run = chances::Run::new(numbers, begin, false);
    for at in 0..chances::STEPS_MAX {
        let goes_on = run.step();
        if at % STRIDE == 0 || !goes_on {
            run.stage.later();
            closing::show(&mut run.stage.desk).unwrap();
            holds(&run.stage);
        }
        if !goes_on {
            return;
        }
    }
}
