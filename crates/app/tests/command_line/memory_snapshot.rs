//! `memory snapshot` through the binary: a round trip through every form, and what is refused.

use crate::binary::Work;
use serde_json::json;

/// What `pickle.dump` wrote with NumPy 2: ids a and b, six floats.
const PYTHON: &[u8] = include_bytes!("../../../memory/tests/data/numpy2_protocol5.pkl");

fn names(work: &Work) -> Vec<String> {
    let entries = std::fs::read_dir(work.path(".")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_table_goes_through_every_form_and_back() {
    let work = Work::new();
    work.write("python.pkl", PYTHON);
    let made =
        work.run(&["memory", "snapshot", "import", "python.pkl", "--to", "ours.pkl", "--json"]).good().json();
    assert_eq!((&made["count"], &made["dimension"]), (&json!(2), &json!(3)));
    assert_eq!(made["first_ids"], json!(["a", "b"]));
    assert_eq!(work.run(&["memory", "snapshot", "show", "ours.pkl", "--json"]).good().json(), made);
    let told = work.run(&["memory", "snapshot", "show", "ours.pkl"]).good();
    let sha256 = made["sha256"].as_str().unwrap();
    assert_eq!(told.text(), format!("2 rows of dimension 3\nSHA-256 {sha256}\n  a\n  b\n"));

    let out =
        work.run(&["memory", "snapshot", "export", "ours.pkl", "--to", "out.npz", "--json"]).good().json();
    assert_eq!(out, json!({"path": "out.npz", "count": 2, "dimension": 3}));
    let back =
        work.run(&["memory", "snapshot", "import", "out.npz", "--to", "back.pkl", "--json"]).good().json();
    assert_eq!(back, made, "the same table is the same file");
    let bytes = |name: &str| std::fs::read(work.path(name)).unwrap();
    assert_eq!(bytes("back.pkl"), bytes("ours.pkl"));

    let told = work.run(&["memory", "snapshot", "export", "ours.pkl", "--to", "out.npy"]).good();
    assert_eq!(told.text(), "2 rows of dimension 3 in out.npy\n");
    let bare =
        work.run(&["memory", "snapshot", "import", "out.npy", "--to", "bare.pkl", "--json"]).good().json();
    assert_eq!((&bare["count"], &bare["first_ids"]), (&json!(2), &json!(["0", "1"])));
    assert_eq!(names(&work), ["back.pkl", "bare.pkl", "ours.pkl", "out.npy", "out.npz", "python.pkl"]);
}

#[test]
fn nothing_is_overwritten_followed_or_run() {
    let work = Work::new();
    work.write("python.pkl", PYTHON);
    work.write("there.pkl", "mine");
    work.write("there.npz", "mine");
    work.write("evil.pkl", "\u{80}");
    work.write("system.pkl", b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x0ctouch canary\x85R.");
    work.write("text.npz", "no zip");
    std::os::unix::fs::symlink(work.path("python.pkl"), work.path("link.pkl")).unwrap();
    let before = names(&work);
    let check = |args: &[&str], exit: i32, code: &str, message: &str| {
        let refusal = work.run(&[&["memory", "snapshot"], args].concat()).refused_silently(exit, code);
        assert_eq!(refusal.message, message);
    };
    let there = "there.pkl is there already";
    check(&["import", "python.pkl", "--to", "there.pkl"], 1, "snapshot.exists", there);
    check(&["import", "python.pkl", "--to", "link.pkl"], 1, "snapshot.exists", "link.pkl is there already");
    let there = "there.npz is there already";
    check(&["export", "python.pkl", "--to", "there.npz"], 1, "snapshot.exists", there);
    let unknown = "snapshot.unknown_layout";
    let evil = "system.pkl, byte 14: a global that no table needs";
    check(&["show", "system.pkl"], 2, unknown, evil);
    check(&["import", "system.pkl", "--to", "new.pkl"], 2, unknown, evil);
    check(&["show", "evil.pkl"], 2, unknown, "evil.pkl, byte 0: it is no pickle of protocol 4 or 5");
    check(
        &["import", "text.npz", "--to", "new.pkl"],
        2,
        unknown,
        "text.npz, byte 0: it is neither .npz nor .npy",
    );
    let unreadable = "snapshot.unreadable";
    check(&["show", "none.pkl"], 2, unreadable, "none.pkl can't be read: there is no such file");
    check(&["show", "link.pkl"], 2, unreadable, "link.pkl can't be read: it is a symbolic link");
    check(&["show", "."], 2, unreadable, ". can't be read: it is no regular file");
    let needed = "out.txt: a name that ends in .npz or .npy is needed";
    check(&["export", "python.pkl", "--to", "out.txt"], 2, "usage.invalid", needed);
    let needed = "out.npz: a name that ends in .pkl is needed";
    check(&["import", "python.pkl", "--to", "out.npz"], 2, "usage.invalid", needed);
    let refusal = work.run(&["memory", "snapshot", "export", "python.pkl", "--to", "no/out.npz"]);
    refusal.refused_silently(1, "output.failed");
    assert_eq!(names(&work), before, "nothing was made, and no canary");
    assert_eq!(std::fs::read(work.path("there.pkl")).unwrap(), b"mine");
}
