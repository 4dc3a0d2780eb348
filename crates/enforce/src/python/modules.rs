//! The modules of Python's own library, and where the path of a name goes through one.
//! Owns: their names. Must not: judge.
//!
//! A module has the modules that it imports itself as its attributes (`logging.os`, `collections._sys`), so a name may go from one to the
//! other. What such a name means begins with the last module that it goes through.

/// The modules of the library, sorted.
#[rustfmt::skip]
const STANDARD: [&str; 311] = [
    "__future__", "_abc", "_aix_support", "_ast", "_asyncio", "_bisect", "_blake2", "_bootsubprocess",
    "_bz2", "_codecs", "_codecs_cn", "_codecs_hk", "_codecs_iso2022", "_codecs_jp", "_codecs_kr",
    "_codecs_tw", "_collections", "_collections_abc", "_compat_pickle", "_compression", "_contextvars",
    "_crypt", "_csv", "_ctypes", "_curses", "_curses_panel", "_datetime", "_dbm", "_decimal",
    "_elementtree", "_frozen_importlib", "_frozen_importlib_external", "_functools", "_gdbm", "_hashlib",
    "_heapq", "_imp", "_interpchannels", "_interpqueues", "_interpreters", "_io", "_json", "_locale",
    "_lsprof", "_lzma", "_markupbase", "_md5", "_msi", "_multibytecodec", "_multiprocessing", "_opcode",
    "_operator", "_osx_support", "_overlapped", "_pickle", "_posixshmem", "_posixsubprocess", "_py_abc",
    "_pydecimal", "_pyio", "_pyrepl", "_queue", "_random", "_scproxy", "_sha1", "_sha256", "_sha3",
    "_sha512", "_signal", "_sitebuiltins", "_socket", "_sqlite3", "_sre", "_ssl", "_stat", "_statistics",
    "_string", "_strptime", "_struct", "_symtable", "_thread", "_threading_local", "_tkinter",
    "_tokenize", "_tracemalloc", "_typing", "_uuid", "_warnings", "_weakref", "_weakrefset", "_winapi",
    "_zoneinfo", "abc", "aifc", "annotationlib", "antigravity", "argparse", "array", "ast", "asynchat",
    "asyncio", "asyncore", "atexit", "audioop", "base64", "bdb", "binascii", "bisect", "builtins", "bz2",
    "cProfile", "calendar", "cgi", "cgitb", "chunk", "cmath", "cmd", "code", "codecs", "codeop",
    "collections", "colorsys", "compileall", "compression", "concurrent", "configparser", "contextlib",
    "contextvars", "copy", "copyreg", "crypt", "csv", "ctypes", "curses", "dataclasses", "datetime",
    "dbm", "decimal", "difflib", "dis", "distutils", "doctest", "email", "encodings", "ensurepip", "enum",
    "errno", "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib",
    "functools", "gc", "genericpath", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip",
    "hashlib", "heapq", "hmac", "html", "http", "idlelib", "imaplib", "imghdr", "imp", "importlib",
    "inspect", "io", "ipaddress", "itertools", "json", "keyword", "lib2to3", "linecache", "locale",
    "logging", "lzma", "mailbox", "mailcap", "marshal", "math", "mimetypes", "mmap", "modulefinder",
    "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nntplib", "nt", "ntpath", "nturl2path",
    "numbers", "opcode", "operator", "optparse", "os", "ossaudiodev", "pathlib", "pdb", "pickle",
    "pickletools", "pipes", "pkgutil", "platform", "plistlib", "poplib", "posix", "posixpath", "pprint",
    "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr", "pydoc", "pydoc_data", "pyexpat", "queue",
    "quopri", "random", "re", "readline", "reprlib", "resource", "rlcompleter", "runpy", "sched",
    "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal", "site", "smtpd", "smtplib",
    "sndhdr", "socket", "socketserver", "spwd", "sqlite3", "sre_compile", "sre_constants", "sre_parse",
    "ssl", "stat", "statistics", "string", "stringprep", "struct", "subprocess", "sunau", "symtable",
    "sys", "sysconfig", "syslog", "tabnanny", "tarfile", "telnetlib", "tempfile", "termios", "textwrap",
    "this", "threading", "time", "timeit", "tkinter", "token", "tokenize", "tomllib", "trace",
    "traceback", "tracemalloc", "tty", "turtle", "turtledemo", "types", "typing", "unicodedata",
    "unittest", "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser", "winreg",
    "winsound", "wsgiref", "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib",
    "zoneinfo",
];
/// Modules that are called otherwise where others import them.
const OTHERWISE: [(&str, &str); 4] =
    [("bltns", "builtins"), ("stdlib_re", "re"), ("st", "stat"), ("mp", "multiprocessing")];
/// Members that are called like a module, and are none.
#[rustfmt::skip]
const MEMBERS: [(&str, &str); 25] = [
    ("array", "array"), ("ast", "keyword"), ("ast", "operator"), ("bisect", "bisect"),
    ("calendar", "calendar"), ("copy", "copy"), ("datetime", "datetime"), ("datetime", "time"),
    ("fnmatch", "fnmatch"), ("getopt", "getopt"), ("glob", "glob"), ("inspect", "trace"),
    ("optparse", "gettext"), ("os", "stat"), ("pprint", "pprint"), ("random", "random"),
    ("select", "select"), ("shlex", "shlex"), ("signal", "signal"), ("sys", "platform"), ("time", "time"),
    ("tokenize", "tokenize"), ("typing", "io"), ("typing", "re"), ("unicodedata", "decimal"),
];
/// The modules of packages.
#[rustfmt::skip]
const SUBMODULES: [(&str, &[&str]); 31] = [
    ("asyncio", &["base_events", "base_futures", "base_subprocess", "base_tasks", "constants",
        "coroutines", "events", "exceptions", "format_helpers", "futures", "locks", "log", "mixins",
        "proactor_events", "protocols", "queues", "runners", "selector_events", "sslproto", "staggered",
        "streams", "subprocess", "taskgroups", "tasks", "threads", "timeouts", "transports", "trsock",
        "unix_events", "windows_events", "windows_utils"]),
    ("collections", &["abc"]),
    ("concurrent", &["futures", "interpreters"]),
    ("concurrent.futures", &["_base", "interpreter", "process", "thread"]),
    ("email", &["base64mime", "charset", "contentmanager", "encoders", "errors", "feedparser",
        "generator", "header", "headerregistry", "iterators", "message", "mime", "parser", "policy",
        "quoprimime", "utils"]),
    ("email.mime", &["application", "audio", "base", "image", "message", "multipart", "nonmultipart",
        "text"]),
    ("encodings", &["aliases", "idna", "utf_8"]),
    ("html", &["entities", "parser"]),
    ("http", &["client", "cookiejar", "cookies", "server"]),
    ("importlib", &["abc", "machinery", "metadata", "readers", "resources", "simple", "util", "_abc",
        "_bootstrap", "_bootstrap_external"]),
    ("importlib.resources", &["abc", "readers", "simple"]),
    ("json", &["decoder", "encoder", "scanner", "tool"]),
    ("logging", &["config", "handlers"]),
    ("multiprocessing", &["connection", "context", "dummy", "managers", "pool", "process", "queues",
        "reduction", "shared_memory", "spawn", "synchronize", "util"]),
    ("os", &["path"]),
    ("re", &["_casefix", "_compiler", "_constants", "_parser"]),
    ("string", &["templatelib"]),
    ("sys", &["monitoring"]),
    ("unittest", &["async_case", "case", "loader", "mock", "result", "runner", "signals", "suite",
        "util"]),
    ("urllib", &["error", "parse", "request", "response", "robotparser"]),
    ("wsgiref", &["handlers", "headers", "simple_server", "types", "util", "validate"]),
    ("xml", &["dom", "etree", "parsers", "sax"]),
    ("xml.dom", &["domreg", "expatbuilder", "minicompat", "minidom", "pulldom", "xmlbuilder"]),
    ("xml.etree", &["ElementInclude", "ElementPath", "ElementTree", "cElementTree"]),
    ("xml.parsers", &["expat"]),
    ("xml.sax", &["expatreader", "handler", "saxutils", "xmlreader"]),
    ("xmlrpc", &["client", "server"]),
    ("zoneinfo", &["_common", "_tzpath", "_zoneinfo"]),
    ("pathlib", &["_abc", "_local", "types"]),
    ("ctypes", &["util", "wintypes"]),
    ("curses", &["ascii", "panel", "textpad"]),
];
/// Modules whose names nothing else has: what another library calls so is the module.
const UNMISTAKABLE: [&str; 11] = [
    "builtins",
    "ctypes",
    "importlib",
    "nt",
    "os",
    "pickle",
    "posix",
    "shutil",
    "socket",
    "subprocess",
    "sys",
];

/// The module of the library that goes by a name, as it is called outside.
fn standard(name: &str) -> Option<&'static str> {
    let known = OTHERWISE.iter().find(|(other, _)| *other == name).map_or(name, |(_, module)| module);
    let called = |name: &str| STANDARD.binary_search(&name).ok().and_then(|at| STANDARD.get(at)).copied();
    // What one module imports for itself alone it calls by an underscore.
    known.strip_prefix('_').and_then(called).or_else(|| called(known))
}

/// The module that a name can't but be, wherever it stands.
pub(super) fn unmistakable(name: &str) -> Option<&'static str> {
    let plain = name.trim_start_matches('_');
    UNMISTAKABLE.iter().copied().find(|module| *module == plain)
}

/// Goes along the path of a name as far as it leads through modules: each place where it begins anew, and whether it ends in a module.
struct Walk {
    restarts: Vec<Vec<String>>,
    is_module: bool,
}

fn walk(path: &[String]) -> Walk {
    let mut restarts = Vec::new();
    let Some((first, rest)) = path.split_first() else { return Walk { restarts, is_module: false } };
    let mut is_ours = standard(first).is_some();
    let mut package = first.clone();
    for (at, name) in rest.iter().enumerate() {
        let is_member = MEMBERS.iter().any(|(module, member)| package == *module && name == member);
        let found = if is_ours { standard(name) } else { unmistakable(name) };
        let is_submodule =
            || SUBMODULES.iter().any(|(known, names)| package == *known && names.contains(&name.as_str()));
        if is_submodule() {
            package = format!("{package}.{name}");
        } else if let Some(module) = found.filter(|_| !is_member) {
            let beneath = rest.get(at + 1..).unwrap_or_default();
            restarts.push([module.to_owned()].into_iter().chain(beneath.iter().cloned()).collect());
            (is_ours, package) = (true, module.to_owned());
        } else if !is_ours && !name.starts_with(char::is_uppercase) {
            package = format!("{package}.{name}");
        } else {
            return Walk { restarts, is_module: false };
        }
    }
    // Of another library's names nobody here knows which are modules.
    Walk { is_module: is_ours || path.len() == 1, restarts }
}

/// What a name means that goes from one module into another.
pub(super) fn restarts(path: &[String]) -> Vec<Vec<String>> {
    walk(path).restarts
}

/// Whether a name is that of a module.
pub(super) fn is_module(path: &[String]) -> bool {
    walk(path).is_module
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_through_modules() {
        for (name, expected, is_last) in [
            ("logging.os.system", &["os.system"][..], false),
            ("collections._sys.modules", &["sys.modules"], false),
            ("importlib.metadata.os.path", &["os.path"], true),
            ("typing.sys.os.x", &["sys.os.x", "os.x"], false),
            ("enum.bltns.open", &["builtins.open"], false),
            ("collections.abc", &[], true),
            ("collections.abc.sys", &["sys"], true),
            ("datetime.time", &[], false),
            ("datetime.datetime.time", &[], false),
            ("hashlib.sha256", &[], false),
            ("logging.Handler.time", &[], false),
            ("numpy.random.random", &[], false),
            ("numpy.compat.os.system", &["os.system"], false),
            ("json", &[], true),
            ("numpy", &[], true),
        ] {
            let path: Vec<String> = name.split('.').map(str::to_owned).collect();
            let found: Vec<String> = restarts(&path).iter().map(|path| path.join(".")).collect();
            assert_eq!(found, expected, "{name}");
            assert_eq!(is_module(&path), is_last, "{name}");
        }
    }
}
