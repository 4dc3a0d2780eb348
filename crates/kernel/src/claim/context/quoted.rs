//! Speech that goes on over several sentences.
//! Owns: which quotation marks are open. Must not: know who speaks.

/// A quotation mark that was opened and is not closed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Quotes {
    /// The marks that close it.
    open: Option<&'static str>,
}

impl Quotes {
    /// Whether one is open.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Reads on.
    pub(super) fn read(&mut self, text: &str) {
        let mut last = ' ';
        for letter in text.chars() {
            self.open = match self.open {
                Some(close) if close.contains(letter) => None,
                Some(close) => Some(close),
                None => match letter {
                    '“' => Some("”"),
                    '„' => Some("“”"),
                    '«' => Some("»"),
                    '»' => Some("«"),
                    // Behind a number it is a length in inches.
                    '"' if !last.is_ascii_digit() => Some("\""),
                    _ => None,
                },
            };
            last = letter;
        }
    }
}
