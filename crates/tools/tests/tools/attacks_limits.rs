//! Attacks on time, memory, output and the system itself. Each is made for real and must fail.
//! Owns: limits, system calls, what is left after the end. Must not: depend on how fast the machine is.

use crate::support::{Ground, LAUNCHER, called, cmd, json, text_of};
use countersign_record::code::Code;
use rustix::fs::{CWD, FileType, Mode};
use rustix::process::{Pid, Signal};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The processes that work in the root.
fn processes(ground: &Ground) -> Vec<String> {
    let root = ground.root().canonicalize().unwrap();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == root))
        .collect()
}

/// Waits until something is so.
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

fn pipe(ground: &Ground) {
    rustix::fs::mknodat(CWD, ground.root().join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn a_program_that_waits_for_ever() {
    let ground = Ground::new();
    pipe(&ground);
    for line in ["cat pipe", "head -1 pipe", "sort pipe", "sed -n p pipe", "wc pipe"] {
        let refusal =
            ground.call("shell.exec", &format!(r#"{{"cmd":"{line}","timeout_s":1}}"#)).expect_err(line);
        assert_eq!(
            (refusal.code, refusal.message.as_str()),
            (Code::ToolTimeout, "it was ended after 1 s"),
            "{line}"
        );
        assert_eq!(processes(&ground), [""; 0], "{line}: nothing is left");
    }
}

#[test]
fn what_is_cancelled_ends() {
    let ground = Ground::new();
    pipe(&ground);
    let cancel = CancellationToken::new();
    let refusal = std::thread::scope(|scope| {
        scope.spawn(|| {
            until("it starts", || !processes(&ground).is_empty());
            cancel.cancel();
        });
        let args = r#"{"cmd":"cat pipe","timeout_s":120}"#;
        ground.call_cancelled_by("shell.exec", args, &cancel).unwrap_err()
    });
    assert_eq!((refusal.code, refusal.message.as_str()), (Code::ToolTimeout, "it was cancelled"));
    assert_eq!(processes(&ground), [""; 0]);
    let refusal = ground.call_cancelled_by("fs.read_text", r#"{"path":"a.txt"}"#, &cancel).unwrap_err();
    assert_eq!(refusal.code, Code::ToolTimeout, "nothing begins after that");
    let refusal = ground.call_cancelled_by("shell.exec", &cmd("cat pipe"), &cancel).unwrap_err();
    assert_eq!(refusal.code, Code::ToolTimeout);
}

/// Whoever asked is gone: the future is dropped, and the program ends.
#[test]
fn what_nobody_waits_for_ends() {
    let ground = Ground::new();
    pipe(&ground);
    let tool = ground.tool("shell.exec").clone();
    let task = ground.runtime().spawn(async move {
        called(&tool, r#"{"cmd":"cat pipe","timeout_s":120}"#, &CancellationToken::new()).await
    });
    until("it starts", || !processes(&ground).is_empty());
    task.abort();
    until("it ends", || processes(&ground).is_empty());
}

/// The whole of us is killed: what we started ends too.
#[test]
fn what_has_lost_its_parent_ends() {
    let ground = Ground::new();
    pipe(&ground);
    let (_report, reporter) = std::io::pipe().unwrap();
    let mut parent = Command::new("/bin/sh")
        .args(["-c", "\"$0\" __held 60 $$ /bin/cat pipe; :", LAUNCHER])
        .current_dir(ground.root())
        .stdin(reporter)
        .spawn()
        .unwrap();
    let cats = || {
        let is_cat =
            |pid: &&String| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "cat\n");
        processes(&ground).iter().filter(is_cat).count()
    };
    until("it starts", || cats() == 1);
    parent.kill().unwrap();
    parent.wait().unwrap();
    until("it ends", || processes(&ground).is_empty());
}

/// Who calls the launcher with another parent than its own is told so, and nothing is run.
#[test]
fn a_launcher_called_wrongly() {
    let ground = Ground::new();
    for (args, told) in [
        (&["1", "1", "/bin/echo", "ran"][..], "the one who asked is gone"),
        (&["1"], "the launcher was called wrongly"),
        (&["x", "1", "/bin/echo"], "the launcher was called wrongly"),
        (&["1", "1", "echo"], "the launcher was called wrongly"),
    ] {
        let (report, reporter) = std::io::pipe().unwrap();
        let output = Command::new(LAUNCHER).arg("__held").args(args).stdin(reporter).output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{args:?}");
        assert_eq!(output.stdout, b"", "{args:?}");
        assert_eq!(std::io::read_to_string(report).unwrap(), told, "{args:?}");
    }
    let held = ground.held(1, "/usr/bin/none", &[]);
    assert!(held.report.starts_with("Landlock: "), "{held:?}");
    assert_eq!(held.output.status.code(), Some(125));
}

#[test]
fn output_without_an_end() {
    let ground = Ground::new();
    fs::write(ground.root().join("big"), "x".repeat(50_000)).unwrap();
    fs::write(ground.root().join("flood"), "é\n".repeat(20_000_000)).unwrap();
    let big = ground.call("shell.exec", &cmd("cat big")).unwrap();
    assert_eq!(big.get("exit_code").unwrap(), &json("0"), "a little too much ends by itself");
    assert_eq!(big.get("truncated").unwrap(), &json("true"));
    assert_eq!(text_of(&big, "stdout"), "x".repeat(20_000));
    let flood = ground.call("shell.exec", &cmd("cat flood")).unwrap();
    assert_eq!(flood.get("exit_code").unwrap(), &json("null"), "far too much is ended");
    assert_eq!(flood.get("truncated").unwrap(), &json("true"));
    assert_eq!(text_of(&flood, "stdout"), "é\n".repeat(6_666) + "é", "a letter is not cut");
    assert_eq!(processes(&ground), [""; 0]);
}

#[test]
fn errors_without_an_end() {
    let ground = Ground::new();
    let name = "n".repeat(30);
    let line = format!("cat {}", format!("{name} ").repeat(250));
    let output = ground.call("shell.exec", &cmd(&line)).unwrap();
    assert!(text_of(&output, "stderr").len() <= 20_000);
    assert_eq!(output.get("exit_code").unwrap(), &json("1"));
}

#[test]
fn arguments_beyond_their_bounds() {
    let ground = Ground::new();
    for (attack, args) in [
        ("more time than there is", r#"{"cmd":"ls","timeout_s":121}"#),
        ("no time", r#"{"cmd":"ls","timeout_s":0}"#),
        ("less than no time", r#"{"cmd":"ls","timeout_s":-1}"#),
        ("time without an end", r#"{"cmd":"ls","timeout_s":1e99}"#),
        ("half a second", r#"{"cmd":"ls","timeout_s":0.5}"#),
        ("true for a time", r#"{"cmd":"ls","timeout_s":true}"#),
        ("a list for a command", r#"{"cmd":["ls"]}"#),
        ("no command", "{}"),
    ] {
        ground.refused(attack, "shell.exec", args, Code::ToolArguments);
    }
    for (attack, line) in [
        ("a line of a megabyte", format!("echo {}", "x".repeat(1 << 20))),
        ("a thousand words", format!("echo {}", "x ".repeat(1_000))),
        ("a script of sed with a thousand commands", format!("sed '{}' a.txt", "p;".repeat(1_000))),
    ] {
        ground.refused_line(attack, &line, Code::ToolCommand);
    }
}

#[test]
fn a_pattern_that_takes_for_ever() {
    let ground = Ground::new();
    fs::write(ground.root().join("as"), "a".repeat(5_000) + "b\n").unwrap();
    let line = r#"{"cmd":"grep -E '(a|aa)*(a|aa)*(a|aa)*\\1\\2\\3c' as","timeout_s":2}"#;
    match ground.call("shell.exec", line) {
        // A machine or a program may be clever enough.
        Ok(output) => assert_ne!(output.get("exit_code").unwrap(), &json("0")),
        Err(refusal) => assert!(matches!(refusal.code, Code::ToolTimeout | Code::ToolFailed), "{refusal}"),
    }
    assert_eq!(processes(&ground), [""; 0]);
}

#[test]
fn processor_time_is_bounded() {
    let ground = Ground::new();
    let held = ground.held(1, "/bin/sh", &["-c", "while :; do :; done"]);
    assert_eq!(held.output.status.signal(), Some(Signal::XCPU.as_raw()), "{held:?}");
    let held = ground.held(1, "/bin/sh", &["-c", "trap '' XCPU; while :; do :; done"]);
    assert_eq!(
        held.output.status.signal(),
        Some(Signal::KILL.as_raw()),
        "ignoring it gains a second: {held:?}"
    );
}

#[test]
fn memory_is_bounded() {
    let ground = Ground::new();
    let held = ground.held(20, "/usr/bin/perl", &["-e", "$x = 'a' x (3 << 30); print 'had it'"]);
    assert!(!held.output.status.success(), "{held:?}");
    assert_eq!(held.stdout(), "");
    assert!(held.stderr().starts_with("Out of memory"), "{held:?}");
}

#[test]
fn open_files_are_bounded() {
    let ground = Ground::new();
    let script =
        "my @all; for (1..1000) { open(my $file, '<', 'a.txt') or last; push @all, $file } print scalar @all";
    let held = ground.held(20, "/usr/bin/perl", &["-e", script]);
    let opened: usize = held.stdout().parse().unwrap();
    assert!((1..64).contains(&opened), "{held:?}");
}

/// Calls that reach the network, other processes, the machine or a file's modes, made directly.
#[test]
fn system_calls_are_refused() {
    let ground = Ground::new();
    let before = ground.seen();
    let calls = [
        ("socket", libc::SYS_socket),
        ("socketpair", libc::SYS_socketpair),
        ("connect", libc::SYS_connect),
        ("bind", libc::SYS_bind),
        ("listen", libc::SYS_listen),
        ("accept4", libc::SYS_accept4),
        ("sendto", libc::SYS_sendto),
        ("sendmsg", libc::SYS_sendmsg),
        ("clone", libc::SYS_clone),
        ("clone3", libc::SYS_clone3),
        ("unshare", libc::SYS_unshare),
        ("setns", libc::SYS_setns),
        ("ptrace", libc::SYS_ptrace),
        ("process_vm_readv", libc::SYS_process_vm_readv),
        ("process_vm_writev", libc::SYS_process_vm_writev),
        ("pidfd_open", libc::SYS_pidfd_open),
        ("pidfd_getfd", libc::SYS_pidfd_getfd),
        ("pidfd_send_signal", libc::SYS_pidfd_send_signal),
        ("tkill", libc::SYS_tkill),
        ("kcmp", libc::SYS_kcmp),
        ("execveat", libc::SYS_execveat),
        ("memfd_create", libc::SYS_memfd_create),
        ("memfd_secret", libc::SYS_memfd_secret),
        ("truncate", libc::SYS_truncate),
        ("fchmodat", libc::SYS_fchmodat),
        ("fchmodat2", 452),
        ("fchownat", libc::SYS_fchownat),
        ("utimensat", libc::SYS_utimensat),
        ("setxattr", libc::SYS_setxattr),
        ("removexattr", libc::SYS_removexattr),
        ("mkdirat", libc::SYS_mkdirat),
        ("mknodat", libc::SYS_mknodat),
        ("unlinkat", libc::SYS_unlinkat),
        ("linkat", libc::SYS_linkat),
        ("symlinkat", libc::SYS_symlinkat),
        ("renameat2", libc::SYS_renameat2),
        ("open_by_handle_at", libc::SYS_open_by_handle_at),
        ("mount", libc::SYS_mount),
        ("umount2", libc::SYS_umount2),
        ("pivot_root", libc::SYS_pivot_root),
        ("chroot", libc::SYS_chroot),
        ("open_tree", libc::SYS_open_tree),
        ("move_mount", libc::SYS_move_mount),
        ("fsopen", libc::SYS_fsopen),
        ("swapon", libc::SYS_swapon),
        ("reboot", libc::SYS_reboot),
        ("kexec_load", libc::SYS_kexec_load),
        ("init_module", libc::SYS_init_module),
        ("bpf", libc::SYS_bpf),
        ("perf_event_open", libc::SYS_perf_event_open),
        ("userfaultfd", libc::SYS_userfaultfd),
        ("io_uring_setup", libc::SYS_io_uring_setup),
        ("io_uring_enter", libc::SYS_io_uring_enter),
        ("keyctl", libc::SYS_keyctl),
        ("add_key", libc::SYS_add_key),
        ("request_key", libc::SYS_request_key),
        ("shmget", libc::SYS_shmget),
        ("msgget", libc::SYS_msgget),
        ("semget", libc::SYS_semget),
        ("mq_open", libc::SYS_mq_open),
        ("setsid", libc::SYS_setsid),
        ("setpriority", libc::SYS_setpriority),
        ("personality", libc::SYS_personality),
        ("kill another", libc::SYS_kill),
        ("tgkill another", libc::SYS_tgkill),
        ("limits of another", libc::SYS_prlimit64),
    ];
    let numbers: Vec<_> = calls.iter().map(|(_, number)| number.to_string()).collect();
    // The first argument is the parent: another process, where one is meant.
    let script = format!(
        "for my $call ({}) {{ my $got = syscall($call, getppid, 0, 0, 0, 0); print $got == -1 ? $!+0 : 'done', \"\\n\" }}",
        numbers.join(",")
    );
    let held = ground.held(20, "/usr/bin/perl", &["-e", &script]);
    let answers: Vec<_> = held.stdout().lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), calls.len(), "{held:?}");
    for ((name, _), answer) in calls.iter().zip(&answers) {
        assert_eq!(answer, &libc::EPERM.to_string(), "{name}");
    }
    assert_eq!(ground.seen(), before);
}

/// The same calls under the numbers of programs with short pointers.
#[cfg(target_arch = "x86_64")]
#[test]
fn system_calls_are_refused_under_their_second_numbers() {
    let ground = Ground::new();
    let second = [libc::SYS_socket, libc::SYS_clone, libc::SYS_fork, libc::SYS_mount, 520, 521, 539, 545]
        .map(|call| (call | 0x4000_0000).to_string());
    let script = format!(
        "for ({}) {{ print syscall($_, 0, 0, 0, 0, 0) == -1 ? $!+0 : 'done', ' ' }}",
        second.join(",")
    );
    let held = ground.held(20, "/usr/bin/perl", &["-e", &script]);
    assert_eq!(held.stdout(), "1 ".repeat(second.len()), "{held:?}");
}

/// A program of another architecture's calls is killed, and an ordinary one may still end itself.
#[test]
fn a_program_may_end_itself() {
    let ground = Ground::new();
    let held = ground.held(20, "/usr/bin/perl", &["-e", "kill 'TERM', $$; print 'alive'"]);
    assert_eq!(held.output.status.signal(), Some(Signal::TERM.as_raw()), "{held:?}");
    let own = Pid::from_raw(std::process::id().cast_signed()).unwrap();
    let script = format!("print kill('TERM', {}), ' ', kill(0, -1), ' ', kill('TERM', 1)", own.as_raw_pid());
    let held = ground.held(20, "/usr/bin/perl", &["-e", &script]);
    assert_eq!(held.stdout(), "0 0 0", "nobody else is ended: {held:?}");
}

/// A superuser keeps no power, and nobody gets any.
#[test]
fn no_capabilities_are_left() {
    let ground = Ground::new();
    // /proc can't be read from inside, so it is looked at from outside while the program waits.
    pipe(&ground);
    let tool = ground.tool("shell.exec").clone();
    let task = ground.runtime().spawn(async move {
        called(&tool, r#"{"cmd":"cat pipe","timeout_s":120}"#, &CancellationToken::new()).await
    });
    let status = || {
        let pid = processes(&ground).into_iter().next()?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.starts_with("Name:\tcat\n").then_some(status)
    };
    until("it starts", || status().is_some());
    let status = status().unwrap();
    let field = |name: &str| {
        status.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned()).unwrap()
    };
    for name in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(field(name), "0000000000000000", "{name}");
    }
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
    task.abort();
    until("it ends", || processes(&ground).is_empty());
}
