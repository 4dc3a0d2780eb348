//! Where the lines of a text begin.
//! Owns: finding a byte's line. Must not: know what the text is.

/// The lines of a text.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { starts: std::iter::once(0).chain(ends).collect() }
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let lines = Lines::of("ab\n\nc");
        assert_eq!([0, 2, 3, 4, 5, 99].map(|offset| lines.line(offset)), [1, 1, 2, 3, 3, 3]);
        assert_eq!(Lines::of("").line(0), 1);
    }
}
