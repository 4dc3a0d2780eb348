//! The opcodes that Python's pickler writes for plain data and arrays, as data.
//! Owns: the stack, the memo, the allow-list of opcodes. Must not: know what a call does (`array` does), or hold more
//! than its bounds whatever the bytes say.

use super::super::VALUES_MAX;
use super::super::refusal::Odd;
use super::array::{self, Array, Global};
use std::ops::Range;

/// Pushes onto the stack: every value and every reference to one is one.
const PUSHES_MAX: usize = 2 * VALUES_MAX;

/// A node, by its number. Nodes are counted by pushes, so a number of 32 bits never runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(u32);

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// UTF-8, checked, where it stands.
    Text(Range<usize>),
    Bytes(Range<usize>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    Tuple(Vec<Id>),
    Global(Global),
    /// The dtype float32; it is one only when its state says that its least byte comes first.
    Dtype {
        is_filled: bool,
    },
    /// An array that has no state yet.
    Unfilled,
    Array(Array),
}

/// A pickle while it is read.
pub(super) struct Machine<'b> {
    bytes: &'b [u8],
    at: usize,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    /// Where on the stack the open marks are.
    marks: Vec<usize>,
    memo: Vec<Id>,
    pushes_left: usize,
}

impl<'b> Machine<'b> {
    /// Reads a whole pickle; gives back its nodes and the one that it means.
    pub(super) fn run(bytes: &'b [u8]) -> Result<(Machine<'b>, Id), Odd> {
        let mut machine = Machine {
            bytes,
            at: 0,
            nodes: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: Vec::new(),
            pushes_left: PUSHES_MAX,
        };
        if !matches!(bytes, [0x80, 4 | 5, ..]) {
            return Err(Odd { at: 0, why: "it is no pickle of protocol 4 or 5" });
        }
        machine.at = 2;
        loop {
            let at = machine.at;
            let opcode = machine.byte().map_err(|why| Odd { at, why })?;
            if opcode == b'.' {
                break;
            }
            machine.step(opcode).map_err(|why| Odd { at, why })?;
        }
        let odd = |why| Odd { at: machine.at, why };
        match (machine.stack.as_slice(), machine.marks.as_slice()) {
            _ if machine.at != bytes.len() => Err(odd("something follows the end")),
            ([root], []) => {
                let root = *root;
                Ok((machine, root))
            }
            _ => Err(odd("the pickle does not end with one value")),
        }
    }

    /// A node; there is one for every number that was given out.
    pub(super) fn node(&self, id: Id) -> Option<&Node> {
        self.nodes.get(usize::try_from(id.0).ok()?)
    }

    /// The text of a node that is one.
    pub(super) fn text(&self, id: Id) -> Option<&'b str> {
        let Node::Text(range) = self.node(id)? else { return None };
        std::str::from_utf8(self.bytes.get(range.clone())?).ok()
    }

    /// The bytes of a node that is some.
    pub(super) fn raw(&self, id: Id) -> Option<&'b [u8]> {
        let Node::Bytes(range) = self.node(id)? else { return None };
        self.bytes.get(range.clone())
    }

    fn step(&mut self, opcode: u8) -> Result<(), &'static str> {
        match opcode {
            // A frame only says how far to read ahead.
            0x95 => {
                let length = u64::from_le_bytes(self.array()?);
                let left = (self.bytes.len() - self.at) as u64;
                if length > left { Err("a frame is longer than the file") } else { Ok(()) }
            }
            0x94 => {
                let top = self.top()?;
                // Each value is memoized at most once by Python; more would be memory for nothing.
                if self.memo.len() >= PUSHES_MAX {
                    return Err("the memo is fuller than it may be");
                }
                self.memo.push(top);
                Ok(())
            }
            b'h' => {
                let at = usize::from(self.byte()?);
                self.recall(at)
            }
            b'j' => {
                let at = usize::try_from(u32::from_le_bytes(self.array()?)).unwrap_or(usize::MAX);
                self.recall(at)
            }
            b'(' => {
                if self.marks.len() >= PUSHES_MAX {
                    return Err("there are more marks than there may be");
                }
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'a' | b'e' | b's' | b'u' => self.fill(opcode),
            b')' | 0x85 | 0x86 | 0x87 | b't' => self.tuple(opcode),
            0x93 | b'R' | b'b' => self.call(opcode),
            _ => {
                let node = self.value(opcode)?;
                self.push(node)
            }
        }
    }

    /// An opcode that stands for a value by itself.
    fn value(&mut self, opcode: u8) -> Result<Node, &'static str> {
        Ok(match opcode {
            b'N' => Node::None,
            0x88 => Node::Bool(true),
            0x89 => Node::Bool(false),
            b'K' => Node::Int(self.byte()?.into()),
            b'M' => Node::Int(u16::from_le_bytes(self.array()?).into()),
            b'J' => Node::Int(i32::from_le_bytes(self.array()?).into()),
            0x8a => Node::Int(self.long()?),
            b'G' => Node::Float(f64::from_be_bytes(self.array()?)),
            0x8c | b'X' => {
                let length = self.length(opcode == 0x8c)?;
                let range = self.range(length)?;
                match std::str::from_utf8(self.bytes.get(range.clone()).unwrap_or_default()) {
                    Ok(_) => Node::Text(range),
                    Err(_) => return Err("a text is not UTF-8"),
                }
            }
            b'C' | b'B' => {
                let length = self.length(opcode == b'C')?;
                Node::Bytes(self.range(length)?)
            }
            0x8e | 0x96 => {
                let length = usize::try_from(u64::from_le_bytes(self.array()?)).unwrap_or(usize::MAX);
                Node::Bytes(self.range(length)?)
            }
            b']' => Node::List(Vec::new()),
            b'}' => Node::Dict(Vec::new()),
            _ => return Err("an opcode that no table needs"),
        })
    }

    fn length(&mut self, is_short: bool) -> Result<usize, &'static str> {
        if is_short {
            return self.byte().map(usize::from);
        }
        Ok(usize::try_from(u32::from_le_bytes(self.array()?)).unwrap_or(usize::MAX))
    }

    /// An integer of at most 64 bits, in two's complement, its least byte first.
    fn long(&mut self) -> Result<i64, &'static str> {
        let length = usize::from(self.byte()?);
        let range = self.range(length)?;
        let given = self.bytes.get(range).unwrap_or_default();
        let fill = if given.last().is_some_and(|last| *last >= 0x80) { 0xFF } else { 0 };
        let mut bytes = [fill; size_of::<i64>()];
        match bytes.get_mut(..given.len()) {
            Some(low) => low.copy_from_slice(given),
            None => return Err("an integer is beyond 64 bits"),
        }
        Ok(i64::from_le_bytes(bytes))
    }

    /// Puts items into the list or dict below them.
    fn fill(&mut self, opcode: u8) -> Result<(), &'static str> {
        let count = match opcode {
            b'a' => 1,
            b's' => 2,
            _ => self.since_mark()?,
        };
        let items = self.pop_many(count)?;
        let target = self.top()?;
        let is_list = matches!(opcode, b'a' | b'e');
        let target = self.node_mut(target)?;
        if let Node::List(list) = target
            && is_list
        {
            list.extend(items);
            return Ok(());
        }
        let (pairs, odd) = items.as_chunks::<2>();
        if let Node::Dict(members) = target
            && !is_list
            && odd.is_empty()
        {
            members.extend(pairs.iter().map(|[name, value]| (*name, *value)));
            return Ok(());
        }
        Err("items are put into what can't hold them")
    }

    fn tuple(&mut self, opcode: u8) -> Result<(), &'static str> {
        let count = match opcode {
            b')' => 0,
            0x85 => 1,
            0x86 => 2,
            0x87 => 3,
            _ => self.since_mark()?,
        };
        let items = self.pop_many(count)?;
        self.push(Node::Tuple(items))
    }

    /// A name, a call or a state: what they may be is known.
    fn call(&mut self, opcode: u8) -> Result<(), &'static str> {
        let argument = self.pop()?;
        let subject = self.pop()?;
        match opcode {
            0x93 => {
                let global = match (self.text(subject), self.text(argument)) {
                    (Some(module), Some(name)) => array::global(module, name),
                    _ => None,
                };
                self.push(Node::Global(global.ok_or("a global that no table needs")?))
            }
            b'R' => {
                let made = array::call(self, subject, argument).ok_or("a call that no table needs")?;
                self.push(made)
            }
            _ => {
                let filled = array::fill(self, subject, argument).ok_or("a state that no table needs")?;
                *self.node_mut(subject)? = filled;
                self.push_id(subject)
            }
        }
    }

    fn recall(&mut self, at: usize) -> Result<(), &'static str> {
        let id = self.memo.get(at).copied().ok_or("the memo holds no such value")?;
        self.push_id(id)
    }

    fn push(&mut self, node: Node) -> Result<(), &'static str> {
        let id = u32::try_from(self.nodes.len()).map_err(|_| "there are too many values")?;
        self.push_id(Id(id))?;
        self.nodes.push(node);
        Ok(())
    }

    fn push_id(&mut self, id: Id) -> Result<(), &'static str> {
        let left = self.pushes_left.checked_sub(1).ok_or("there are more values than a table may hold")?;
        self.pushes_left = left;
        self.stack.push(id);
        Ok(())
    }

    /// What is below the last mark is not there for an opcode after it.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Result<Id, &'static str> {
        self.stack.get(self.floor()..).and_then(<[Id]>::last).copied().ok_or("the stack is empty")
    }

    fn pop(&mut self) -> Result<Id, &'static str> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    /// How many values stand above the last mark, which goes.
    fn since_mark(&mut self) -> Result<usize, &'static str> {
        let mark = self.marks.pop().ok_or("there is no mark")?;
        Ok(self.stack.len().saturating_sub(mark))
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<Id>, &'static str> {
        let from = self.stack.len().checked_sub(count).filter(|from| *from >= self.floor());
        Ok(self.stack.split_off(from.ok_or("the stack is empty")?))
    }

    fn node_mut(&mut self, id: Id) -> Result<&mut Node, &'static str> {
        let at = usize::try_from(id.0).unwrap_or(usize::MAX);
        self.nodes.get_mut(at).ok_or("there is no such value")
    }

    fn byte(&mut self) -> Result<u8, &'static str> {
        self.array().map(u8::from_le_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        let range = self.range(N)?;
        self.bytes.get(range).and_then(|taken| taken.try_into().ok()).ok_or(CUT)
    }

    fn range(&mut self, length: usize) -> Result<Range<usize>, &'static str> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len()).ok_or(CUT)?;
        let range = self.at..end;
        self.at = end;
        Ok(range)
    }
}

const CUT: &str = "the file ends in a value";
