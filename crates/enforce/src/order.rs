//! The order of a file's parts.
//! Owns: what may still follow. Must not: know what a part is in a language.

use crate::codespec::Part;

/// Goes through the parts as they stand.
#[derive(Debug)]
pub(crate) struct Order<'r> {
    order: &'r [Part],
    furthest: usize,
}

impl<'r> Order<'r> {
    pub(crate) fn new(order: &'r [Part]) -> Self {
        Order { order, furthest: 0 }
    }

    /// Takes the next part; says what is wrong with its place.
    pub(crate) fn next(&mut self, part: Part) -> Option<(String, String)> {
        let rank = self.order.iter().position(|known| *known == part)?;
        if rank >= self.furthest {
            self.furthest = rank;
            return None;
        }
        let after = self.order.get(self.furthest).map_or("", |part| part.as_str());
        let words: Vec<&str> = self.order.iter().map(|part| part.as_str()).collect();
        Some((format!("{} after {after}", part.as_str()), format!("keep the order {}", words.join(", "))))
    }
}
