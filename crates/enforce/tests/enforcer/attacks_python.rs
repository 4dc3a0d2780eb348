//! Ways around the rules of Python, and code that only looks like one.

use crate::drafts::{broken, names, spec};
use countersign_enforce::Language;
use countersign_enforce::rule::Rule;

const RULES: &str = "[imports]
deny = ['ctypes']
star = 'forbidden'
dynamic = 'forbidden'
[logging]
print = 'forbidden'
[calls]
io = ['open', 'os.environ', '.read_text']
network = ['socket', 'urllib.request']
time = ['time', 'datetime.datetime.now']
process = ['os.system', 'os.popen', 'subprocess']
code = ['eval', 'exec']";

fn check(code: &str, rules: &[Rule]) {
    let spec = spec(Language::Python, RULES);
    assert_eq!(broken(Language::Python, code, &spec, &[]), names(rules), "{code}");
}

#[test]
fn names_are_followed() {
    for code in [
        "import os as x\nx.system('a')",
        "from os import system",
        "from os import system as s\ns('a')",
        "import os\nrun = os.system\nrun('a')",
        "import os\na = b = os\na.system('a')",
        "import os\na = os\nb = a\nc = b\nc.system('a')",
        "import os, sys\na, b = os, sys\na.system('a')",
        "import os\nprint_ = [os.system]",
        "import os\nf(os.system)",
        "import os\ngetattr(os, 'system')('a')",
        "import os\ngetattr(os, 'sys' + 'tem')('a')",
        "import os\nrun = getattr(os, 'sys' 'tem')",
        "import os\nif (m := os):\n    m.system('a')",
        "import os\n(os if True else None).system('a')",
        "import os\n(None or os).system('a')",
        "import os\ndef f(run=os.system): run('a')",
        "import os\nf = lambda: os.system('a')",
        "import os\n[os.system(x) for x in y]",
        "import os\nclass A:\n    run = os.system",
        "import os\n@os.system\ndef f(): pass",
        "import os\nf'{os.system(1)}'",
        "import os\ndef f():\n    global m\n    m = os\ndef g():\n    m.system('a')",
        "def f():\n    import os as o\n    return o.popen('a')",
        "try:\n    import subprocess\nexcept ImportError:\n    pass",
        "import subprocess as s",
        "from subprocess import run",
        "from os import (path,\n    system)",
        "import os.path\nos.system('a')",
        "import os\nm = os\nm = m or None\nm.system('a')",
    ] {
        check(code, &[Rule::ForbiddenProcess]);
    }
    check("from time import time as t\nt()", &[Rule::ForbiddenTime]);
    check("from datetime import datetime as d\nd.now()", &[Rule::ForbiddenTime]);
    check("import datetime\nnow = datetime.datetime.now", &[Rule::ForbiddenTime]);
    check("from urllib import request\nrequest.urlopen('x')", &[Rule::ForbiddenNetwork]);
    check("import urllib.request", &[Rule::ForbiddenNetwork]);
    check("import builtins\nbuiltins.open('x')", &[Rule::ForbiddenIo]);
    check("from builtins import open as o\no('x')", &[Rule::ForbiddenIo]);
    check("import os\nos.environ['HOME']", &[Rule::ForbiddenIo]);
    check("import pathlib\npathlib.Path('x').read_text()", &[Rule::ForbiddenIo]);
    check("from pathlib import Path\np = Path('x')\np.read_text()", &[Rule::ForbiddenIo]);
    check("from pathlib import Path\nPath.read_text(x)", &[Rule::ForbiddenIo]);
    check("run = eval\nrun('1')", &[Rule::ForbiddenCode]);
    check("exec('import os')", &[Rule::ForbiddenCode]);
    check("say = print\nsay(1)", &[Rule::PrintLogging]);
    check("import sys\nsys.stdout.write('x')", &[Rule::PrintLogging]);
}

#[test]
fn what_reaches_past_a_name_is_refused() {
    for code in [
        "import os\ngetattr(os, name)('a')",
        "import os\nf(os)",
        "import os\nx.m = os",
        "import os\nd = {'a': os}",
        "import os\nvars(os)[name]",
        "import os\nreturn_ = [m for m in [os]]",
        "globals()[name]",
        "x = locals()",
        "f.__globals__['os']",
        "().__class__.__base__.__subclasses__()",
        "getattr(f, '__globals__')",
        "import os\nos.__loader__",
    ] {
        check(code, &[Rule::IndirectAccess]);
    }
    check("import os\nos.__dict__['system']('a')", &[Rule::IndirectAccess, Rule::ForbiddenProcess]);
    check("import os\nglobals()['os'].system('a')", &[Rule::IndirectAccess, Rule::ForbiddenProcess]);
    check("__builtins__['eval']('1')", &[Rule::ForbiddenCode]);
    check("__builtins__.eval('1')", &[Rule::ForbiddenCode]);
    check("import sys\nsys.modules['os'].system('a')", &[Rule::DynamicImport, Rule::ForbiddenProcess]);
}

#[test]
fn imports_are_followed() {
    check("__import__('os').system('a')", &[Rule::DynamicImport, Rule::ForbiddenProcess]);
    check("i = __import__\ni('json')", &[Rule::DynamicImport]);
    check("import importlib\nimportlib.import_module(name)", &[Rule::DynamicImport]);
    check(
        "from importlib import import_module as load\nload('os').system('a')",
        &[Rule::DynamicImport, Rule::ForbiddenProcess],
    );
    check("import importlib.metadata\nimportlib.metadata.version('a')", &[]);
    check("from os import *", &[Rule::ImportStar]);
    check("import ctypes.util as c", &[Rule::ImportDenied]);
    check("from ctypes import *", &[Rule::ImportDenied, Rule::ImportStar]);
    check("from . import a", &[Rule::OtherFile]);
    check("from ..a import b as c", &[Rule::OtherFile]);
    let dynamic = spec(Language::Python, "[imports]\ndeny = ['os']\n[calls]\nprocess = ['os.system']");
    let broken = |code: &str| broken(Language::Python, code, &dynamic, &[]);
    assert_eq!(broken("__import__('json')"), names(&[]));
    assert_eq!(broken("__import__('os')"), names(&[Rule::ImportDenied]));
    assert_eq!(broken("__import__(name)"), names(&[Rule::DynamicImport]));
}

#[test]
fn lists_of_libraries_hold() {
    let spec =
        spec(Language::Python, "[imports]\nallow = ['json', 're', 'os.path', 'xml']\ndeny = ['xml.sax']");
    let check = |code: &str, libs: &[&str], rules: &[Rule]| {
        let found = broken(Language::Python, code, &spec, &[("allowed_libs", libs)]);
        assert_eq!(found, names(rules), "{code}");
    };
    check("import json, re", &["json", "re"], &[]);
    check("from __future__ import annotations\nimport json", &["json"], &[]);
    check("import json, re", &["json"], &[Rule::ImportNotAllowed]);
    // A task may name more than the CodeSpec does.
    check("import yaml", &["yaml"], &[]);
    check("import yaml", &["json"], &[Rule::ImportNotAllowed]);
    check("import os.path\nos.path.join('a')", &["os.path"], &[]);
    check("from os import path\npath.join('a')", &["os.path"], &[]);
    check("import os\nos.path.join('a')", &["os.path"], &[]);
    check("import os\nos.getcwd()", &["os.path"], &[Rule::ImportNotAllowed]);
    check("from os import *", &["os.path"], &[Rule::ImportNotAllowed]);
    check("import os\nf(os)", &["os.path"], &[Rule::IndirectAccess]);
    check("import os.path\nos.getcwd()", &["os.path"], &[Rule::ImportNotAllowed]);
    check("import xml.sax", &["xml"], &[Rule::ImportDenied]);
    check("from xml import sax", &["xml"], &[Rule::ImportDenied]);
    check("import xml\nxml.sax.parse(x)", &["xml"], &[Rule::ImportDenied]);
}

#[test]
fn what_only_looks_like_it_passes() {
    for code in [
        "def f(open): return open('x')",
        "def f():\n    eval = len\n    return eval('x')",
        "class A:\n    def open(self): return self.open",
        "import os\nos.path.join('a', os.sep)",
        "import os\ns = os.sep\nf(s)",
        "import datetime\ndef f(x: datetime.datetime) -> datetime.date: ...",
        "from datetime import datetime\nisinstance(x, datetime)",
        "x.system('a')\nx.time()",
        "'import os; os.system(1)'",
        "# os.system('a')",
        "def time(): return 1\ntime()",
        "for time in range(3): time",
        "def f():\n    try:\n        pass\n    except ValueError as open:\n        open",
        "match x:\n    case {'a': time}: time",
        "def f():\n    with g() as exec: exec",
        "a = a or b\na.b",
        "import os\ngetattr(x, 'name')\ngetattr(os, 'sep')",
        "class A:\n    def f(self):\n        return self.__class__.__name__, self.__dict__, vars(self)",
        "object.__setattr__(x, 'a', 1)",
        "class A:\n    def __setattr__(self, name, value):\n        super().__setattr__(name, value)",
        "import logging\nclass A(logging.Handler):\n    def f(self):\n        return self.time",
        "import operator\nsorted(x, key=operator.attrgetter('a.b'))",
        "def f(x: 'list[int]', y: 'A' = 'is (not) code'): ...",
        "import json as time\ntime.dumps(1)",
        "a = b\nb = a\na.c",
    ] {
        check(code, &[]);
    }
}

#[test]
fn what_leads_elsewhere_is_refused() {
    for (code, rules) in [
        ("getattr(x, name)", &[Rule::IndirectAccess][..]),
        ("setattr(x, name, 1)", &[Rule::IndirectAccess]),
        ("f(getattr)", &[Rule::IndirectAccess]),
        ("getattr.__call__(x, 'a')", &[Rule::IndirectAccess]),
        ("globals.__call__()", &[Rule::IndirectAccess]),
        ("x.__of_tomorrow__", &[Rule::IndirectAccess]),
        ("x.__class__ = y\nx.__code__ = z", &[Rule::IndirectAccess]),
        ("import operator as o\no.methodcaller(name)", &[Rule::IndirectAccess]),
        ("from operator import attrgetter as a\na('a.__globals__')", &[Rule::IndirectAccess]),
        ("import math\nf(math)", &[Rule::IndirectAccess]),
        ("import __main__", &[Rule::IndirectAccess]),
        ("import main", &[Rule::IndirectAccess]),
        ("import typing\ntyping._eval(x)", &[Rule::IndirectAccess]),
        ("[(m := os) for x in y]\nimport os\nm.system('a')", &[Rule::IndirectAccess, Rule::ForbiddenProcess]),
        ("import warnings\nwarnings.catch_warnings()._module.sys.modules", &[Rule::DynamicImport]),
        ("import warnings\nw = warnings.x()._module.sys\nw.modules", &[Rule::DynamicImport]),
        ("from json import codecs as c\nf(c)", &[Rule::IndirectAccess]),
        ("x = y.os\nx.system('a')", &[Rule::ForbiddenProcess]),
        ("def f(x: 'g()'): ...", &[Rule::ForbiddenCode]),
        (
            "from datetime import datetime\nclass A(datetime):\n    def f(self): return self.now()",
            &[Rule::ForbiddenTime],
        ),
        (
            "from datetime import datetime\nclass A(datetime):\n    def f(self): return super().now()",
            &[Rule::ForbiddenTime],
        ),
        ("import datetime as d\ndef f(x: d.datetime | None): return type(x).now()", &[Rule::ForbiddenTime]),
        (
            "import datetime as d\nclass A:\n    at: d.datetime\n    def f(self): self.at.now()",
            &[Rule::ForbiddenTime],
        ),
        ("import datetime as d\nx = d.datetime.strptime(a, b)\nx.__class__.now()", &[Rule::ForbiddenTime]),
        ("from pathlib import Path\nPath.read_text.__call__(x)", &[Rule::ForbiddenIo]),
        (
            "def f():\n    def g():\n        global m\n        m = None\n    m.system('a')\nimport os\nm = os",
            &[Rule::ForbiddenProcess],
        ),
        ("# coding: utf-7\nx = 1", &[Rule::ForbiddenCode]),
        ("\n\n\n# vim: set fileencoding=unicode_escape :\nx = 1", &[Rule::ForbiddenCode]),
    ] {
        check(code, rules);
    }
}

#[test]
fn hostile_bindings_end() {
    let many: String =
        (0..40).map(|at| format!("a{at} = a{n} if x else a{n}\n", n = at + 1).repeat(4)).collect();
    check(&format!("{many}a0.b()"), &[Rule::IndirectAccess]);
    let same = "import logging\nlogger = logging.getLogger(__name__)\nlogger.info(1)\n".repeat(1_000);
    check(&same, &[]);
    let chain: String = (0..200).map(|at| format!("a{at} = a{}\n", at + 1)).collect();
    check(&format!("import os\na200 = os\n{chain}a0.system('a')"), &[Rule::IndirectAccess]);
}

#[test]
fn hostile_nesting_is_refused_or_survived() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("[", "", "]"),
        ("{1: ", "1", "}"),
        ("f(", "", ")"),
        ("-", "1", ""),
        ("not ", "1", ""),
        ("lambda: ", "1", ""),
        ("lambda a, b=1: ", "1", ""),
        ("1 if x else ", "1", ""),
        ("a.", "a", ""),
        ("1 + ", "1", ""),
        ("1 ** ", "1", ""),
        ("await ", "a", ""),
        ("f'{", "1", "}'"),
        ("[x for x in ", "y", "]"),
    ] {
        for count in [90, 900, 50_000] {
            let code = format!("x = {}{middle}{}", open.repeat(count), close.repeat(count));
            let found = broken(Language::Python, &code, &spec(Language::Python, RULES), &[]);
            let allowed = names(&[Rule::Nesting, Rule::Syntax, Rule::IndirectAccess]);
            assert!(found.is_subset(&allowed), "{open} {count}: {found:?}");
            assert!(count < 50_000 || !found.is_empty(), "{open} {count}");
        }
    }
    let blocks = |count: usize| {
        let lines: String = (0..count).map(|at| format!("{}if a:\n", " ".repeat(at))).collect();
        format!("{lines}{}pass", " ".repeat(count))
    };
    check(&blocks(90), &[]);
    check(&blocks(1_200), &[Rule::Nesting]);
}
