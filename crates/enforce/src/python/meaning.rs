//! What an expression of Python means, once it was followed.
//! Owns: the words for it, and how far it is followed. Must not: follow.

use ruff_python_ast::{Expr, ExprContext, FStringPart, InterpolatedStringElement, Operator};
use ruff_text_size::Ranged;
use std::cell::Cell;

/// So many expressions are looked at for one meaning, and for all of a file: bindings of bindings multiply.
const STEPS_MAX: usize = 5_000;
pub(super) const STEPS_OF_FILE_MAX: usize = 1_000_000;

/// What an expression means: a name of a module, or of something in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Meaning {
    /// Its parts; those of a built-in name are the name alone.
    pub(super) path: Vec<String>,
    /// Where it comes from.
    pub(super) root: Root,
}

/// Where a meaning comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    /// `import`: a module.
    Module,
    /// Something that was imported from a module, or stands in one.
    Imported,
    /// A built-in name.
    BuiltIn,
    /// Something that was made by what so many parts of the path name: a call of it, an instance of it, a class beneath it.
    Made(usize),
    /// What can hardly be anything but the module of this name.
    Guessed,
    /// It was followed too far.
    Lost,
}

/// The names that led to an expression.
pub(super) struct Trail<'t> {
    pub(super) name: &'t str,
    pub(super) scope: usize,
    pub(super) hops: usize,
    pub(super) above: Option<&'t Trail<'t>>,
}

/// How much may still be looked at.
pub(super) struct Steps<'s> {
    of_file: &'s Cell<usize>,
    left: Cell<usize>,
}

impl<'s> Steps<'s> {
    pub(super) fn new(of_file: &'s Cell<usize>) -> Self {
        Steps { of_file, left: Cell::new(STEPS_MAX) }
    }

    pub(super) fn take(&self) -> bool {
        let (Some(of_file), Some(left)) = (self.of_file.get().checked_sub(1), self.left.get().checked_sub(1))
        else {
            return false;
        };
        self.of_file.set(of_file);
        self.left.set(left);
        true
    }
}

pub(super) fn lost() -> Meaning {
    Meaning { path: Vec::new(), root: Root::Lost }
}

pub(super) fn module(name: &str) -> Meaning {
    Meaning { path: name.split('.').map(str::to_owned).collect(), root: Root::Module }
}

pub(super) fn beneath(base: Meaning, name: &str) -> Meaning {
    // A built-in's own attributes are nothing that anybody forbids, but those of `builtins` are built-in names.
    let root = match base.root {
        Root::Module | Root::Imported => Root::Imported,
        Root::BuiltIn | Root::Made(_) | Root::Guessed => base.root,
        Root::Lost => return base,
    };
    // What something is of is what it was made by.
    if name == "__class__" {
        return base;
    }
    let mut path = base.path;
    path.extend(name.split('.').map(str::to_owned));
    Meaning { path, root }
}

/// What a call of something gives, or what is of its kind.
pub(super) fn made(base: Meaning) -> Option<Meaning> {
    match base.root {
        Root::Module | Root::Imported => {
            let made = base.path.len();
            Some(Meaning { path: base.path, root: Root::Made(made) })
        }
        Root::Made(_) | Root::Guessed | Root::Lost => Some(base),
        Root::BuiltIn => None,
    }
}

/// The elements of a tuple or a list.
pub(super) fn elements(expr: &Expr) -> Option<&[Expr]> {
    match expr {
        Expr::Tuple(tuple) => Some(&tuple.elts),
        Expr::List(list) => Some(&list.elts),
        _ => None,
    }
}

/// A text that stands there, also in pieces.
pub(super) fn constant(expr: &Expr) -> Option<String> {
    match expr {
        Expr::StringLiteral(literal) => Some(literal.value.to_str().to_owned()),
        Expr::BinOp(sum) if sum.op == Operator::Add => Some(constant(&sum.left)? + &constant(&sum.right)?),
        Expr::FString(text) => text.value.iter().map(part_of_text).collect(),
        _ => None,
    }
}

fn part_of_text(part: &FStringPart) -> Option<String> {
    let constant = |element: &InterpolatedStringElement| match element {
        InterpolatedStringElement::Literal(part) => Some(part.value.to_string()),
        InterpolatedStringElement::Interpolation(part) => {
            constant(&part.expression).filter(|_| part.format_spec.is_none() && part.conversion.is_none())
        }
    };
    match part {
        FStringPart::Literal(literal) => Some(literal.value.to_string()),
        FStringPart::FString(text) => text.elements.iter().map(constant).collect(),
    }
}

/// Whether an expression is looked at, and not set.
pub(super) fn is_load(expr: &Expr) -> bool {
    match expr {
        Expr::Name(name) => matches!(name.ctx, ExprContext::Load),
        Expr::Attribute(attribute) => matches!(attribute.ctx, ExprContext::Load),
        _ => true,
    }
}

/// Where an expression begins.
pub(super) fn start(expr: &Expr) -> usize {
    expr.range().start().into()
}
