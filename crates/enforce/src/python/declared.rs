//! What a Python file declares: its parts, their order, their docs and their names.
//! Owns: those rules. Must not: know what the code does.

use crate::check::Setting;
use crate::codespec::{Case, Extent, Part};
use crate::lines::Lines;
use crate::order::Order;
use crate::report::{Findings, shown};
use crate::rule::Rule;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, CmpOp, Expr, ExprContext, Stmt};
use ruff_text_size::{Ranged, TextSize};

/// Looks at everything that is declared.
pub(super) struct Declared<'f> {
    setting: &'f Setting<'f>,
    lines: &'f Lines,
    findings: &'f mut Findings,
    /// Whether others see what stands here.
    is_public: bool,
    within: Within,
    /// What the class that this stands in takes over, and can't call otherwise.
    overrides: Vec<&'static Overrides>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    File,
    Class,
    Function,
}

/// The methods of a known class that are not spelt as others are.
struct Overrides {
    /// What the class's name ends with.
    class: &'static str,
    /// What the names of its methods begin with, before the name of something else.
    prefixes: &'static [&'static str],
    methods: &'static [&'static str],
}

const OVERRIDES: [Overrides; 9] = [
    Overrides { class: "Visitor", prefixes: &["visit_", "leave_"], methods: &[] },
    Overrides { class: "Transformer", prefixes: &["visit_", "leave_"], methods: &[] },
    Overrides {
        class: "TestCase",
        prefixes: &[],
        methods: &[
            "setUp",
            "tearDown",
            "setUpClass",
            "tearDownClass",
            "asyncSetUp",
            "asyncTearDown",
            "runTest",
            "shortDescription",
            "countTestCases",
            "defaultTestResult",
            "doCleanups",
        ],
    },
    Overrides {
        class: "Handler",
        prefixes: &[],
        methods: &["createLock", "handleError", "setFormatter", "setLevel"],
    },
    Overrides {
        class: "Formatter",
        prefixes: &[],
        methods: &["formatException", "formatMessage", "formatStack", "formatTime", "usesTime"],
    },
    Overrides {
        class: "Logger",
        prefixes: &[],
        methods: &["addHandler", "getChild", "makeRecord", "setLevel"],
    },
    Overrides {
        class: "LoggerAdapter",
        prefixes: &[],
        methods: &["getEffectiveLevel", "isEnabledFor", "setLevel"],
    },
    Overrides { class: "RequestHandler", prefixes: &["do_"], methods: &[] },
    Overrides {
        class: "ContentHandler",
        prefixes: &[],
        methods: &["endDocument", "endElement", "startDocument", "startElement"],
    },
];

impl Overrides {
    fn has(&self, name: &str) -> bool {
        let is_prefixed =
            self.prefixes.iter().any(|prefix| name.len() > prefix.len() && name.starts_with(prefix));
        is_prefixed || self.methods.contains(&name)
    }
}

fn overrides(class: &ast::StmtClassDef) -> Vec<&'static Overrides> {
    let name = |base: &Expr| match base {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(attribute.attr.to_string()),
        _ => None,
    };
    let bases: Vec<String> = class.bases().iter().filter_map(name).collect();
    OVERRIDES.iter().filter(|known| bases.iter().any(|base| base.ends_with(known.class))).collect()
}

impl<'f> Declared<'f> {
    pub(super) fn new(setting: &'f Setting<'f>, lines: &'f Lines, findings: &'f mut Findings) -> Self {
        Declared { setting, lines, findings, is_public: true, within: Within::File, overrides: Vec::new() }
    }

    /// The file as a whole: header, docstring, order.
    pub(super) fn file(&mut self, code: &str, body: &[Stmt]) {
        let rules = self.setting.rules;
        if rules.required.contains(&Part::Header) && !has_header(code) {
            let suggestion = "begin the file with a comment that says what it is";
            self.findings.in_code(Rule::Header, 1, "the file has no header comment", suggestion);
        }
        let docs = body.first().and_then(docstring);
        let has_docstring = docs.is_some();
        if rules.required.contains(&Part::Docstring) && docs.is_none_or(|text| text.trim().is_empty()) {
            let line = body.first().map_or(1, |first| self.line(first.start()));
            let suggestion = "say in a docstring at the top what the file is for";
            self.findings.in_code(Rule::Docstring, line, "the file has no docstring", suggestion);
        }
        let mut order = Order::new(&rules.order);
        for (at, stmt) in body.iter().enumerate() {
            let part = match part(stmt) {
                // Another text is a docstring only if it could have been one.
                Some(Part::Docstring) if at > 0 && has_docstring => None,
                part => part,
            };
            if let Some((evidence, suggestion)) = part.and_then(|part| order.next(part)) {
                let line = self.line(stmt.start());
                self.findings.in_code(Rule::StructureOrder, line, evidence, suggestion);
            }
        }
    }

    fn line(&self, at: TextSize) -> usize {
        self.lines.line(at.into())
    }

    fn name(&mut self, what: &str, name: &str, at: TextSize, cases: &[Case]) {
        if cases.is_empty() || cases.iter().any(|case| case.fits(name)) {
            return;
        }
        let words: Vec<&str> = cases.iter().map(|case| case.as_str()).collect();
        let evidence = format!("the {what} {} is not {}", shown(name), words.join(" or "));
        let line = self.line(at);
        self.findings.in_code(Rule::Naming, line, evidence, format!("spell it as {}", words.join(" or ")));
    }

    fn documented(&mut self, what: &str, name: &ast::Identifier, body: &[Stmt], extent: Extent) {
        let is_wanted = match extent {
            Extent::None => false,
            Extent::Public => self.is_public && !name.as_str().starts_with('_'),
            Extent::All => true,
        };
        if is_wanted && body.first().and_then(docstring).is_none_or(|text| text.trim().is_empty()) {
            let evidence = format!("the {what} {} has no docstring", shown(name.as_str()));
            let suggestion = format!("say in a docstring what {} is for", shown(name.as_str()));
            let line = self.line(name.start());
            self.findings.in_code(Rule::Docstring, line, evidence, suggestion);
        }
    }

    fn inside(&mut self, within: Within, is_public: bool, body: &[Stmt]) {
        let outside = (self.within, self.is_public);
        (self.within, self.is_public) = (within, is_public);
        body.iter().for_each(|stmt| self.visit_stmt(stmt));
        (self.within, self.is_public) = outside;
    }

    fn function(&mut self, function: &ast::StmtFunctionDef) {
        let rules = self.setting.rules;
        let what = if self.within == Within::Class { "method" } else { "function" };
        if !self.overrides.iter().any(|known| known.has(function.name.as_str())) {
            self.name(what, function.name.as_str(), function.name.start(), &rules.naming.functions);
        }
        for (at, parameter) in function.parameters.iter().enumerate() {
            let name = parameter.name();
            let is_own =
                at == 0 && self.within == Within::Class && ["self", "cls", "mcs"].contains(&name.as_str());
            if !is_own {
                self.name("argument", name.as_str(), name.start(), &rules.naming.arguments);
            }
        }
        if !function.decorator_list.iter().any(says_elsewhere) {
            self.documented(what, &function.name, &function.body, rules.document_functions);
        }
        let outside = std::mem::take(&mut self.overrides);
        self.inside(Within::Function, false, &function.body);
        self.overrides = outside;
    }

    fn class(&mut self, class: &ast::StmtClassDef) {
        let rules = self.setting.rules;
        self.name("class", class.name.as_str(), class.name.start(), &rules.naming.types);
        self.documented("class", &class.name, &class.body, rules.document_types);
        let has_docstring = class.body.first().and_then(docstring).is_some();
        let late = class.body.iter().skip(1).find(|stmt| docstring(stmt).is_some());
        if let Some(late) = late.filter(|_| !has_docstring && rules.order.contains(&Part::Docstring)) {
            let evidence =
                format!("the docstring of {} is not the first thing in it", shown(class.name.as_str()));
            let line = self.line(late.start());
            self.findings.in_code(Rule::StructureOrder, line, evidence, "put the docstring first");
        }
        let is_public = self.is_public && !class.name.as_str().starts_with('_');
        let outside = std::mem::replace(&mut self.overrides, overrides(class));
        self.inside(Within::Class, is_public, &class.body);
        self.overrides = outside;
    }
}

impl<'a> Visitor<'a> for Declared<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(name) = expr
            && matches!(name.ctx, ExprContext::Store)
        {
            let naming = &self.setting.rules.naming;
            let (what, cases) = match self.within {
                Within::File | Within::Class => ("name", &naming.constants),
                Within::Function => ("variable", &naming.variables),
            };
            self.name(what, name.id.as_str(), name.start(), cases);
        }
        visitor::walk_expr(self, expr);
    }
}

/// Whether a function is documented where it is overloaded or set.
fn says_elsewhere(decorator: &ast::Decorator) -> bool {
    let name = match &decorator.expression {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    ["overload", "setter", "deleter", "override"].contains(&name)
}

fn has_header(code: &str) -> bool {
    let lines = code.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("#!"));
    let says =
        |line: &str| line.strip_prefix('#').is_some_and(|text| text.chars().any(char::is_alphanumeric));
    lines.take(1).any(says)
}

/// The text that a statement is, if it is one.
fn docstring(stmt: &Stmt) -> Option<&str> {
    match stmt {
        Stmt::Expr(held) => match &*held.value {
            Expr::StringLiteral(literal) => Some(literal.value.to_str()),
            _ => None,
        },
        _ => None,
    }
}

fn part(stmt: &Stmt) -> Option<Part> {
    match stmt {
        Stmt::Import(_) | Stmt::ImportFrom(_) => Some(Part::Imports),
        Stmt::Assign(_) | Stmt::AnnAssign(_) | Stmt::AugAssign(_) | Stmt::TypeAlias(_) => {
            Some(Part::Constants)
        }
        Stmt::FunctionDef(_) | Stmt::ClassDef(_) => Some(Part::Definitions),
        Stmt::Expr(_) => docstring(stmt).map(|_| Part::Docstring),
        Stmt::If(held) if is_main(&held.test) => Some(Part::Main),
        Stmt::If(held) => all_imports(&held.body).then_some(Part::Imports),
        Stmt::Try(held) => all_imports(&held.body).then_some(Part::Imports),
        _ => None,
    }
}

fn all_imports(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_)))
}

/// `__name__ == "__main__"`, either way round.
fn is_main(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else { return false };
    let is_name = |expr: &Expr| matches!(expr, Expr::Name(name) if name.id.as_str() == "__name__");
    let is_word =
        |expr: &Expr| matches!(expr, Expr::StringLiteral(text) if text.value.to_str() == "__main__");
    let sides: Vec<&Expr> = std::iter::once(&*compare.left).chain(&*compare.comparators).collect();
    matches!(&*compare.ops, [CmpOp::Eq])
        && sides.iter().any(|side| is_name(side))
        && sides.iter().any(|side| is_word(side))
}
