//! `ledger rows`, `tail`, `summary`, `blob`: looking at what is there.
//! Owns: how rows are printed. Must not: write.

use crate::cli::Global;
use crate::cli::ledger::Rows;
use crate::failure::{Exit, Failure};
use crate::output::{self, Reader};
use crate::place::Place;
use countersign_record::base64;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::id::{RowKind, StreamId};
use countersign_record::row::{self, Row};
use countersign_runtime::fold;
use countersign_runtime::ports::ledger::{Blob, Error, Journal, Ledger, PAGE_ROWS_MAX, Query, Select};
use countersign_views::summary::Summary;
use serde::Serialize;
use std::borrow::Cow;

pub(super) async fn rows(place: &Place, rows: &Rows) -> Result<Exit, Failure> {
    let select = Filter::new(rows.stream.clone(), rows.kind.clone())?.select();
    let mut left = rows.limit.unwrap_or(u64::MAX);
    let mut after = rows.after;
    while left > 0 {
        let limit = usize::try_from(left).unwrap_or(usize::MAX).min(PAGE_ROWS_MAX);
        let query = Query { select: select.clone(), after, up_to: rows.up_to.unwrap_or(u64::MAX), limit };
        let page = place.ledger.read(&place.access, query).await?;
        for row in &page.rows {
            if print(row)? == Reader::Gone {
                return Ok(Exit::Success);
            }
        }
        left = left.saturating_sub(page.rows.len() as u64);
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    Ok(Exit::Success)
}

fn print(row: &Row) -> Result<Reader, Failure> {
    let mut line = row::line(row).map_err(|error| Failure::new(Code::OutputFailed, error.to_string()))?;
    line.push(b'\n');
    output::shown(&line)
}

/// Which rows a reader wants.
pub(super) struct Filter {
    stream: Option<StreamId>,
    kind: Option<RowKind>,
}

impl Filter {
    pub(super) fn new(stream: Option<String>, kind: Option<String>) -> Result<Self, Failure> {
        Ok(Filter {
            stream: stream.map(StreamId::try_from).transpose()?,
            kind: kind.map(RowKind::try_from).transpose()?,
        })
    }

    /// What the ledger selects; the kind is left to [`Filter::keeps`] where a stream is selected.
    fn select(&self) -> Select {
        match (&self.stream, &self.kind) {
            (Some(stream), _) => Select::Stream(stream.clone()),
            (None, Some(kind)) => Select::Kind(kind.clone()),
            (None, None) => Select::All,
        }
    }

    fn keeps(&self, row: &Row) -> bool {
        self.kind.as_ref().is_none_or(|kind| *kind == row.kind)
    }
}

/// More lines than this are not looked for behind the end of a stream or kind.
const TAIL_LINES_MAX: u64 = 1_000_000;

/// What `tail` was asked for.
pub(super) struct Tail {
    pub(super) after: Option<u64>,
    pub(super) lines: u64,
    pub(super) count: Option<u64>,
    pub(super) filter: Filter,
    pub(super) follow: bool,
}

pub(super) async fn tail(place: &Place, tail: Tail) -> Result<Exit, Failure> {
    let mut head = place.ledger.watch(&place.access).await?;
    let last = *head.borrow_and_update();
    let mut after = match tail.after {
        Some(after) => after,
        None => before_last(place, &tail.filter, tail.lines, last).await?,
    };
    let mut left = tail.count.unwrap_or(u64::MAX);
    loop {
        loop {
            let query = Query { select: tail.filter.select(), after, up_to: u64::MAX, limit: PAGE_ROWS_MAX };
            let page = place.ledger.read(&place.access, query).await?;
            for row in &page.rows {
                if left == 0 {
                    return Ok(Exit::Success);
                }
                after = row.seq;
                if tail.filter.keeps(row) {
                    if print(row)? == Reader::Gone {
                        return Ok(Exit::Success);
                    }
                    left -= 1;
                }
            }
            if page.next.is_none() {
                break;
            }
        }
        if !tail.follow || left == 0 {
            return Ok(Exit::Success);
        }
        head.changed().await.map_err(|_| Failure::from(Error::Closed))?;
    }
}

/// The place after which there are `lines` rows up to `last` that the filter keeps. It is looked for from the end, in
/// windows that grow where there are few rows and shrink where there are too many for a page, so that what stands
/// far before it costs nothing.
async fn before_last(place: &Place, filter: &Filter, lines: u64, last: u64) -> Result<u64, Failure> {
    let select = filter.select();
    if select == Select::All {
        return Ok(last.saturating_sub(lines));
    }
    let mut left = usize::try_from(lines.min(TAIL_LINES_MAX)).unwrap_or(usize::MAX);
    let mut limit = left.clamp(1, PAGE_ROWS_MAX);
    let mut window = limit as u64;
    let (mut before, mut up_to, mut crowded_after) = (last, last, None);
    while left > 0 && up_to > 0 {
        let after = up_to.saturating_sub(window);
        let query = Query { select: select.clone(), after, up_to, limit };
        let page = place.ledger.read(&place.access, query).await?;
        // A page that is full holds the window's first rows, and its last ones are wanted. One row always fits.
        if page.next.is_some() && window > 1 {
            crowded_after = Some(after);
            window = (up_to - after).div_ceil(2);
            continue;
        }
        for row in page.rows.iter().rev().filter(|row| filter.keeps(row)).take(left) {
            before = row.seq - 1;
            left -= 1;
        }
        up_to = after;
        window = match crowded_after {
            // The rows stand between here and there, most of them perhaps at one end.
            Some(crowded) if page.rows.is_empty() && crowded < after => (after - crowded).div_ceil(2),
            Some(_) | None if page.rows.len() <= limit / 2 => window.saturating_mul(2),
            Some(_) | None => window,
        };
        // Rows were found and more are needed: fewer pages will do if they are larger.
        if !page.rows.is_empty() {
            limit = (limit * 2).min(PAGE_ROWS_MAX);
        }
    }
    Ok(before)
}

pub(super) async fn summary(global: &Global, place: &Place) -> Result<Exit, Failure> {
    let folded = fold::current::<Summary>(&place.ledger, &place.access).await?;
    let summary = folded.view;
    if global.json {
        output::json(&summary)?;
        return Ok(Exit::Success);
    }
    let time = |at: &Option<String>| at.clone().unwrap_or_else(|| "never".to_owned());
    output::line(&format!(
        "{} in {}, {} to {}\n{} named; {} signed, {} self-asserted",
        output::count(summary.rows, "row"),
        output::count(summary.streams, "stream"),
        time(&summary.first_at),
        time(&summary.last_at),
        output::count(summary.blobs, "blob"),
        output::count(summary.signed, "decision"),
        summary.self_asserted,
    ))?;
    summary.kinds.iter().try_for_each(|(kind, count)| output::line(&format!("{count:>10}  {kind}")))?;
    Ok(Exit::Success)
}

/// A blob as JSON can say it.
#[derive(Serialize)]
struct Told<'a> {
    digest: Digest,
    size: u64,
    encoding: &'static str,
    data: Cow<'a, str>,
}

pub(super) async fn blob(global: &Global, place: &Place, digest: &str) -> Result<Exit, Failure> {
    let digest = read_digest(digest)?;
    let bytes = match place.ledger.blob(&place.access, digest).await? {
        Blob::Present(bytes) => bytes,
        Blob::Erased { receipt } => return Err(Error::Erased { digest, receipt }.into()),
    };
    if global.json {
        let (encoding, data) = match std::str::from_utf8(&bytes) {
            Ok(text) => ("utf-8", Cow::Borrowed(text)),
            Err(_) => ("base64", Cow::Owned(base64::encode(&bytes))),
        };
        output::json(&Told { digest, size: bytes.len() as u64, encoding, data })?;
    } else {
        output::bytes(&bytes)?;
    }
    Ok(Exit::Success)
}

/// A digest from the command line.
pub(in crate::command) fn read_digest(text: &str) -> Result<Digest, Failure> {
    Digest::try_from(text).map_err(|error| Failure::new(Code::FieldInvalid, format!("the digest: {error}")))
}
