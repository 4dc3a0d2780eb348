//! What the attacks share: a root with an outside, and everything that must stay as it is.
//! Owns: calling tools as the runtime does, holding a program without the tools. Must not: weaken what it tests.

use countersign_kernel::gate::{Capability, Need, Reach, permit};
use countersign_record::code::Code;
use countersign_record::json::{self, Json, Object};
use countersign_record::time::Timestamp;
use countersign_record::tool::Needs;
use countersign_runtime::ports::tool::{NotDone, Plan, Tool};
use countersign_testkit::scratch::Scratch;
use countersign_tools::{Sandbox, registry};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Stands in every file outside; an answer that has it leaked.
pub(crate) const CANARY: &str = "CANARY-7f3a";
/// The program that holds programs.
pub(crate) const LAUNCHER: &str = env!("CARGO_BIN_EXE_countersign-held");

/// A root with a few files, and a directory beside it with secrets.
pub(crate) struct Ground {
    scratch: Scratch,
    tools: Vec<Arc<dyn Tool>>,
    runtime: tokio::runtime::Runtime,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let scratch = Scratch::new();
        let (root, outside) = (scratch.path().join("root"), scratch.path().join("outside"));
        for dir in [&root, &outside, &root.join("dir")] {
            fs::create_dir(dir).unwrap();
        }
        fs::write(outside.join("secret.txt"), CANARY).unwrap();
        fs::write(root.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(root.join("dir/b.txt"), "four\n").unwrap();
        let sandbox = Sandbox::with_launcher(&root, Path::new(LAUNCHER)).unwrap();
        let now = Arc::new(|| Timestamp::try_from("2026-01-02T03:04:05Z"));
        let tools = registry(&sandbox, now).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        Ground { scratch, tools, runtime }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.scratch.path().join("root")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.scratch.path().join("outside")
    }

    pub(crate) fn tool(&self, name: &str) -> &Arc<dyn Tool> {
        self.tools.iter().find(|tool| tool.definition().name.as_str() == name).unwrap()
    }

    pub(crate) fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    pub(crate) fn plan(&self, name: &str, args: &str) -> Result<Plan, NotDone> {
        self.tool(name).plan(&object(args))
    }

    /// Plans, permits and runs, as the runtime does.
    pub(crate) fn call(&self, name: &str, args: &str) -> Result<Json, NotDone> {
        self.call_cancelled_by(name, args, &CancellationToken::new())
    }

    pub(crate) fn call_cancelled_by(
        &self,
        name: &str,
        args: &str,
        cancel: &CancellationToken,
    ) -> Result<Json, NotDone> {
        self.runtime.block_on(called(self.tool(name), args, cancel))
    }

    /// The same with a tool of another root.
    pub(crate) fn call_of(&self, tool: &Arc<dyn Tool>, args: &str) -> Result<Json, NotDone> {
        self.runtime.block_on(called(tool, args, &CancellationToken::new()))
    }

    pub(crate) fn runtime(&self) -> &tokio::runtime::Runtime {
        &self.runtime
    }

    /// Everything that is there, inside and outside: kinds, modes, sizes and texts.
    pub(crate) fn seen(&self) -> BTreeMap<PathBuf, String> {
        let mut seen = BTreeMap::new();
        look(self.scratch.path(), &mut seen);
        seen
    }

    /// One attack: the call is refused with `code`, tells nothing, and changes nothing.
    pub(crate) fn refused(&self, attack: &str, name: &str, args: &str, code: Code) {
        let before = self.seen();
        match self.call(name, args) {
            Ok(output) => panic!("{attack}: got through with {output:?}"),
            Err(refusal) => {
                assert_eq!(refusal.code, code, "{attack}: {refusal}");
                assert!(!refusal.message.contains(CANARY), "{attack}: {refusal}");
                assert!(!refusal.message.contains('\n'), "{attack}: {refusal}");
            }
        }
        assert_eq!(self.seen(), before, "{attack}: something changed");
    }

    /// One attack by a command line.
    pub(crate) fn refused_line(&self, attack: &str, line: &str, code: Code) {
        self.refused(attack, "shell.exec", &cmd(line), code);
    }

    /// Holds a program that no rule of the tool would let through.
    pub(crate) fn held(&self, cpu_s: u64, program: &str, args: &[&str]) -> Held {
        let (mut report, reporter) = io::pipe().unwrap();
        let child = Command::new(LAUNCHER)
            .arg("__held")
            .args([cpu_s.to_string(), std::process::id().to_string()])
            .arg(program)
            .args(args)
            .current_dir(self.root())
            .env("CANARY", CANARY)
            .env("RIPGREP_CONFIG_PATH", self.root().join("rgrc"))
            .stdin(reporter)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let mut told = String::new();
        report.read_to_string(&mut told).unwrap();
        Held { output, report: told }
    }
}

/// Plans, permits and runs.
pub(crate) async fn called(
    tool: &Arc<dyn Tool>,
    args: &str,
    cancel: &CancellationToken,
) -> Result<Json, NotDone> {
    tool.plan(&object(args))?;
    let need = match &tool.definition().needs {
        Needs::Nothing => Need::Nothing,
        Needs::Capability(name) => Need::Capability(Capability::try_from(name.as_str()).unwrap()),
        Needs::Host => panic!("no tool here needs a host"),
    };
    let granted = ["fs:read", "fs:write", "shell"].map(|name| Capability::try_from(name).unwrap());
    let reach = Reach { granted: granted.to_vec(), hosts: None };
    let call = permit(object(args), &need, reach).unwrap();
    Ok(tool.run(call, cancel).await?.output)
}

/// How a held program ended.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) output: Output,
    pub(crate) report: String,
}

impl Held {
    /// Whether everything was given up before the program began.
    pub(crate) fn is_held(&self) -> bool {
        ["held\n", "held apart\n"].contains(&self.report.as_str())
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }
}

/// The arguments of `shell.exec`.
pub(crate) fn cmd(line: &str) -> String {
    json::to_text(&Json::from(Object::from([("cmd", Json::from(line))]))).unwrap()
}

/// The arguments of a tool that takes a path.
pub(crate) fn path(path: &str) -> String {
    json::to_text(&Json::from(Object::from([("path", Json::from(path))]))).unwrap()
}

pub(crate) fn object(text: &str) -> Object {
    json::parse(text.as_bytes()).unwrap().as_object().unwrap().clone()
}

/// A member of an output, as a text.
pub(crate) fn text_of(output: &Json, name: &str) -> String {
    output.get(name).unwrap().as_str().unwrap().to_owned()
}

pub(crate) fn json(text: &str) -> Json {
    json::parse(text.as_bytes()).unwrap()
}

fn look(dir: &Path, seen: &mut BTreeMap<PathBuf, String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        let small = about.is_file() && about.len() < 100_000;
        let text = if small { fs::read(&path).unwrap() } else { Vec::new() };
        seen.insert(path.clone(), format!("{:o} {} {text:?}", about.mode(), about.len()));
        if about.is_dir() {
            look(&path, seen);
        }
    }
}
