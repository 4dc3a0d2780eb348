//! Attacks on the file of what is kept: damaged, foreign, linked, locked, changed by another's hand.

use crate::world::kept::{Kept, cached, fresh, seen, warned};
use crate::world::{get, page};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Damages the file of a cache, with a tool that has it open and with one that has not: each warns once, fetches, and
/// keeps anew.
async fn check_damage(name: &str, damage: impl Fn(&Kept)) {
    for is_open in [false, true] {
        let kept = Kept::page().await;
        let open = kept.tool();
        assert_eq!((seen(&kept.get(&open).await), seen(&kept.get(&open).await)), (fresh(), cached()));
        let tool = if is_open { open } else { kept.tool() };
        damage(&kept);
        let found = seen(&kept.get(&tool).await);
        assert_eq!(found.0, "hello", "{name}");
        // Whoever had it open may still see what it kept, and never anything else.
        assert!(found == warned() || (is_open && found == cached()), "{name}: {found:?}");
        let again = kept.tool();
        for _ in 0..2 {
            kept.get(&again).await;
        }
        assert_eq!(seen(&kept.get(&again).await), cached(), "{name}: it mends itself");
    }
}

#[tokio::test]
async fn a_file_that_was_overwritten_is_put_aside() {
    check_damage("garbage", |kept| fs::write(kept.path(), "garbage".repeat(10_000)).unwrap()).await;
    check_damage("text", |kept| fs::write(kept.path(), "SQLite format 3\0").unwrap()).await;
    check_damage("nothing", |kept| fs::write(kept.path(), "").unwrap()).await;
    let kept = Kept::page().await;
    kept.filled().await;
    fs::write(kept.path(), "mine").unwrap();
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    let aside = kept.path().with_file_name("http-cache.sqlite.damaged");
    assert_eq!(fs::read(aside).unwrap(), b"mine", "what was there is not lost");
}

#[tokio::test]
async fn a_file_that_was_cut_is_put_aside() {
    for length in [1, 50, 99, 100, 4_000, 4_096, 8_192] {
        check_damage("cut", |kept| {
            let file = fs::OpenOptions::new().write(true).open(kept.path()).unwrap();
            file.set_len(length).unwrap();
        })
        .await;
    }
}

#[tokio::test]
async fn another_programs_database_is_put_aside() {
    check_damage("foreign", |kept| {
        fs::remove_file(kept.path()).unwrap();
        let connection = Connection::open(kept.path()).unwrap();
        connection.execute_batch("CREATE TABLE pages (url TEXT PRIMARY KEY, text TEXT)").unwrap();
        connection.execute("INSERT INTO pages VALUES (?1, 'evil')", [&kept.url]).unwrap();
    })
    .await;
}

#[tokio::test]
async fn tables_triggers_and_views_of_others_are_put_aside() {
    for sql in [
        "CREATE TABLE other (a)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON pages BEGIN DELETE FROM pages; END",
        "ALTER TABLE pages ADD COLUMN extra TEXT",
        "DROP INDEX pages_by_age",
        "DROP TABLE pages",
        "PRAGMA journal_mode = WAL",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 0",
    ] {
        let kept = Kept::page().await;
        kept.filled().await;
        Connection::open(kept.path()).unwrap().execute_batch(sql).unwrap();
        assert_eq!(seen(&kept.get(&kept.tool()).await), warned(), "{sql}");
        assert_eq!(seen(&kept.get(&kept.tool()).await), cached(), "{sql}");
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_the_file_is_not_followed() {
    check_damage("symlink", |kept| {
        let elsewhere = kept.scratch.path().join("elsewhere");
        fs::rename(kept.path(), &elsewhere).unwrap();
        symlink(&elsewhere, kept.path()).unwrap();
    })
    .await;
    let kept = Kept::page().await;
    let victim = kept.scratch.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::create_dir_all(kept.path().parent().unwrap()).unwrap();
    symlink(&victim, kept.path()).unwrap();
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    // One that leads nowhere, too: SQLite would make what it names.
    let kept = Kept::page().await;
    fs::create_dir_all(kept.path().parent().unwrap()).unwrap();
    symlink(kept.scratch.path().join("nowhere"), kept.path()).unwrap();
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    assert!(!kept.scratch.path().join("nowhere").exists());
}

#[tokio::test]
async fn a_file_that_others_hold_or_may_write_is_put_aside() {
    check_damage("hard link", |kept| fs::hard_link(kept.path(), kept.scratch.path().join("hand")).unwrap())
        .await;
    check_damage("open to all", |kept| {
        fs::set_permissions(kept.path(), fs::Permissions::from_mode(0o666)).unwrap();
    })
    .await;
}

#[tokio::test]
async fn what_is_no_file_is_put_aside() {
    check_damage("directory", |kept| {
        fs::remove_file(kept.path()).unwrap();
        fs::create_dir(kept.path()).unwrap();
        fs::write(kept.path().join("a"), "b").unwrap();
    })
    .await;
    // Then a file has to be put aside where the directory was.
    let kept = Kept::page().await;
    for _ in 0..2 {
        fs::create_dir_all(kept.path().join("a")).unwrap();
        assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
        assert_eq!(seen(&kept.get(&kept.tool()).await), cached());
        fs::write(kept.path(), "garbage").unwrap();
        assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
        assert_eq!(seen(&kept.get(&kept.tool()).await), cached());
        fs::remove_file(kept.path()).unwrap();
        fs::remove_dir_all(kept.path().with_file_name("http-cache.sqlite.damaged")).unwrap();
    }
    check_damage("socket", |kept| {
        fs::remove_file(kept.path()).unwrap();
        drop(std::os::unix::net::UnixListener::bind(kept.path()).unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_newer_file_is_left_as_it_is() {
    let kept = Kept::page().await;
    kept.filled().await;
    Connection::open(kept.path()).unwrap().execute_batch("PRAGMA user_version = 2").unwrap();
    let before = fs::read(kept.path()).unwrap();
    let tool = kept.tool();
    for _ in 0..2 {
        assert_eq!(seen(&kept.get(&tool).await), warned());
    }
    assert_eq!(fs::read(kept.path()).unwrap(), before);
}

#[tokio::test]
async fn a_page_that_was_changed_in_the_file_is_not_shown() {
    for change in [
        "text = 'evil'",
        "text = NULL",
        "text = text || ' '",
        "final_url = 'http://evil.example/'",
        "flags = 0",
        "at_seconds = at_seconds + 1",
        "at_nanos = at_nanos + 1",
        "status = 201",
        "status = 70000",
        "flags = 2",
        "bytes = -1",
        "sha256 = zeroblob(32)",
        "sha256 = x'00'",
        "sum = zeroblob(32)",
        "content_type = 'text/html'",
        "text = CAST(x'FF' AS TEXT)",
    ] {
        let kept = Kept::page().await;
        let tool = kept.tool_at("12:00:01");
        assert_eq!(seen(&kept.get(&tool).await), fresh());
        let changed = Connection::open(kept.path()).unwrap();
        assert_eq!(changed.execute(&format!("UPDATE pages SET {change}"), []).unwrap(), 1, "{change}");
        drop(changed);
        assert_eq!(seen(&kept.get(&tool).await), warned(), "{change}");
        assert_eq!(seen(&kept.get(&tool).await), cached(), "{change}: it was fetched and kept anew");
    }
}

#[tokio::test]
async fn a_page_under_another_address_is_not_shown() {
    let kept = Kept::new(|head| page(head.split(' ').nth(1).unwrap())).await;
    let tool = kept.tool();
    let other = format!("{}other", kept.url);
    get(&tool, &other, kept.reach()).await.unwrap();
    let changed = Connection::open(kept.path()).unwrap();
    changed.execute("UPDATE pages SET url = ?1", [&kept.url]).unwrap();
    drop(changed);
    let found = seen(&kept.get(&tool).await);
    assert_eq!(found, ("/".into(), "false".into(), Some("web.cache".into())));
}

#[tokio::test]
async fn a_page_that_is_far_too_large_is_not_read() {
    let kept = Kept::page().await;
    kept.filled().await;
    let changed = Connection::open(kept.path()).unwrap();
    changed.execute("UPDATE pages SET text = CAST(zeroblob(64000000) AS TEXT)", []).unwrap();
    drop(changed);
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
}

#[tokio::test]
async fn a_locked_file_holds_up_no_call() {
    let kept = Kept::page().await;
    let open = kept.tool();
    kept.get(&open).await;
    let holder = Connection::open(kept.path()).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(seen(&kept.get(&open).await), warned());
    assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(seen(&kept.get(&open).await), cached());
    assert!(!kept.path().with_file_name("http-cache.sqlite.damaged").exists(), "locked is not damaged");
    // While another writes, what is kept can be read.
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(seen(&kept.get(&open).await), cached());
}

#[tokio::test]
async fn a_place_that_can_not_be_written_holds_up_no_call() {
    let kept = Kept::page().await;
    fs::write(kept.scratch.path().join("matters"), "a file in the way").unwrap();
    for _ in 0..2 {
        assert_eq!(seen(&kept.get(&kept.tool()).await), warned());
    }
    assert_eq!(fs::read(kept.scratch.path().join("matters")).unwrap(), b"a file in the way");
}

#[tokio::test]
async fn a_file_that_is_gone_is_made_anew() {
    let kept = Kept::page().await;
    let tool = kept.tool();
    kept.get(&tool).await;
    fs::remove_dir_all(kept.scratch.path().join("matters")).unwrap();
    assert_eq!(seen(&kept.get(&tool).await), fresh());
    assert_eq!(seen(&kept.get(&tool).await), cached());
}

#[tokio::test]
async fn a_file_that_took_the_place_is_noticed() {
    let (kept, other) = (Kept::page().await, Kept::new(|_| page("other")).await);
    kept.filled().await;
    let tool = kept.tool();
    assert_eq!(seen(&kept.get(&tool).await), cached());
    other.get(&other.tool()).await;
    fs::rename(other.path(), kept.path()).unwrap();
    assert_eq!(seen(&kept.get(&tool).await), fresh(), "another cache does not have the page");
}

/// Whatever byte is changed, what is told is what was fetched.
#[tokio::test]
async fn no_changed_byte_is_ever_shown() {
    let kept = Kept::page().await;
    kept.filled().await;
    let whole = fs::read(kept.path()).unwrap();
    let mut random = countersign_testkit::random::Random::new(7);
    for _ in 0..150 {
        let mut bytes = whole.clone();
        for _ in 0..=random.index(0..3) {
            let at = random.index(0..bytes.len());
            bytes[at] ^= u8::try_from(random.within(1..256)).unwrap();
        }
        fs::write(kept.path(), &bytes).unwrap();
        let done = kept.get(&kept.tool()).await;
        let mut expected = vec![fresh(), warned(), cached()];
        expected.retain(|one| *one == seen(&done));
        assert_eq!(expected.len(), 1, "{:?}", done.output);
        drop(fs::remove_file(kept.path()));
        fs::write(kept.path(), &whole).unwrap();
        fs::set_permissions(kept.path(), fs::Permissions::from_mode(0o600)).unwrap();
    }
}
