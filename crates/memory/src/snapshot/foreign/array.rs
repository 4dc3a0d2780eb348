//! What NumPy 1.26 and 2 write for a float32 array of two dimensions.
//! Owns: the globals, the calls and the states that mean such an array, as patterns. Must not: call anything.

use super::super::Shape;
use super::machine::{Id, Machine, Node};
use std::ops::Range;

/// The globals that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    /// `_frombuffer(bytes, dtype, shape, order)`
    FromBuffer,
    /// `_reconstruct(ndarray, (0,), b'b')`, to be filled by a state
    Reconstruct,
    /// `ndarray`
    Ndarray,
    /// `dtype('f4', False, True)`, to be filled by a state
    Dtype,
}

/// The order of the floats in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::snapshot) enum Order {
    /// C's.
    Rows,
    /// Fortran's.
    Columns,
}

/// An array of float32, where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) shape: Shape,
    pub(super) floats: Range<usize>,
    pub(super) order: Order,
}

/// The global of this name.
pub(super) fn global(module: &str, name: &str) -> Option<Global> {
    match (module, name) {
        ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Some(Global::FromBuffer),
        ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Some(Global::Reconstruct),
        ("numpy", "ndarray") => Some(Global::Ndarray),
        ("numpy", "dtype") => Some(Global::Dtype),
        _ => None,
    }
}

/// What a call gives.
pub(super) fn call(machine: &Machine<'_>, callee: Id, arguments: Id) -> Option<Node> {
    let Node::Global(global) = machine.node(callee)? else { return None };
    match (global, tuple(machine, arguments)?) {
        (Global::FromBuffer, [floats, dtype, shape, order]) if is_float32(machine, *dtype) => {
            let order = match machine.text(*order)? {
                "C" => Order::Rows,
                "F" => Order::Columns,
                _ => return None,
            };
            array(machine, *floats, *shape, order)
        }
        (Global::Reconstruct, [class, shape, code]) => {
            let is_ndarray = machine.node(*class) == Some(&Node::Global(Global::Ndarray));
            let is_blank = ints(machine, *shape) == Some(vec![0]) && machine.raw(*code) == Some(b"b");
            (is_ndarray && is_blank).then_some(Node::Unfilled)
        }
        (Global::Dtype, [name, align, copy]) => {
            let is_plain = machine.text(*name) == Some("f4")
                && machine.node(*align) == Some(&Node::Bool(false))
                && machine.node(*copy) == Some(&Node::Bool(true));
            is_plain.then_some(Node::Dtype { is_filled: false })
        }
        (Global::FromBuffer | Global::Reconstruct | Global::Ndarray | Global::Dtype, _) => None,
    }
}

/// What a value becomes by its state.
pub(super) fn fill(machine: &Machine<'_>, subject: Id, state: Id) -> Option<Node> {
    let state = tuple(machine, state)?;
    match (machine.node(subject)?, state) {
        (Node::Dtype { is_filled: false }, [version, endian, sub, names, fields, size, align, flags]) => {
            let int = |id: &Id| machine.node(*id);
            let is_plain = int(version) == Some(&Node::Int(3))
                && machine.text(*endian) == Some("<")
                && [sub, names, fields].iter().all(|id| machine.node(**id) == Some(&Node::None))
                && int(size) == Some(&Node::Int(-1))
                && int(align) == Some(&Node::Int(-1))
                && int(flags) == Some(&Node::Int(0));
            is_plain.then_some(Node::Dtype { is_filled: true })
        }
        (Node::Unfilled, [version, shape, dtype, is_fortran, floats]) => {
            let Node::Bool(is_fortran) = machine.node(*is_fortran)? else { return None };
            let order = if *is_fortran { Order::Columns } else { Order::Rows };
            let is_known = machine.node(*version) == Some(&Node::Int(1)) && is_float32(machine, *dtype);
            if is_known { array(machine, *floats, *shape, order) } else { None }
        }
        _ => None,
    }
}

fn is_float32(machine: &Machine<'_>, id: Id) -> bool {
    machine.node(id) == Some(&Node::Dtype { is_filled: true })
}

fn array(machine: &Machine<'_>, floats: Id, shape: Id, order: Order) -> Option<Node> {
    let [rows, dimension] = ints(machine, shape)?.try_into().ok()?;
    let shape = Shape { rows: usize::try_from(rows).ok()?, dimension: usize::try_from(dimension).ok()? };
    let shape = shape.check().ok()?;
    let Node::Bytes(range) = machine.node(floats)? else { return None };
    (shape.bytes() == Some(range.len())).then(|| Node::Array(Array { shape, floats: range.clone(), order }))
}

fn tuple<'m>(machine: &'m Machine<'_>, id: Id) -> Option<&'m [Id]> {
    let Node::Tuple(items) = machine.node(id)? else { return None };
    Some(items)
}

/// The integers of a short tuple.
fn ints(machine: &Machine<'_>, id: Id) -> Option<Vec<i64>> {
    let items = tuple(machine, id)?;
    let int = |id: &Id| {
        let Node::Int(value) = machine.node(*id)? else { return None };
        Some(*value)
    };
    if items.len() > 2 { None } else { items.iter().map(int).collect() }
}
