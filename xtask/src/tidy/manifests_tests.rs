//! Tables for `manifests`: for each rule a manifest that breaks it and one that comes close.

use super::*;

/// A manifest of `crates/<dir>` whose seventh line is the first of `body`.
fn manifest(dir: &str, body: &str) -> File {
    let head = format!("[package]\nname = \"countersign-{dir}\"\n\n[lints]\nworkspace = true\n\n");
    File::new(&format!("crates/{dir}/Cargo.toml"), &(head + body))
}

fn check_files(files: &[File], expected: &[&str]) {
    let found: Vec<String> = check(files).iter().map(Problem::head).collect();
    assert_eq!(found, expected);
}

fn check_body(dir: &str, body: &str, expected: &[&str]) {
    check_files(&[manifest(dir, body)], expected);
}

#[test]
fn an_edge_outside_the_map_is_named_with_its_line() {
    check_body("kernel", "[dependencies]\ncountersign-record.workspace = true\n", &[]);
    check_body(
        "kernel",
        "[dependencies]\nserde = \"1\"\ncountersign-store = { path = \"../store\" }\n",
        &["crates/kernel/Cargo.toml:9: edges: `kernel` may not use `store`"],
    );
    check_body(
        "store",
        "[build-dependencies]\ncountersign-app.workspace = true\n",
        &["crates/store/Cargo.toml:8: edges: `store` may not use `app`"],
    );
    check_body(
        "store",
        "[target.'cfg(unix)'.dependencies]\ncountersign-memory.workspace = true\n",
        &["crates/store/Cargo.toml:8: edges: `store` may not use `memory`"],
    );
    check_body(
        "models",
        "[dependencies.countersign-store]\npath = \"../store\"\n",
        &["crates/models/Cargo.toml:7: edges: `models` may not use `store`"],
    );
    check_body(
        "app",
        "[dependencies]\nxtask = { path = \"../../xtask\" }\n",
        &["crates/app/Cargo.toml:8: edges: `app` may not use `xtask`"],
    );
}

#[test]
fn an_optional_dependency_is_one() {
    let body = "[dependencies]\ncountersign-local = { path = \"../local\", optional = true }\n\n\
        [features]\nlocal = [\"dep:countersign-local\"]\n";
    check_body("app", body, &[]);
    check_body("tools", body, &["crates/tools/Cargo.toml:8: edges: `tools` may not use `local`"]);
}

#[test]
fn a_new_name_hides_nothing() {
    check_body(
        "store",
        "[dependencies]\nledger = { package = \"countersign-tools\", path = \"../tools\" }\n",
        &["crates/store/Cargo.toml:8: edges: `store` may not use `tools`"],
    );
    let root =
        "[workspace.dependencies]\nledger = { package = \"countersign-tools\", path = \"crates/tools\" }\n";
    let store = manifest("store", "[dependencies]\nledger.workspace = true\n");
    let own = manifest("memory", "[dependencies]\nledger = \"1\"\n");
    check_files(
        &[File::new("Cargo.toml", root), store, own],
        &["crates/store/Cargo.toml:8: edges: `store` may not use `tools`"],
    );
    check_body(
        "record",
        "[dependencies]\nserde = { package = \"serde_json\", version = \"1\" }\n",
        &[
            "crates/record/Cargo.toml:8: externals: `serde_json` is not on the allow-list of the pure crate `record`",
        ],
    );
}

#[test]
fn testkit_is_a_dev_dependency_and_nothing_else_is_excused() {
    check_body(
        "record",
        "[dev-dependencies]\ncountersign-testkit.workspace = true\nserde_json = \"1\"\n",
        &[],
    );
    check_body(
        "store",
        "[dependencies]\ncountersign-testkit.workspace = true\n",
        &["crates/store/Cargo.toml:8: edges: `store` may not use `testkit`"],
    );
    check_body(
        "kernel",
        "[dev-dependencies]\ncountersign-runtime.workspace = true\n",
        &["crates/kernel/Cargo.toml:8: edges: `kernel` may not use `runtime`"],
    );
    check_body("store", "[dev-dependencies]\ncountersign-views.workspace = true\n", &[]);
    check_body(
        "store",
        "[dependencies]\ncountersign-views.workspace = true\n",
        &["crates/store/Cargo.toml:8: edges: `store` may not use `views`"],
    );
    check_body(
        "testkit",
        "[dependencies]\ncountersign-app.workspace = true\ncountersign-store.workspace = true\n",
        &["crates/testkit/Cargo.toml:8: edges: `testkit` may not use `app`"],
    );
}

#[test]
fn pure_crates_use_what_their_list_allows() {
    check_body("record", "[dependencies]\nsha2 = \"0.11\"\n", &[]);
    check_body("store", "[dependencies]\nrusqlite = \"0.41\"\n", &[]);
    check_body("views", "[dev-dependencies]\ninsta = \"1\"\n", &[]);
    check_body(
        "views",
        "[target.'cfg(unix)'.dependencies]\nsha2 = \"0.11\"\n",
        &["crates/views/Cargo.toml:8: externals: `sha2` is not on the allow-list of the pure crate `views`"],
    );
    check_body(
        "govern",
        "[build-dependencies]\ncc = \"1\"\n",
        &["crates/govern/Cargo.toml:8: externals: `cc` is not on the allow-list of the pure crate `govern`"],
    );
}

#[test]
fn a_package_needs_a_row_and_its_own_name() {
    check_files(
        &[manifest("plugins", "")],
        &["crates/plugins/Cargo.toml:2: edges: package `countersign-plugins` has no row in the map"],
    );
    check_files(
        &[File::new("crates/store/inner/Cargo.toml", "[package]\nname = \"inner\"\n")],
        &["crates/store/inner/Cargo.toml:2: edges: package `inner` has no row in the map"],
    );
    check_files(&[File::new("crates/store/tests/fixtures/a/Cargo.toml", "[package]\nname = \"a\"\n")], &[]);
    check_files(
        &[File::new("fuzz/Cargo.toml", "lints.workspace = true\n[package]\nname = \"countersign-fuzz\"\n")],
        &[],
    );
    check_files(
        &[File::new("xtask/Cargo.toml", "lints.workspace = true\n[package]\nname = \"xtask\"\n")],
        &[],
    );
    check_files(
        &[File::new("crates/testkit/Cargo.toml", "lints.workspace = true\n[package]\nname = \"testkit\"\n")],
        &[
            "crates/testkit/Cargo.toml:3: edges: package `testkit` lies in the directory of `countersign-testkit`",
        ],
    );
    check_files(
        &[File::new("crates/store/Cargo.toml", "lints.workspace = true\n[package]\nname = \"ledger\"\n")],
        &["crates/store/Cargo.toml:3: edges: package `ledger` lies in the directory of `countersign-store`"],
    );
}

#[test]
fn the_workspace_lints_hold_everywhere() {
    let head = "[package]\nname = \"countersign-store\"\n";
    let own_lints = format!("{head}[lints.clippy]\ndisallowed_methods = \"allow\"\n");
    check_files(
        &[File::new("crates/store/Cargo.toml", &own_lints)],
        &["crates/store/Cargo.toml:1: lints: the workspace lints do not apply here"],
    );
    check_files(
        &[File::new("xtask/Cargo.toml", "[package]\nname = \"xtask\"\n")],
        &["xtask/Cargo.toml:1: lints: the workspace lints do not apply here"],
    );
    check_files(
        &[File::new("fuzz/Cargo.toml", "[package]\nname = \"countersign-fuzz\"\n")],
        &["fuzz/Cargo.toml:1: lints: the workspace lints do not apply here"],
    );
}

#[test]
fn a_pure_crate_keeps_its_root_where_it_is_checked() {
    let body = "[lib]\nbench = false\npath = \"src/other.rs\"\n";
    check_body("store", body, &[]);
    check_body("views", "[lib]\nbench = false\n", &[]);
    check_body(
        "views",
        body,
        &["crates/views/Cargo.toml:9: no_std: the pure crate `views` moves its root away from src/lib.rs"],
    );
}

#[test]
fn a_pure_crate_names_no_build_script() {
    let check_build = |dir: &str, build: &str, expected: &[&str]| {
        let text =
            format!("lints.workspace = true\n[package]\nname = \"countersign-{dir}\"\nbuild = {build}\n");
        check_files(&[File::new(&format!("crates/{dir}/Cargo.toml"), &text)], expected);
    };
    let found = &["crates/kernel/Cargo.toml:4: purity: the pure crate `kernel` has a build script"];
    check_build("kernel", "\"other.rs\"", found);
    check_build("kernel", "true", found);
    check_build("kernel", "false", &[]);
    check_build("store", "\"other.rs\"", &[]);
}

#[test]
fn a_manifest_that_is_no_toml_is_named_with_its_line() {
    check_files(
        &[File::new("crates/store/Cargo.toml", "[package]\nname = countersign\n")],
        &[
            "crates/store/Cargo.toml:2: parse: cannot be read as TOML: string values must be quoted, expected literal string",
        ],
    );
}

#[test]
fn the_fix_says_what_the_crate_may_use() {
    let problems = check(&[manifest("kernel", "[dependencies]\ncountersign-views.workspace = true\n")]);
    assert_eq!(
        problems[0].to_string(),
        "crates/kernel/Cargo.toml:8: edges: `kernel` may not use `views` \
         (it may use record, and may not do I/O or see time)"
    );
}

#[test]
fn a_package_that_may_ask_for_unsafe_has_every_other_lint() {
    let root = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\nunused_must_use = \"deny\"\n";
    let wrong =
        "crates/mapped/Cargo.toml:1: lints: the lints are not the workspace's with `unsafe_code = \"deny\"`";
    let check_lints = |lints: &str, expected: &[&str]| {
        let manifest = format!("[package]\nname = \"countersign-mapped\"\n\n{lints}");
        check_files(
            &[File::new("Cargo.toml", root), File::new("crates/mapped/Cargo.toml", &manifest)],
            expected,
        );
    };
    check_lints("[lints.rust]\nunused_must_use = \"deny\"\nunsafe_code = \"deny\"\n", &[]);
    check_lints("[lints.rust]\nunsafe_code = \"deny\"\n", &[wrong]);
    check_lints("[lints.rust]\nunused_must_use = \"deny\"\nunsafe_code = \"allow\"\n", &[wrong]);
    check_lints("[lints]\nworkspace = true\n", &[wrong]);
    check_lints("", &[wrong]);
}
