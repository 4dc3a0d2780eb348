//! JSON Pointers (RFC 6901): where in a document something stands.
//! Owns: how a name is written in one, finding the numbers that canonical JSON can't say. Must not: judge a number.

use super::{Json, Number, Object};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A pointer longer than this stops at the deepest value it still reaches: names may be hostile and long, and a
/// pointer with a cut name would point nowhere.
pub const BYTES_MAX: usize = 1_024;

/// A name as a part of a pointer.
#[must_use]
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The first `limit` numbers without a canonical form, in canonical order, and where each stands.
#[must_use]
pub fn inexact_numbers(value: &Json, limit: usize) -> Vec<(String, &Number)> {
    let mut search = Search { limit, parts: Vec::new(), found: Vec::new() };
    search.value(value);
    search.found
}

/// As [`inexact_numbers`], in an object.
pub(crate) fn inexact_members(object: &Object, limit: usize) -> Vec<(String, &Number)> {
    let mut search = Search { limit, parts: Vec::new(), found: Vec::new() };
    search.members(object);
    search.found
}

struct Search<'a> {
    limit: usize,
    parts: Vec<Part<'a>>,
    found: Vec<(String, &'a Number)>,
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Name(&'a str),
    Item(usize),
}

impl<'a> Search<'a> {
    fn value(&mut self, value: &'a Json) {
        match value {
            Json::Number(number) if !number.is_exact() && self.found.len() < self.limit => {
                self.found.push((self.pointer(), number));
            }
            Json::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.inside(Part::Item(at), item);
                }
            }
            Json::Object(object) => self.members(object),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }

    fn members(&mut self, object: &'a Object) {
        for (name, member) in object.iter() {
            self.inside(Part::Name(name), member);
        }
    }

    fn inside(&mut self, part: Part<'a>, value: &'a Json) {
        self.parts.push(part);
        self.value(value);
        self.parts.pop();
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for part in &self.parts {
            let part = match part {
                // An escape makes a name longer, never shorter.
                Part::Name(name) if name.len() >= BYTES_MAX => break,
                Part::Name(name) => escaped(name),
                Part::Item(at) => at.to_string(),
            };
            if pointer.len() + 1 + part.len() > BYTES_MAX {
                break;
            }
            pointer.push('/');
            pointer.push_str(&part);
        }
        pointer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn check(text: &str, expected: &[&str]) {
        let value = crate::json::parse(text.as_bytes()).unwrap();
        let found: Vec<String> = inexact_numbers(&value, 3).into_iter().map(|(pointer, _)| pointer).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_number_is_found_where_it_stands() {
        check("1e400", &[""]);
        check("[1,0.5,\"1e400\",null]", &[]);
        check("{\"b\":1e400,\"a\":[0,1,2,9007199254740993]}", &["/a/3", "/b"]);
        check("{\"\":{\"~/\":[[1e400]]}}", &["//~0~1/0/0"]);
        check("[1e400,1e400,1e400,1e400]", &["/0", "/1", "/2"]);
    }

    #[test]
    fn a_pointer_never_grows_beyond_reason() {
        let long = "x".repeat(2_000);
        check(&format!("{{\"a\":{{\"{long}\":{{\"b\":1e400}}}}}}"), &["/a"]);
        let half = "~".repeat(300);
        check(&format!("{{\"{half}\":{{\"{half}\":1e400}}}}"), &[&format!("/{}", "~0".repeat(300))]);
    }
}
