//! Attacks on `shell.exec`, and on what holds a program once the rules were passed. Each is made for real and must fail.
//! Owns: command lines, options, what a held program can reach. Must not: trust the rules where the system is tested.

use crate::support::{CANARY, Ground, Held, cmd, json, text_of};
use countersign_record::code::Code;
use countersign_record::json::Json;
use countersign_tools::{Sandbox, registry};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

#[test]
fn lines_that_want_a_shell() {
    let ground = Ground::new();
    for (attack, line) in [
        ("a second command", "ls; id"),
        ("a command after success", "ls && id"),
        ("a command after failure", "ls || id"),
        ("a pipe", "cat a.txt | sh"),
        ("a background", "ls & id"),
        ("a substitution", "echo $(id)"),
        ("a substitution in double quotes", "echo \"$(id)\""),
        ("backticks", "echo `id`"),
        ("backticks in double quotes", "echo \"`id`\""),
        ("a variable", "echo $HOME"),
        ("a new line", "ls\nid"),
        ("a carriage return", "ls\rid"),
        ("a NUL", "ls\0id"),
        ("an escape of a terminal", "echo \u{1b}[2J"),
        ("writing a file", "echo x > pwned"),
        ("appending to a file", "echo x >> pwned"),
        ("reading a file as input", "cat < /etc/passwd"),
        ("a subshell", "(id)"),
        ("a group", "{ id; }"),
        ("a pattern", "cat /etc/pass*"),
        ("a home", "cat ~/.ssh/id_rsa"),
        ("braces", "cat {a.txt,b}"),
        ("an escape", "cat a\\ b"),
        ("a comment", "ls #"),
        ("an open quote", "echo 'x"),
        ("nothing", "   "),
        ("an assignment before", "LD_PRELOAD=./evil.so ls"),
    ] {
        ground.refused_line(attack, line, Code::ToolCommand);
    }
}

#[test]
fn programs_that_are_not_on_the_list() {
    let ground = Ground::new();
    fs::write(ground.root().join("evil"), "#!/bin/sh\necho x > pwned\n").unwrap();
    fs::set_permissions(ground.root().join("evil"), fs::Permissions::from_mode(0o755)).unwrap();
    for line in [
        "sh -c id",
        "bash -c id",
        "dash -c id",
        "python -c 'print(1)'",
        "python3 a.py",
        "perl -e 1",
        "awk 'BEGIN{}'",
        "env",
        "env ls",
        "find . -exec id '{}' '+'",
        "find . -delete",
        "xargs id",
        "tee pwned",
        "cp a.txt b",
        "mv a.txt b",
        "ln -s / x",
        "touch x",
        "mkdir x",
        "nc 127.0.0.1 1",
        "ssh host",
        "tar xf x",
        "git status",
        "make",
        "vi",
        "less a.txt",
        "pytest",
        "node",
        "nice ls",
        "timeout 1 ls",
        "busybox ls",
        "./evil",
        "evil",
        "/usr/bin/ls",
        "/bin/ls",
        "../ls",
        "LS",
        "ls\u{200b}",
        "''",
        "exec ls",
        "command ls",
        ". a.txt",
        "eval ls",
        "sudo ls",
        "rm a.txt",
        "r''m a.txt",
        "'r'm a.txt",
        "curl http://127.0.0.1",
        "wget x",
        "chmod 777 a.txt",
        "chown root a.txt",
        "dd 'if=/dev/zero'",
        "mkfs.ext4 x",
    ] {
        ground.refused_line(line, line, Code::ToolCommand);
    }
}

/// The second fence, behind a program that may be run.
#[test]
fn words_of_the_fence() {
    let ground = Ground::new();
    for line in [
        "echo rm",
        "echo 'sudo ls'",
        "ls /sandbox/dd",
        "echo ':(){ :|:& };:'",
        "echo 'x >/dev/sda'",
        "grep -e wget a.txt",
        "cat dir/chmod",
    ] {
        ground.refused_line(line, line, Code::ToolCommand);
    }
    fs::write(ground.root().join("sudoku.txt"), "9").unwrap();
    for (line, stdout) in [("echo curling", "curling\n"), ("cat sudoku.txt", "9")] {
        assert_eq!(text_of(&ground.call("shell.exec", &cmd(line)).unwrap(), "stdout"), stdout);
    }
}

#[test]
fn options_that_run_write_or_read_elsewhere() {
    let ground = Ground::new();
    fs::write(ground.root().join("pre.sh"), "#!/bin/sh\necho x > pwned\n").unwrap();
    fs::set_permissions(ground.root().join("pre.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    for line in [
        // sed: programs, files, places.
        "sed '1e id' a.txt",
        "sed e a.txt",
        "sed -e '1e id' a.txt",
        "sed --expression='1e id' a.txt",
        "sed -n -e p -e 'e id' a.txt",
        "sed -ne 'e id' a.txt",
        "sed 's/one/id/e' a.txt",
        "sed 's/one/id/ge' a.txt",
        "sed 's|one|id|e' a.txt",
        "sed 'w pwned' a.txt",
        "sed -n '/one/w pwned' a.txt",
        "sed 's/one/x/w pwned' a.txt",
        "sed 'r /etc/passwd' a.txt",
        "sed 'R /etc/passwd' a.txt",
        "sed 'W pwned' a.txt",
        "sed -i 's/one/x/' a.txt",
        "sed -i.bak 's/one/x/' a.txt",
        "sed -ni 's/one/x/' a.txt",
        "sed -Ei 's/one/x/' a.txt",
        "sed --in-place 's/one/x/' a.txt",
        "sed --in-place=.bak 's/one/x/' a.txt",
        "sed --in 's/one/x/' a.txt",
        "sed --i 's/one/x/' a.txt",
        "sed -f a.txt a.txt",
        "sed --file=a.txt a.txt",
        "sed --fil=a.txt a.txt",
        "sed -s -f a.txt",
        "sed --expr='1e id' a.txt",
        "sed p -i a.txt",
        "sed '{e id' a.txt",
        "sed '1{e}' a.txt",
        "sed --posix p a.txt",
        "sed --follow-symlinks p a.txt",
        // rg: programs, settings, lists of files.
        "rg --pre ./pre.sh one",
        "rg --pre=./pre.sh one",
        "rg --pre=sh one",
        "rg one --pre ./pre.sh",
        "rg --pr ./pre.sh one",
        "rg --pre-glob '*' one",
        "rg -z one",
        "rg --search-zip one",
        "rg -iz one",
        "rg --hostname-bin ./pre.sh one",
        "rg --hostname-bin=./pre.sh one",
        "rg --hyperlink-format x one",
        "rg -f a.txt",
        "rg --file=a.txt",
        "rg --ignore-file /etc/passwd one",
        "rg -L one",
        "rg --follow one",
        "rg --mmap one",
        "rg --config x one",
        "rg -j 64 one",
        "rg --threads=64 one",
        "rg --debug one",
        "rg --type-add 'x:*' one",
        // grep.
        "grep -f /etc/passwd a.txt",
        "grep --file=a.txt a.txt",
        "grep --fil=a.txt a.txt",
        "grep -if a.txt a.txt",
        "grep -R one",
        "grep --dereference-recursive one",
        "grep --exclude-from=a.txt one a.txt",
        "grep -D read one a.txt",
        "grep --devices=read one a.txt",
        "grep --rec one",
        // sort, wc, tail, head, ls, cat, pwd.
        "sort -o pwned a.txt",
        "sort -opwned a.txt",
        "sort -ro pwned a.txt",
        "sort --output=pwned a.txt",
        "sort --outp=pwned a.txt",
        "sort -T dir a.txt",
        "sort --temporary-directory=dir a.txt",
        "sort --compress-program=./pre.sh a.txt",
        "sort --compress-prog ./pre.sh a.txt",
        "sort -S 1 a.txt",
        "sort --files0-from=a.txt",
        "sort -m a.txt",
        "sort --random-source=/etc/passwd a.txt",
        "sort -R a.txt",
        "wc --files0-from=a.txt",
        "wc --files0=a.txt",
        "tail -f a.txt",
        "tail -F a.txt",
        "tail --follow a.txt",
        "tail --pid=1 a.txt",
        "tail --retry a.txt",
        "tail -n x a.txt",
        "tail -n",
        "head -n '1;id' a.txt",
        "head --lines",
        "head --lines=x a.txt",
        "ls --hyperlink",
        "ls --dired",
        "ls -L",
        "ls --dereference",
        "cat -u a.txt",
        "cat --help",
        "ls --version",
        "pwd a.txt",
        "pwd --help",
        "ls -l=x",
        "ls --all=x",
    ] {
        ground.refused_line(line, line, Code::ToolCommand);
    }
}

#[test]
fn paths_that_lead_out() {
    let ground = Ground::new();
    for line in [
        "cat /etc/passwd",
        "cat ../outside/secret.txt",
        "cat dir/../../outside/secret.txt",
        "cat -- /etc/passwd",
        "cat -n /etc/passwd",
        "ls /",
        "ls ..",
        "ls -la dir/..",
        "head -5 /etc/passwd",
        "head -n5 /etc/passwd",
        "tail -n 5 /etc/passwd",
        "wc -l /etc/passwd",
        "sort /etc/passwd",
        "grep root /etc/passwd",
        "grep -e root /etc/passwd",
        "grep --regexp=root /etc/passwd",
        "grep -r root /etc",
        "rg root /etc",
        "rg -e root /etc",
        "rg --files /etc",
        "rg root ..",
        "sed -n p /etc/passwd",
        "sed -n -e p /etc/passwd",
        "cat /dev/zero",
        "cat /dev/sda",
        "cat /proc/self/environ",
        "cat /sandbox/../outside/secret.txt",
        "ls //etc",
        "cat 'a.txt' '/etc/passwd'",
        "cat ''",
    ] {
        ground.refused_line(line, line, Code::ToolPath);
    }
}

/// A link is passed by the rules, which look at nothing; the system stops it.
#[test]
fn links_that_lead_out() {
    let ground = Ground::new();
    let root = ground.root();
    symlink(ground.outside().join("secret.txt"), root.join("file")).unwrap();
    symlink(ground.outside(), root.join("outer")).unwrap();
    symlink("/proc/self/environ", root.join("environ")).unwrap();
    symlink("/etc/passwd", root.join("passwd")).unwrap();
    symlink("/dev/zero", root.join("zero")).unwrap();
    for (line, told) in [
        ("cat file", "Permission denied"),
        ("cat outer/secret.txt", "Permission denied"),
        ("ls outer/", "Permission denied"),
        ("cat environ", "Permission denied"),
        ("cat passwd", "Permission denied"),
        ("cat zero", "Permission denied"),
        ("head -1 file", "Permission denied"),
        ("grep -r CANARY file", "Permission denied"),
        ("rg CANARY outer", "Permission denied"),
        ("sed -n p file", "Permission denied"),
        ("sort file", "Permission denied"),
    ] {
        let output = ground.call("shell.exec", &cmd(line)).unwrap();
        assert!(text_of(&output, "stderr").contains(told), "{line}: {output:?}");
        assert_ne!(output.get("exit_code").unwrap(), &json("0"), "{line}");
        assert_eq!(text_of(&output, "stdout"), "", "{line}");
    }
    let output = ground.call("shell.exec", &cmd("rg -uuu CANARY")).unwrap();
    assert_eq!(text_of(&output, "stdout"), "", "links are not followed: {output:?}");
}

/// Files whose names look like options are files.
#[test]
fn names_that_are_options() {
    let ground = Ground::new();
    fs::write(ground.root().join("-n"), "dash\n").unwrap();
    fs::write(ground.root().join("--pre=x"), "two dashes\n").unwrap();
    fs::write(ground.root().join("-"), "lone\n").unwrap();
    for (line, stdout) in [
        ("cat ./-n", "dash\n"),
        ("cat -- -n", "dash\n"),
        ("cat ./-", "lone\n"),
        ("cat -", "lone\n"),
        ("cat -- --pre=x", "two dashes\n"),
        ("rg -e dashes ./--pre=x", "two dashes\n"),
        ("grep -e -n -- a.txt", ""),
        ("grep -- -n a.txt", ""),
    ] {
        let output = ground.call("shell.exec", &cmd(line)).unwrap();
        assert_eq!(text_of(&output, "stdout"), stdout, "{line}: {output:?}");
        assert_eq!(text_of(&output, "stderr"), "", "{line}");
    }
}

#[test]
fn a_launcher_that_holds_nothing() {
    let ground = Ground::new();
    for launcher in ["/bin/true", "/bin/echo", "/nonexistent", "/etc/passwd"] {
        let sandbox = Sandbox::with_launcher(&ground.root(), Path::new(launcher)).unwrap();
        let tools = registry(&sandbox, Arc::new(|| unreachable!("nobody asks for the time"))).unwrap();
        let refusal = ground.call_of(&tools[3], &cmd("ls")).expect_err(launcher);
        assert_eq!(refusal.code, Code::ToolSandbox, "{launcher}: {refusal}");
    }
}

/// Runs a script that no rule would let through, held as programs are, and sees that nothing changed.
fn held_sh(ground: &Ground, script: &str) -> Held {
    let before = ground.seen();
    let held = ground.held(5, "/bin/sh", &["-c", script]);
    assert!(held.is_held(), "{script}: {}", held.report);
    assert_eq!(ground.seen(), before, "{script}");
    assert!(!held.stdout().contains(CANARY), "{script}: {held:?}");
    held
}

#[test]
fn a_held_shell_writes_nothing() {
    let ground = Ground::new();
    fs::set_permissions(ground.root(), fs::Permissions::from_mode(0o777)).unwrap();
    let shared = format!("/dev/shm/countersign-{}", std::process::id());
    for script in [
        "echo x > pwned",
        "echo x >> a.txt",
        "echo x > a.txt",
        "echo x > dir/pwned",
        "echo x > ../outside/pwned",
        "echo x > /tmp/countersign-pwned",
        &format!("echo x > {shared}"),
        "exec 3<> a.txt",
        "echo x > /dev/null",
    ] {
        let held = held_sh(&ground, script);
        assert!(!held.output.status.success(), "{script}: {held:?}");
        assert!(held.stderr().contains("Permission denied"), "{script}: {held:?}");
    }
    assert!(!Path::new("/tmp/countersign-pwned").exists() && !Path::new(&shared).exists());
}

#[test]
fn a_held_shell_reads_nothing_outside() {
    let ground = Ground::new();
    for file in [
        "/etc/passwd",
        "../outside/secret.txt",
        "/proc/self/environ",
        "/proc/1/cmdline",
        "/dev/urandom",
        "/sys/kernel/notes",
    ] {
        let held = held_sh(&ground, &format!("read line < {file} && echo got it"));
        assert_eq!(held.stdout(), "", "{file}: {held:?}");
        assert!(held.stderr().contains("Permission denied"), "{file}: {held:?}");
    }
    let held = held_sh(&ground, "read line < a.txt && echo $line");
    assert_eq!(held.stdout(), "one\n", "what is beneath the root is read");
    let held = held_sh(&ground, "cd ../outside && echo *; cd / && echo etc/*");
    assert_eq!(held.stdout(), "*\netc/*\n", "directories outside can't be listed: {held:?}");
}

#[test]
fn a_held_shell_runs_nothing_else() {
    let ground = Ground::new();
    let evil = ground.root().join("evil");
    fs::copy("/bin/echo", &evil).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(ground.root().join("script"), "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(ground.root().join("script"), fs::Permissions::from_mode(0o755)).unwrap();
    for (script, told) in [
        ("exec ./evil ran", "Permission denied"),
        ("exec ./script", "Permission denied"),
        ("exec /usr/bin/id", "Permission denied"),
        ("exec /usr/bin/env", "Permission denied"),
        ("./evil ran", "fork"),
        ("/usr/bin/id", "fork"),
        ("(echo ran)", "fork"),
        ("echo ran & wait", "fork"),
        ("echo `echo ran`", "fork"),
        ("echo ran | read line", "fork"),
        ("bomb() { bomb | bomb & }; bomb; echo $! | exit 1", "fork"),
    ] {
        let held = held_sh(&ground, script);
        assert!(!held.output.status.success(), "{script}: {held:?}");
        assert!(!held.stdout().contains("ran"), "{script}: {held:?}");
        assert!(held.stderr().contains(told), "{script}: {held:?}");
    }
}

#[test]
fn an_environment_is_not_inherited() {
    let ground = Ground::new();
    let held = ground.held(5, "/usr/bin/env", &[]);
    let mut lines: Vec<_> = held.stdout().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"]);
}

/// The rules are not the only thing between these and a program of the attacker's.
#[test]
fn dangerous_options_without_the_rules() {
    let ground = Ground::new();
    fs::write(ground.root().join("pre.sh"), "#!/bin/sh\necho ran\n").unwrap();
    fs::set_permissions(ground.root().join("pre.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(ground.root().join("rgrc"), "--pre=./pre.sh\n").unwrap();
    let before = ground.seen();
    for (program, args) in [
        ("/usr/bin/rg", &["--pre", "./pre.sh", "ran", "a.txt"][..]),
        ("/usr/bin/sed", &["1e echo ran", "a.txt"]),
        ("/usr/bin/sed", &["s/one/echo ran/e", "a.txt"]),
        ("/usr/bin/sed", &["-n", "w pwned", "a.txt"]),
        ("/usr/bin/sed", &["-i", "s/one/ran/", "a.txt"]),
        ("/usr/bin/sort", &["-o", "pwned", "a.txt"]),
        ("/usr/bin/find", &[".", "-name", "a.txt", "-exec", "echo", "ran", ";"]),
        ("/usr/bin/find", &[".", "-delete"]),
        ("/usr/bin/tee", &["pwned"]),
        ("/bin/cp", &["a.txt", "pwned"]),
        ("/bin/mv", &["a.txt", "pwned"]),
        ("/bin/rm", &["-f", "a.txt"]),
        ("/bin/ln", &["-s", "/", "pwned"]),
        ("/bin/ln", &["a.txt", "pwned"]),
        ("/bin/mkdir", &["pwned"]),
        ("/bin/chmod", &["777", "a.txt"]),
        ("/bin/chown", &["0", "a.txt"]),
        ("/bin/touch", &["a.txt"]),
        ("/usr/bin/truncate", &["-s", "0", "a.txt"]),
        ("/bin/mknod", &["pwned", "p"]),
        ("/bin/dd", &["if=a.txt", "of=pwned"]),
        ("/usr/bin/xargs", &["-a", "a.txt", "echo", "ran"]),
    ] {
        let held = ground.held(5, program, args);
        assert!(held.is_held(), "{program} {args:?}: {}", held.report);
        assert!(!held.output.status.success(), "{program} {args:?}: {held:?}");
        assert!(!held.stdout().contains("ran"), "{program} {args:?}: {held:?}");
        assert_eq!(ground.seen(), before, "{program} {args:?}");
    }
}

/// Where the machine allows it, a program has a network of its own, with nothing in it.
#[test]
fn namespaces_where_the_machine_allows_them() {
    let ground = Ground::new();
    let fifo = ground.root().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let may = Command::new("unshare").args(["--user", "--net", "--ipc", "true"]).status().unwrap().success();
    let (own, theirs) = std::thread::scope(|scope| {
        let output = scope.spawn(|| ground.call("shell.exec", &cmd("cat fifo")).unwrap());
        // Opened as soon as the program has opened it too.
        let mut writer = fs::OpenOptions::new().write(true).open(&fifo).unwrap();
        let program = children().into_iter().find(|dir| is_cat(dir)).unwrap();
        let spaces =
            |dir: &Path| ["user", "net", "ipc"].map(|name| fs::read_link(dir.join("ns").join(name)).unwrap());
        let seen = (spaces(Path::new("/proc/self")), spaces(&program));
        writer.write_all(b"end").unwrap();
        drop(writer);
        assert_eq!(output.join().unwrap().get("stdout").and_then(Json::as_str), Some("end"));
        seen
    });
    let is_apart = own.iter().zip(&theirs).all(|(own, theirs)| own != theirs);
    assert_eq!(is_apart, may, "{own:?} {theirs:?}");
}

/// The processes that this one started.
fn children() -> Vec<PathBuf> {
    let is_child = |dir: &Path| {
        let status = fs::read_to_string(dir.join("status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:\t") == Some(&std::process::id().to_string()))
    };
    let dirs = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    dirs.filter(|dir| is_child(dir)).collect()
}

fn is_cat(dir: &Path) -> bool {
    fs::read_to_string(dir.join("comm")).is_ok_and(|name| name == "cat\n")
}
