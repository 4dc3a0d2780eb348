//! A snapshot that Python wrote: `pickle.dump({"ids": …, "meta": …, "emb": …})` with protocol 4 or 5.
//! Owns: which pickles are a table. Must not: look a global up, call anything, or follow a reference without a bound.
//!
//! [`machine`] turns the opcodes into a tree of plain data. The few globals that a NumPy array needs are names there,
//! and calling them means only that the tree has an array in this place. Everything else is refused.

mod array;
mod machine;

use super::{DEPTH_MAX, LABELS_BYTES_MAX, Labels, Odd, Shape, VALUES_MAX, numbers};
use array::Array;
pub(super) use array::Order;
use countersign_record::json::{Json, Object};
use machine::{Id, Machine, Node};
use std::ops::Range;

/// What such a pickle holds.
pub(super) struct Found {
    pub(super) shape: Shape,
    pub(super) floats: Range<usize>,
    pub(super) order: Order,
    pub(super) labels: Labels,
}

/// Goes through a whole pickle, but not through its floats.
pub(super) fn read(bytes: &[u8]) -> Result<Found, Odd> {
    let (machine, root) = Machine::run(bytes)?;
    let odd = |why| Odd { at: bytes.len(), why };
    let Some(Node::Dict(members)) = machine.node(root) else { return Err(odd("the pickle is no dict")) };
    let (mut emb, mut ids, mut meta) = (None, None, None);
    for (name, value) in members {
        let slot = match machine.text(*name) {
            Some("emb") => &mut emb,
            Some("ids") => &mut ids,
            Some("meta") => &mut meta,
            Some(_) | None => return Err(odd("the dict has a key that is none of emb, ids and meta")),
        };
        if slot.replace(*value).is_some() {
            return Err(odd("the dict has a key twice"));
        }
    }
    let (Some(emb), Some(ids), Some(meta)) = (emb, ids, meta) else {
        return Err(odd("the dict lacks one of emb, ids and meta"));
    };
    let Some(Node::Array(Array { shape, floats, order })) = machine.node(emb) else {
        return Err(odd("emb is no array of float32"));
    };
    let (Some(Node::List(ids)), Some(Node::List(meta))) = (machine.node(ids), machine.node(meta)) else {
        return Err(odd("ids and meta are no lists"));
    };
    if ids.len() != shape.rows || meta.len() != shape.rows {
        return Err(odd("ids and meta have not as many items as emb has rows"));
    }
    let mut tree = Tree { machine: &machine, values_left: VALUES_MAX, bytes_left: LABELS_BYTES_MAX };
    let mut labels = Labels::default();
    for id in ids {
        labels.ids.push(tree.text(*id).map_err(odd)?);
    }
    for one in meta {
        if !matches!(machine.node(*one), Some(Node::Dict(_))) {
            return Err(odd("meta holds something that is no dict"));
        }
        labels.meta.push(tree.json(*one, DEPTH_MAX).map_err(odd)?);
    }
    Ok(Found { shape: *shape, floats: floats.clone(), order: *order, labels })
}

/// Copies labels out of the machine. What a pickle refers to twice is copied twice, so the copy has bounds of its own.
struct Tree<'m, 'b> {
    machine: &'m Machine<'b>,
    values_left: usize,
    bytes_left: usize,
}

impl Tree<'_, '_> {
    fn count(&mut self) -> Result<(), &'static str> {
        let left = self.values_left.checked_sub(1).ok_or("there are more values than labels may hold")?;
        self.values_left = left;
        Ok(())
    }

    fn text(&mut self, id: Id) -> Result<String, &'static str> {
        self.count()?;
        let text = self.machine.text(id).ok_or("a label that should be a text is none")?;
        let left = self.bytes_left.checked_sub(text.len()).ok_or("the labels are longer than they may be")?;
        self.bytes_left = left;
        Ok(text.to_owned())
    }

    fn json(&mut self, id: Id, depth_left: usize) -> Result<Json, &'static str> {
        const DEEP: &str = "the labels are nested too deep";
        match self.machine.node(id) {
            Some(Node::Text(_)) => return self.text(id).map(Json::String),
            Some(_) | None => self.count()?,
        }
        match self.machine.node(id) {
            Some(Node::None) => Ok(Json::Null),
            Some(Node::Bool(value)) => Ok(Json::Bool(*value)),
            Some(Node::Int(value)) => Ok(Json::Number(numbers::integer(*value))),
            Some(Node::Float(value)) => {
                numbers::double(*value).map(Json::Number).ok_or("a number is a NaN or an infinity")
            }
            Some(Node::List(items)) => {
                let depth_left = depth_left.checked_sub(1).ok_or(DEEP)?;
                items
                    .iter()
                    .map(|item| self.json(*item, depth_left))
                    .collect::<Result<_, _>>()
                    .map(Json::Array)
            }
            Some(Node::Dict(members)) => {
                let depth_left = depth_left.checked_sub(1).ok_or(DEEP)?;
                let mut object = Object::new();
                for (name, value) in members {
                    let (name, value) = (self.text(*name)?, self.json(*value, depth_left)?);
                    if object.insert(name, value).is_some() {
                        return Err("a dict has a key twice");
                    }
                }
                Ok(Json::Object(object))
            }
            Some(
                Node::Text(_)
                | Node::Bytes(_)
                | Node::Tuple(_)
                | Node::Global(_)
                | Node::Dtype { .. }
                | Node::Unfilled
                | Node::Array(_),
            )
            | None => Err("a label holds something that JSON can't say"),
        }
    }
}
