//! What sessions that were made shorter leave behind, as records of memory (SPEC-006).
//! Owns: a store for each data class, so that what may not leave stays told apart. Must not: read one.

use countersign_durable as durable;
use countersign_record::code::Code;
use countersign_record::row::DataClass;
use countersign_runtime::ports::Answer;
use countersign_runtime::ports::session::{Remembered, Remembers, Trouble};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The stores of a matter's sessions, under one directory.
#[derive(Debug)]
pub struct Sessions {
    dir: PathBuf,
    /// One line at a time: each is looked at before the next is added.
    writing: Mutex<()>,
}

impl Sessions {
    /// Those under the directory; it need not be there.
    #[must_use]
    pub fn at(dir: &Path) -> Self {
        Sessions { dir: dir.to_path_buf(), writing: Mutex::new(()) }
    }

    /// The stores that are there, with how far what is in them may travel.
    #[must_use]
    pub fn stores(&self) -> Vec<(PathBuf, DataClass)> {
        let stores = DataClass::ALL.iter().map(|class| (self.store(*class), *class));
        stores.filter(|(path, _)| path.is_file()).collect()
    }

    fn store(&self, class: DataClass) -> PathBuf {
        self.dir.join(format!("sessions.{}.jsonl", class.as_str()))
    }

    fn append(&self, record: &Remembered) -> io::Result<()> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        durable::make_dirs(&self.dir, DIR_MODE)?;
        let path = self.store(record.data_class);
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(FILE_MODE).custom_flags(no_link);
        let mut file = options.open(&path)?;
        let begin = if ends_a_line(&mut file)? { "" } else { "\n" };
        file.write_all(format!("{begin}{}\n", record.line).as_bytes())?;
        file.sync_all()?;
        durable::sync_dir(&self.dir)
    }
}

/// Whether a line can be added as it is: a crash may have left half of one.
fn ends_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

impl Remembers for Sessions {
    fn remember(&self, record: Remembered) -> Answer<'_, Result<(), Trouble>> {
        Box::pin(async move {
            self.append(&record).map_err(|error| Trouble {
                code: Code::SessionUnwritable,
                message: format!("{}: {error}", self.store(record.data_class).display()),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::scratch::Scratch;

    #[test]
    fn a_record_is_a_line_of_the_store_for_its_class() {
        let scratch = Scratch::new();
        let sessions = Sessions::at(&scratch.path().join("memory"));
        let record = |line: &str, data_class| Remembered { line: line.into(), data_class };
        sessions.append(&record("{\"a\":1}", DataClass::Internal)).unwrap();
        sessions.append(&record("{\"b\":1}", DataClass::LocalOnly)).unwrap();
        let path = sessions.store(DataClass::Internal);
        std::fs::write(&path, "{\"a\":1}\n{\"torn").unwrap();
        sessions.append(&record("{\"c\":1}", DataClass::Internal)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"torn\n{\"c\":1}\n");
        let stores: Vec<_> = sessions.stores().into_iter().map(|(_, class)| class).collect();
        assert_eq!(stores, [DataClass::Internal, DataClass::LocalOnly]);
    }
}
