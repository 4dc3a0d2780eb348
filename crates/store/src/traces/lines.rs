//! The lines of one turn, on their way to its trace.
//! Owns: that writing them never holds up a turn, how much is written, and that what is missing is told. Must not: read a line.

use countersign_record::session::UnixTime;
use countersign_record::trace::lost_line;
use countersign_runtime::ports::session::Trace;
use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Lines that wait to be written; more are lost.
const WAITING_MAX: usize = 4_096;
/// How long the end of a turn waits for the last lines.
const LAST_LINES_WAIT_MAX: Duration = Duration::from_secs(2);
/// What a trace holds, in bytes. What comes then is counted, and the last line of all is kept.
const TRACE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The longest last line that is kept beyond that.
const LAST_BYTES_MAX: usize = 64 * 1024;

const FULL: &str = "the trace is full";
const UNWRITTEN: &str = "they could not be written";

/// The lines of one turn.
#[derive(Debug)]
pub struct Lines {
    sender: Option<SyncSender<(UnixTime, String)>>,
    /// Lines that found no room to wait in.
    lost: Arc<AtomicU64>,
    written: Option<Receiver<()>>,
}

impl Lines {
    /// Where nothing can be written.
    pub(super) fn nowhere() -> Self {
        Lines { sender: None, lost: Arc::default(), written: None }
    }

    /// To a file, by a thread of its own.
    pub(super) fn to(file: impl Write + Send + 'static) -> Self {
        let (sender, waiting) = sync_channel(WAITING_MAX);
        let (done, written) = sync_channel::<()>(1);
        let lost = Arc::new(AtomicU64::new(0));
        let unseen = Arc::clone(&lost);
        let writing = move || {
            let mut writer = Writer::new(file);
            for (ts, line) in waiting {
                writer.lost += unseen.swap(0, Ordering::Relaxed);
                writer.line(ts, line);
            }
            writer.lost += unseen.swap(0, Ordering::Relaxed);
            writer.end();
            // The file is closed before the turn is over: whoever watches it need not look again.
            drop(writer);
            drop(done);
        };
        match std::thread::Builder::new().name("trace".to_owned()).spawn(writing) {
            Ok(_) => Lines { sender: Some(sender), lost, written: Some(written) },
            Err(_) => Lines::nowhere(),
        }
    }
}

impl Trace for Lines {
    fn put(&mut self, ts: UnixTime, line: String) {
        if let Some(sender) = &self.sender
            && sender.try_send((ts, line)).is_err()
        {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(written) = self.written.take() {
            // Either they are written, or nobody waits any longer.
            match written.recv_timeout(LAST_LINES_WAIT_MAX) {
                Ok(()) | Err(_) => {}
            }
        }
    }
}

/// How much room is left.
enum Room {
    Bytes(usize),
    /// None: how many lines were left out, and the last of them.
    Full {
        left_out: u64,
        last: Option<String>,
    },
}

struct Writer<W> {
    file: W,
    room: Room,
    /// Lines that could not be written, of which nothing is said yet.
    lost: u64,
    /// Whether the file ends within a line.
    is_torn: bool,
    latest: UnixTime,
}

impl<W: Write> Writer<W> {
    fn new(file: W) -> Self {
        let room = Room::Bytes(TRACE_BYTES_MAX);
        Writer { file, room, lost: 0, is_torn: false, latest: UnixTime::default() }
    }

    fn line(&mut self, ts: UnixTime, line: String) {
        self.latest = ts;
        match &mut self.room {
            Room::Bytes(left) if line.len() <= *left => {
                *left -= line.len();
                self.tell_lost();
                self.lost += u64::from(self.write(&line).is_err());
            }
            Room::Bytes(_) => {
                self.tell_lost();
                self.room = Room::Full { left_out: 1, last: Some(line) };
                // How many, nobody knows yet; a process that is killed does not get to say it.
                self.tell(None, FULL);
            }
            Room::Full { left_out, last } => {
                *left_out += 1;
                *last = Some(line);
            }
        }
    }

    /// No line comes any more.
    fn end(&mut self) {
        self.tell_lost();
        let full = Room::Full { left_out: 0, last: None };
        if let Room::Full { left_out, last } = std::mem::replace(&mut self.room, full) {
            let last = last.filter(|line| line.len() <= LAST_BYTES_MAX);
            self.tell(Some(left_out - u64::from(last.is_some())), FULL);
            // What ends a turn is the last line of it, and tells whoever follows the trace that it is over.
            if let Some(line) = last {
                self.lost += u64::from(self.write(&line).is_err());
            }
        }
    }

    /// Says what is missing as soon as something can be written again.
    fn tell_lost(&mut self) {
        if self.lost > 0 && self.tell(Some(self.lost), UNWRITTEN) {
            self.lost = 0;
        }
    }

    fn tell(&mut self, events: Option<u64>, why: &str) -> bool {
        lost_line(self.latest, events, why).is_some_and(|line| self.write(&line).is_ok())
    }

    /// Writes a line whole, or says that it is not.
    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.is_torn {
            // What is there of a line becomes one that nobody can read, and the next is whole.
            self.bytes(b"\n")?;
            self.is_torn = false;
        }
        self.bytes(line.as_bytes())
    }

    fn bytes(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.file.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    bytes = bytes.get(count..).unwrap_or_default();
                    self.is_torn = !bytes.is_empty();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// A disk with so much room, which somebody may make more of.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<(Vec<u8>, usize)>>);

    impl Disk {
        fn with_room(room: usize) -> Self {
            let disk = Disk::default();
            disk.0.lock().unwrap().1 = room;
            disk
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().0.clone()).unwrap()
        }
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.0.lock().unwrap();
            let count = bytes.len().min(disk.1);
            if count == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            disk.1 -= count;
            disk.0.extend(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn at(seconds: u64) -> UnixTime {
        UnixTime::from_micros(seconds * 1_000_000).unwrap()
    }

    fn lost(ts: u64, events: &str, why: &str) -> String {
        format!("{{\"ts\":{ts},\"kind\":\"lost\",\"data\":{{\"events\":{events},\"why\":\"{why}\"}}}}\n")
    }

    #[test]
    fn what_a_full_disk_swallowed_is_told_by_the_next_line() {
        let disk = Disk::with_room(10);
        let mut writer = Writer::new(disk.clone());
        writer.line(at(1), "one 4\n".into());
        writer.line(at(2), "two is torn\n".into());
        writer.line(at(3), "three\n".into());
        assert_eq!(disk.text(), "one 4\ntwo ");
        disk.0.lock().unwrap().1 = 1_000;
        writer.line(at(4), "four\n".into());
        writer.end();
        assert_eq!(disk.text(), format!("one 4\ntwo \n{}four\n", lost(4, "2", UNWRITTEN)));
    }

    #[test]
    fn what_is_lost_at_the_end_is_told_at_the_end() {
        let disk = Disk::with_room(0);
        let mut writer = Writer::new(disk.clone());
        writer.line(at(1), "one\n".into());
        disk.0.lock().unwrap().1 = 1_000;
        writer.end();
        assert_eq!(disk.text(), lost(1, "1", UNWRITTEN));
    }

    #[test]
    fn a_trace_has_a_largest_size_and_a_last_line() {
        let disk = Disk::with_room(usize::MAX);
        let mut writer = Writer::new(disk.clone());
        let long = format!("{}\n", "x".repeat(1024 * 1024 - 1));
        (0..20).for_each(|second| writer.line(at(second), long.clone()));
        assert_eq!(disk.text().len(), TRACE_BYTES_MAX + lost(16, "null", FULL).len(), "told when it is full");
        writer.line(at(20), "done\n".into());
        writer.end();
        let text = disk.text();
        let rest = &text[TRACE_BYTES_MAX..];
        assert_eq!(rest, format!("{}{}done\n", lost(16, "null", FULL), lost(20, "4", FULL)));
    }

    #[test]
    fn lines_that_find_no_room_to_wait_are_told() {
        // Nobody writes before the test lets it.
        let disk = Disk::with_room(usize::MAX);
        let held = disk.0.lock().unwrap();
        let mut lines = Lines::to(disk.clone());
        let many = WAITING_MAX as u64 + 10;
        (0..many).for_each(|second| lines.put(at(second), format!("{second}\n")));
        drop(held);
        drop(lines);
        let text = disk.text();
        let told = text.lines().find(|line| line.contains("\"lost\"")).unwrap();
        let missing = many - (text.lines().count() as u64 - 1);
        assert!((9..=10).contains(&missing), "{missing}");
        assert!(told.contains(&format!("\"events\":{missing},")), "{told}");
    }
}
