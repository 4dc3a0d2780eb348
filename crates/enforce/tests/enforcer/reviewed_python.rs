//! Drafts of Python that a review got past the rules, and harmless ones that it did not.

use crate::drafts::{broken, names};
use countersign_enforce::rule::Rule;
use countersign_enforce::{CodeSpec, Language};
use std::collections::BTreeSet;

/// A file that keeps every rule, but for what is put into it.
fn file(imports: &str, body: &str) -> String {
    let head = "\"\"\"A module.\"\"\"\n\nimport logging\n";
    format!("{head}{imports}\nLOGGER = logging.getLogger(__name__)\n\n{body}\n")
}

/// What a file breaks of the CodeSpec that comes with us; where its parts stand is another matter.
fn broken_of_ours(code: &str) -> BTreeSet<&'static str> {
    let mut found = broken(Language::Python, code, CodeSpec::built_in(Language::Python), &[]);
    found.remove(Rule::StructureOrder.as_str());
    found
}

/// What got past, and what it breaks.
const GOT_PAST: &[(&str, &str, &[Rule])] = &[
    ("import pathlib", "print_me = pathlib.Path(\"/etc/hostname\").open()", &[Rule::ForbiddenIo]),
    (
        "import pathlib",
        "P = pathlib.Path(\"/tmp/zz_touch\")\nP.touch()\nP.exists()\nP.stat()\nP.rename(\"/tmp/zz2\")\nLOGGER.info(\"x\")",
        &[Rule::ForbiddenIo],
    ),
    ("import pathlib", "HERE = pathlib.Path.cwd()\nHOME = pathlib.Path.home()", &[Rule::ForbiddenIo]),
    ("", "logging.os.system(\"true\")", &[Rule::ForbiddenProcess]),
    ("", "NOW = logging.time.time()", &[Rule::ForbiddenTime]),
    ("", "TXT = logging.io.open(\"/etc/hostname\").read()", &[Rule::ForbiddenIo]),
    ("import pathlib", "pathlib.os.system(\"true\")", &[Rule::ForbiddenProcess]),
    ("", "logging.basicConfig(filename=\"/tmp/zz_log\", force=True)", &[Rule::ForbiddenIo]),
    (
        "",
        "class Holder:\n    \"\"\"Doc.\"\"\"\n\n    import os as shell\n\n\nHolder.shell.system(\"true\")",
        &[Rule::ForbiddenProcess, Rule::IndirectAccess],
    ),
    (
        "import os",
        "class Holder:\n    \"\"\"Doc.\"\"\"\n\n    shell = os\n\n\nHolder.shell.system(\"true\")",
        &[Rule::ForbiddenProcess, Rule::IndirectAccess],
    ),
    ("import os\nimport __main__", "me = os\n__main__.me.system(\"true\")", &[Rule::ImportNotAllowed]),
    (
        "import os",
        "def outer():\n    \"\"\"Doc.\"\"\"\n    mod = None\n\n    def middle():\n        def inner():\n            nonlocal mod\n            mod = os\n\n        inner()\n\n    middle()\n    return mod.system(\"true\")\n\n\nouter()",
        &[Rule::ForbiddenProcess],
    ),
    (
        "import os",
        "def run(given):\n    \"\"\"Doc.\"\"\"\n    return given.system(\"true\")\n\n\nrun(held := os)",
        &[Rule::IndirectAccess],
    ),
    ("", "for open in ():\n    pass\nTXT = open(\"/etc/hostname\").read()", &[Rule::ForbiddenIo]),
    ("", "if not LOGGER:\n    open = None\nTXT = open(\"/etc/hostname\").read()", &[Rule::ForbiddenIo]),
    ("", "open = None\ndel open\nTXT = open(\"/etc/hostname\").read()", &[Rule::ForbiddenIo]),
    (
        "",
        "class Reader:\n    \"\"\"Doc.\"\"\"\n\n    if not LOGGER:\n        open = None\n    text = open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo],
    ),
    ("", "TXT = len.__self__.open(\"/etc/hostname\").read()", &[Rule::ForbiddenIo, Rule::IndirectAccess]),
    (
        "",
        "TXT = getattr(len, \"__self__\").open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "",
        "try:\n    raise ValueError\nexcept ValueError as error:\n    TXT = error.__traceback__.tb_frame.f_builtins[\"open\"](\"/etc/hostname\").read()",
        &[Rule::IndirectAccess],
    ),
    (
        "",
        "names = vars()\nTXT = names[\"__builtins__\"].open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "import operator",
        "def func():\n    \"\"\"Doc.\"\"\"\n\n\nTXT = operator.attrgetter(\"__globals__\")(func)[\"__builtins__\"].open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "",
        "def func():\n    \"\"\"Doc.\"\"\"\n\n\nTXT = getattr(func, \"\".join([\"__glob\", \"als__\"]))[\"__builtins__\"].open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "",
        "def func():\n    \"\"\"Doc.\"\"\"\n\n\nTXT = getattr(func, f\"__globals__\")[\"__builtins__\"].open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "",
        "def func():\n    \"\"\"Doc.\"\"\"\n\n\nTXT = func.__getattribute__(\"__globals__\")[\"__builtins__\"].open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "",
        "def func():\n    \"\"\"Doc.\"\"\"\n\n\nTXT = object.__getattribute__(func, \"__globals__\")[\"__builtins__\"].open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "",
        "def func():\n    \"\"\"Doc.\"\"\"\n\n\nmatch func:\n    case object(__globals__=names):\n        TXT = names[\"__builtins__\"].open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "",
        "def func():\n    \"\"\"Doc.\"\"\"\n\n\nTXT = list(map(getattr, [func], [\"__globals__\"]))[0][\"__builtins__\"].open(\"/etc/hostname\").read()",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    (
        "import timeit",
        "NOW = timeit.default_timer()\ntimeit.timeit(\"import os; os.system('true')\", number=1)",
        &[Rule::ForbiddenTime],
    ),
    ("import cProfile", "cProfile.run(\"import os; os.system('true')\")", &[Rule::ForbiddenCode]),
    ("import pydoc", "pydoc.locate(\"os.system\")(\"true\")", &[Rule::ForbiddenCode]),
    ("import _io", "TXT = _io.open(\"/etc/hostname\").read()", &[Rule::ForbiddenIo, Rule::ImportNotAllowed]),
    ("import _socket", "SOCK = _socket.socket()", &[Rule::ForbiddenNetwork, Rule::ImportNotAllowed]),
    ("import _posixsubprocess", "X = _posixsubprocess.fork_exec", &[Rule::ImportNotAllowed]),
    ("import datetime", "NOW = datetime.datetime(2020, 1, 1).now()", &[Rule::ForbiddenTime]),
    (
        "import datetime",
        "class Stamp(datetime.datetime):\n    \"\"\"Doc.\"\"\"\n\n\nNOW = Stamp.now()",
        &[Rule::ForbiddenTime],
    ),
    ("import email.utils", "NOW = email.utils.localtime()", &[Rule::ForbiddenTime]),
    (
        "import importlib.metadata",
        "importlib.metadata.import_module(\"os\").system(\"true\")",
        &[Rule::DynamicImport, Rule::ImportNotAllowed],
    ),
    (
        "import importlib.metadata",
        "importlib.metadata.os.system(\"true\")",
        &[Rule::DynamicImport, Rule::ImportNotAllowed],
    ),
    (
        "import os",
        "X = os.lstat(\"/etc\")\nY = os.access(\"/etc\", 4)\nZ = os.getenvb(b\"HOME\")\nW = os.path.expandvars(\"$HOME\")",
        &[Rule::ForbiddenIo],
    ),
    ("import os.path", "os.path.os.system(\"true\")", &[Rule::ForbiddenProcess]),
    ("import os.path as p", "p.os.system(\"true\")", &[Rule::ForbiddenProcess]),
    ("import json", "TXT = json.codecs.open(\"/etc/hostname\").read()", &[Rule::ForbiddenIo]),
    ("import collections", "collections._sys.modules[\"os\"].system(\"true\")", &[Rule::DynamicImport]),
    ("import typing", "typing.sys.modules[\"posix\"].system(\"true\")", &[Rule::DynamicImport]),
    (
        "import configparser",
        "PARSER = configparser.ConfigParser()\nPARSER.read(\"/etc/hostname\")",
        &[Rule::ForbiddenIo],
    ),
    ("import xml.etree.ElementTree", "X = xml.etree.ElementTree.parse", &[Rule::ForbiddenIo]),
    ("import gzip", "X = gzip.GzipFile(\"/tmp/zz.gz\", \"w\")", &[Rule::ForbiddenIo]),
    ("import tokenize", "TXT = tokenize.open(\"/etc/hostname\").read()", &[Rule::ForbiddenIo]),
    ("import getpass\nimport platform", "X = getpass.getuser()\nY = platform.node()", &[Rule::ForbiddenIo]),
    (
        "import pandas\nimport boto3",
        "X = pandas.read_csv(\"https://x\")\nY = boto3.client(\"s3\")",
        &[Rule::ImportNotAllowed],
    ),
    (
        "",
        "def func[T: open(\"/etc/hostname\").read()]():\n    \"\"\"Doc.\"\"\"\n\n\nX = func.__type_params__[0].__bound__",
        &[Rule::ForbiddenIo, Rule::IndirectAccess],
    ),
    ("", "TXT = ｏpen(\"/etc/hostname\").read()", &[Rule::ForbiddenIo]),
    ("import os", "X = f\"{1:{os.system('true')}}\"", &[Rule::ForbiddenProcess]),
    ("import os", "@os.system\ndef func():\n    \"\"\"Doc.\"\"\"", &[Rule::ForbiddenProcess]),
    ("", "@open\n@lambda f: \"/etc/hostname\"\nclass Holder:\n    \"\"\"Doc.\"\"\"", &[Rule::ForbiddenIo]),
    ("import os", "X = [m.system(\"true\") for m in [os]]", &[Rule::ForbiddenProcess, Rule::IndirectAccess]),
    ("import os as a", "b = a\nc = b\nc.system(\"true\")", &[Rule::ForbiddenProcess]),
    ("import os", "X = getattr(os, \"sys\" + \"tem\")(\"true\")", &[Rule::ForbiddenProcess]),
    ("import builtins as b", "X = b.open(\"/etc/hostname\")", &[Rule::ForbiddenIo, Rule::ImportNotAllowed]),
    ("", "X = __builtins__[\"open\"](\"/etc/hostname\")", &[Rule::ForbiddenIo]),
    ("", "X = ().__class__.__base__.__subclasses__()", &[Rule::IndirectAccess]),
    (
        "",
        "def func():\n    \"\"\"Doc.\"\"\"\n\n\nX = \"{0.__globals__}\".format(func)",
        &[Rule::IndirectAccess],
    ),
    ("import unittest.mock", "unittest.mock._importer(\"os\").system(\"true\")", &[Rule::ImportNotAllowed]),
    (
        "import os",
        "def func():\n    \"\"\"Doc.\"\"\"\n    return os\n\n\nfunc().system(\"true\")",
        &[Rule::IndirectAccess],
    ),
    (
        "import os",
        "F = lambda m=os: m.system(\"true\")\nF()",
        &[Rule::ForbiddenProcess, Rule::IndirectAccess],
    ),
    (
        "import asyncio",
        "LOOP = asyncio.new_event_loop()\nNOW = LOOP.time()\nLOOP.run_in_executor(None, None)",
        &[Rule::ImportNotAllowed],
    ),
    (
        "",
        "def gen():\n    \"\"\"Doc.\"\"\"\n    yield 1\n\n\nX = gen().gi_frame.f_builtins[\"open\"](\"/etc/hostname\").read()",
        &[Rule::IndirectAccess],
    ),
    (
        "import functools\nimport os",
        "functools.reduce(getattr, [\"system\"], os)(\"true\")",
        &[Rule::IndirectAccess],
    ),
    ("import argparse", "X = argparse.FileType(\"r\")(\"/etc/hostname\").read()", &[Rule::ForbiddenIo]),
    ("import typing", "X = typing.get_type_hints", &[Rule::ForbiddenCode]),
    (
        "import typing",
        "def func(a_b: \"__import__('os').system('true')\"):\n    \"\"\"Doc.\"\"\"\n\n\ntyping.get_type_hints(func)",
        &[Rule::ForbiddenCode, Rule::IndirectAccess],
    ),
];

/// Drafts that a review got past an enforcer that had a list of what is bad, and none of what is good.
#[test]
fn what_got_past_is_held() {
    for (imports, body, rules) in GOT_PAST {
        assert_eq!(broken_of_ours(&file(imports, body)), names(rules), "{imports}\n{body}");
    }
}

#[test]
fn what_computes_passes() {
    let cases: &[(&str, &str)] = &[
        (
            "import json\nimport re\nimport math",
            "X = json.dumps({'a': re.compile('x').match('x'), 'b': math.pi})",
        ),
        (
            "from __future__ import annotations\nimport dataclasses\nfrom dataclasses import dataclass, field\nfrom typing import Any, Optional\nfrom collections import defaultdict, OrderedDict\nimport collections.abc\nimport itertools\nimport functools\nfrom enum import Enum, auto",
            "class Color(Enum):\n    \"\"\"C.\"\"\"\n\n    RED = auto()\n\n\n@dataclass(frozen=True)\nclass Point:\n    \"\"\"P.\"\"\"\n\n    time: int = 0\n    names: list[str] = field(default_factory=list)\n\n    def __post_init__(self):\n        object.__setattr__(self, \"time\", 2)\n\n    def name(self) -> str:\n        \"\"\"N.\"\"\"\n        return self.__class__.__name__ + type(self).__name__ + Color.RED.name\n\n\n@functools.lru_cache(maxsize=None)\ndef work(value: Optional[int]) -> Any:\n    \"\"\"W.\"\"\"\n    groups = defaultdict(list)\n    for key, group in itertools.groupby([1, 2]):\n        groups[key].extend(group)\n    return dataclasses.asdict(Point()), groups, dataclasses.replace(Point(), time=3)",
        ),
        (
            "import datetime as dt\nfrom datetime import datetime, timedelta, timezone",
            "def work(at: datetime, day: dt.date) -> datetime:\n    \"\"\"W.\"\"\"\n    start = dt.datetime(2020, 1, 1, tzinfo=timezone.utc)\n    return start + timedelta(days=1) if at.time() > dt.time(1) else at.replace(day=1)",
        ),
        (
            "import os\nimport os.path\nfrom os import path",
            "def work(a, b):\n    \"\"\"W.\"\"\"\n    return os.path.join(a, path.basename(b)) + os.sep",
        ),
        (
            "from pathlib import Path, PurePath",
            "def work(where: Path) -> str:\n    \"\"\"W.\"\"\"\n    return str(where.parent / \"x\") + where.name + PurePath(\"a\").suffix",
        ),
        (
            "import hashlib\nimport base64\nimport uuid",
            "def work(data: bytes) -> str:\n    \"\"\"W.\"\"\"\n    return hashlib.sha256(data).hexdigest() + base64.b64encode(data).decode() + str(uuid.UUID(bytes=data))",
        ),
        (
            "import ast\nimport unittest",
            "class Names(ast.NodeVisitor):\n    \"\"\"N.\"\"\"\n\n    def visit_Name(self, node: ast.Name) -> None:\n        \"\"\"V.\"\"\"\n        self.generic_visit(node)\n\n\nclass AddTest(unittest.TestCase):\n    \"\"\"T.\"\"\"\n\n    def setUp(self) -> None:\n        \"\"\"S.\"\"\"\n        self.value = 1\n\n    def test_add(self) -> None:\n        \"\"\"T.\"\"\"\n        self.assertEqual(self.value, 1)",
        ),
        (
            "",
            "class Memory(logging.Handler):\n    \"\"\"M.\"\"\"\n\n    def __init__(self) -> None:\n        super().__init__()\n        self.lines: list[str] = []\n\n    def emit(self, record: logging.LogRecord) -> None:\n        \"\"\"E.\"\"\"\n        self.lines.append(self.format(record))",
        ),
        (
            "import argparse\nimport sys",
            "def main(argv=None) -> int:\n    \"\"\"M.\"\"\"\n    parser = argparse.ArgumentParser(description=\"x\")\n    parser.add_argument(\"--path\")\n    args = parser.parse_args(argv)\n    values = vars(args)\n    LOGGER.info(\"%s\", values)\n    return 0\n\n\nif __name__ == \"__main__\":\n    logging.basicConfig(level=logging.INFO)\n    sys.exit(main())",
        ),
        (
            "",
            "class Door:\n    \"\"\"D.\"\"\"\n\n    def open(self) -> None:\n        \"\"\"O.\"\"\"\n        self.state = getattr(self, \"state\", 1)\n\n    def toggle(self) -> None:\n        \"\"\"T.\"\"\"\n        self.open()\n        LOGGER.info(\"%s\", self.__dict__)",
        ),
        (
            "from typing import Callable, Protocol\nfrom contextlib import contextmanager\nimport string\nimport textwrap\nimport decimal\nfrom decimal import Decimal\nfrom fractions import Fraction\nimport statistics",
            "class Clock(Protocol):\n    \"\"\"C.\"\"\"\n\n    def now(self) -> float:\n        \"\"\"N.\"\"\"\n        ...\n\n\n@contextmanager\ndef held(clock: Clock):\n    \"\"\"H.\"\"\"\n    yield clock.now()\n\n\ndef work(items: list[str], clock: Clock) -> str:\n    \"\"\"W.\"\"\"\n    with held(clock) as at:\n        total = Decimal(\"1\") + statistics.mean([1, 2]) + Fraction(1, 2)\n        return textwrap.dedent(string.ascii_letters) + \"\".join(sorted(items, key=len)) + str(at) + str(total)",
        ),
        (
            "from functools import singledispatch",
            "@singledispatch\ndef show(value) -> str:\n    \"\"\"S.\"\"\"\n    return str(value)\n\n\n@show.register\ndef _(value: int) -> str:\n    return \"int\"",
        ),
    ];
    for (imports, body) in cases {
        assert_eq!(broken_of_ours(&file(imports, body)), names(&[]), "{imports}\n{body}");
    }
}
