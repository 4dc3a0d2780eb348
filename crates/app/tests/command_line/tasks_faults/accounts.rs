//! What a run came to, and whether everything that was done for it is told once.
//! Owns: the end, the lint, the packet, the accounts of effects. Must not: forgive a lost or doubled effect.

use super::carried::Carried;
use super::outside::{Deed, OUTPUT_TOKENS, Ran};
use super::scenes::Voice;
use crate::desk;
use countersign_govern::types::added::repair::{SideEffectLedgerEntry, SideEffectState};
use countersign_govern::types::cost::{CostDimension, TaskCostRecord, TaskCostRecordCostClass as Class};
use countersign_govern::types::externalization::{
    WorkspaceExternalizationKind as Way, WorkspaceExternalizationReceipt as Receipt,
    WorkspaceExternalizationReceiptStatus as Status,
};
use countersign_govern::types::wire::Wire;
use countersign_kernel::run::UNKNOWN_EFFECT;
use countersign_record::chain::Head;
use countersign_record::deed::{Deed as _, Externalized};
use countersign_record::json::{self, Json};
use countersign_record::row::Row;
use countersign_record::run_kind;
use countersign_record::time::Timestamp;
use countersign_runtime::audit::{self, Asked};
use countersign_runtime::ports::ledger::{Blob, Journal, Ledger, PAGE_ROWS_MAX, Query, Select};
use countersign_runtime::work::Work;
use countersign_testkit::forge::{file, key};
use countersign_verify::packet::{self, Content, Entry, Parts, Statement};
use countersign_verify::report::Outcome as Verdict;
use countersign_verify::verify;
use countersign_work::cost::UNIT;
use countersign_work::{artifact, outcome, rely};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    states: Vec<&'static str>,
    pub(super) status: Option<&'static str>,
    texts: Vec<(u64, String)>,
    /// Files that left.
    left: usize,
}

impl Carried<'_> {
    /// What the run came to; everything that was done for it is told once, and its ledger is clean.
    pub(super) async fn end(&self) -> End {
        let work = self.recorded().await.unwrap();
        self.lints().await;
        self.adds_up(&work).await;
        let end = work.look(|desk| {
            let heads = desk.task().artifacts.iter().filter_map(|one| artifact::head(desk, &one.id));
            let states = desk.task().outcomes.iter().map(|one| outcome::state(desk, &one.id).as_str());
            let status = rely::last(desk).map(|packet| packet.reliance_derivation.status.as_str());
            (states.collect(), status, heads.collect::<Vec<_>>())
        });
        let (states, status, heads) = end.unwrap();
        let text = |head: artifact::Version| (head.number, work.text(&head.content).unwrap());
        let left = self.files.values().map(Vec::len).sum();
        End { states, status, texts: heads.into_iter().map(text).collect(), left }
    }

    /// The whole ledger keeps the contract, as `lint --ledger --whole --strict` has it.
    async fn lints(&self) {
        let asked = Asked { is_strict: true, is_whole: true, ..Asked::default() };
        let audited = audit::ledger(&*self.desk.ledger, &self.desk.access(), asked, |_| {}).await.unwrap();
        let found = audited.found;
        assert!(audited.governed > 0, "{}", self.scene.name);
        assert!(found.codes.is_empty(), "{}: {:?}", self.scene.name, found.codes);
        assert!(found.contradictions.is_empty(), "{}: {:?}", self.scene.name, found.contradictions);
        assert!(found.shapes.is_empty(), "{}: {:?}", self.scene.name, found.shapes);
        assert!(found.apart.is_empty(), "{}: {:?}", self.scene.name, found.apart);
    }

    /// What the stages of the run handed over: where it stands, and what it is.
    async fn handed(&self) -> Vec<(String, Json)> {
        let mut all = Vec::new();
        for row in self.desk.of_kind(run_kind::RETURNED).await {
            let Blob::Present(bytes) =
                self.desk.ledger.blob(&self.desk.access(), row.blobs[0].digest).await.unwrap()
            else {
                panic!("nothing was erased");
            };
            all.push((desk::member(&row.payload, "output_key").to_owned(), json::parse(&bytes).unwrap()));
        }
        all
    }

    /// Every effect is told once: questions with what they cost and where they went, programs with how they ended, files that left.
    async fn adds_up(&self, work: &Work) {
        let name = self.scene.name;
        let handed = self.handed().await;
        let books = self.books.lock().summary();
        let told = handed.iter().filter(|(output, _)| output == "critic").flat_map(|(_, handoff)| {
            handoff
                .get("payload")
                .and_then(|payload| payload.get("ran"))
                .and_then(Json::as_array)
                .unwrap_or_default()
        });
        let told: Vec<&Json> = told.collect();
        assert_eq!(told.len(), books.ran.len(), "{name}: each is told once: {told:?} {:?}", books.ran);
        for (told, ran) in told.into_iter().zip(&books.ran) {
            let exit_code = match told.get("exit_code") {
                Some(Json::Number(code)) => code.as_u64(),
                _none => None,
            };
            let refused = told.get("refused").and_then(Json::as_str).unwrap_or_default();
            match ran {
                Ran::Exit(code) => assert_eq!(exit_code, Some(u64::from(*code)), "{name}: {told:?}"),
                Ran::Not(_) => {
                    let why = ran.why().unwrap();
                    assert!(exit_code.is_none() && refused.contains(&why), "{name}: {told:?}, but {why}");
                }
            }
        }
        let (costs, left, effects) = work
            .look(|desk| {
                let is_question = |one: &TaskCostRecord| one.cost_class == Class::LogicalLlmWork;
                let costs = desk.all::<TaskCostRecord>().filter(is_question).count();
                let left: Vec<Receipt> = desk.all().collect();
                let effects: Vec<SideEffectLedgerEntry> = desk.all().collect();
                (costs, left, effects)
            })
            .unwrap();
        assert_eq!(costs, books.asked, "{name}: what a question cost is told once: {books:?}");
        let of = |way: Way| left.iter().filter(move |one| one.externalization_kind == way);
        let unseen = handed
            .iter()
            .filter(|(_, handoff)| handoff.get("reason").and_then(Json::as_str) == Some(UNKNOWN_EFFECT));
        let unseen = unseen.count();
        let receipts = self.desk.of_kind(Externalized::KIND).await.len();
        match self.scene.voice {
            Voice::Elsewhere => {
                assert_eq!(of(Way::ApiCall).count(), books.asked, "{name}: {books:?}");
                assert_eq!(receipts, books.asked + unseen, "{name}: {books:?}");
                // Nobody asks again on their own what may have left.
                assert!(books.lost <= unseen, "{name}: {books:?}, {unseen}");
            }
            Voice::Quotes | Voice::Here => {
                assert_eq!((of(Way::ApiCall).count(), receipts, unseen), (0, 0, 0))
            }
        }
        let files = self.files.values().map(Vec::len).sum::<usize>();
        assert_eq!(files, usize::from(self.scene.leaves), "{name}: what leaves is the same each time");
        let completed = of(Way::ExportBundle).filter(|one| one.status == Status::Completed).count();
        let executed = effects.iter().filter(|one| one.state == SideEffectState::Executed).count();
        assert_eq!((completed, executed), (files, files), "{name}");
        if self.scene.is_capped {
            self.is_paid(&books).await;
        }
    }

    /// The purse of the matter has everything that was answered, and holds nothing back for a run that is over.
    async fn is_paid(&self, books: &Summary) {
        let ledger: Arc<dyn Journal> = Arc::<dyn Ledger>::clone(&self.desk.ledger);
        let purse = self.purse(ledger).read().await.unwrap();
        let spent = purse.spent().get(&CostDimension::OutputTokens).copied().unwrap_or_default();
        let of = |answers: usize| answers as u64 * OUTPUT_TOKENS * UNIT;
        let most = of(books.answered + books.lost_answered);
        assert!((of(books.answered)..=most).contains(&spent), "{}: {spent} {books:?}", self.scene.name);
        assert!(purse.held().is_empty(), "{}: {:?}", self.scene.name, purse.held());
    }

    /// Anybody can verify the packet of the run, whatever went wrong on the way.
    pub(super) async fn verifies(&self) {
        let (access, run) = (self.desk.access(), self.id.clone().unwrap());
        let (mut rows, mut after): (Vec<Row>, _) = (Vec::new(), Some(0));
        while let Some(place) = after {
            let query = Query { select: Select::All, after: place, up_to: u64::MAX, limit: PAGE_ROWS_MAX };
            let page = self.desk.ledger.read(&access, query).await.unwrap();
            rows.extend(page.rows);
            after = page.next;
        }
        let is_own = |row: &Row| row.stream.as_str().ends_with(run.as_str());
        let mut blobs = BTreeMap::new();
        for named in rows.iter().filter(|row| is_own(row)).flat_map(|row| &row.blobs) {
            let Blob::Present(bytes) = self.desk.ledger.blob(&access, named.digest).await.unwrap() else {
                panic!("nothing was erased");
            };
            let (digest, size, content) = (named.digest, named.size, Content::Present(bytes));
            blobs.insert(digest, packet::Blob { digest, size, content });
        }
        // A packet begins and ends with its run: what the matter's purse says before and behind it is none of it.
        let end = rows.iter().rposition(is_own).unwrap();
        rows.truncate(end + 1);
        let rows = rows.into_iter().skip_while(|row| !is_own(row)).map(|row| match is_own(&row) {
            true => Entry::Whole(Box::new(row)),
            false => Entry::Withheld(Head { seq: row.seq, hash: row.hash }),
        });
        let statement = Statement::of(Parts {
            matter: access.matter().clone(),
            run: run.clone(),
            made_at: Timestamp::try_from("2026-01-05T00:00:00Z").unwrap(),
            made_by: access.principal().clone(),
            made_with: "countersign".to_owned(),
            task: self.scene.task.write().unwrap(),
            files: BTreeMap::new(),
            rows: rows.collect(),
            anchor: None,
            blobs: blobs.into_values().collect(),
        });
        let report = verify(&file(&statement.unwrap(), &key(1)), &[]);
        assert_eq!(report.result, Verdict::Verified, "{}: {:?}", self.scene.name, report.failures);
    }
}

/// What was really done.
#[derive(Debug)]
struct Summary {
    /// Questions of stages that told what they did, and those of them that were answered.
    asked: usize,
    answered: usize,
    /// Stages with questions that nobody saw the end of, and the answers in them.
    lost: usize,
    lost_answered: usize,
    ran: Vec<Ran>,
}

impl super::outside::Books {
    fn summary(&self) -> Summary {
        let is_asked = |deed: &&Deed| matches!(deed, Deed::Asked { .. });
        let is_answered = |deed: &&Deed| matches!(deed, Deed::Asked { answered: true });
        Summary {
            asked: self.kept.iter().filter(is_asked).count(),
            answered: self.kept.iter().filter(is_answered).count(),
            lost: self.lost.iter().filter(|stage| stage.iter().any(|deed| is_asked(&deed))).count(),
            lost_answered: self.lost.iter().flatten().filter(is_answered).count(),
            ran: self.ran(),
        }
    }
}
