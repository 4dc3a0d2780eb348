//! `codes`: a page for every code that a user can meet.
//! Owns: how the table reads as pages. Must not: say anything that the table does not.

use std::collections::BTreeMap;

use countersign_govern::check::{Area, Rule, rules};
use countersign_record::code::{Code, Entry};

use crate::generated::Directory;

const INDEX: &str = "README.md";
const OPENING: &str = "\
# Codes

Every error, warning and finding of Countersign has a stable code: once released it keeps its meaning. `countersign explain CODE` prints
the same page.

*Generated from the table in `record` and the rules in `govern` by `cargo run -p xtask -- codes`; do not edit.*
";

/// What `docs/codes/` should hold.
pub(crate) fn directory() -> Directory {
    let mut files = BTreeMap::new();
    let mut areas: BTreeMap<&str, Vec<Entry>> = BTreeMap::new();
    for code in Code::ALL {
        let entry = code.entry();
        files.insert(format!("{}.md", entry.name), page(&entry));
        areas.entry(entry.area).or_default().push(entry);
    }
    for (area, rule) in rules() {
        files.insert(format!("validation.{}.md", rule.code), rule_page(area, rule));
    }
    files.insert(INDEX.to_owned(), index(&areas));
    Directory { task: "codes", path: "docs/codes", files }
}

fn page(entry: &Entry) -> String {
    let Entry { name, area: _, severity, title, explanation, fix } = entry;
    format!(
        "# {title}\n\n\
         | | |\n|---|---|\n| code | `{name}` |\n| severity | {severity} |\n\n\
         ## What it means\n\n{explanation}\n\n\
         ## How to fix it\n\n{fix}\n",
        severity = severity.as_str(),
    )
}

fn rule_page(area: &Area, rule: &Rule) -> String {
    let Rule { code, severity, section, fires, legal, why, fix, check: _ } = rule;
    format!(
        "# {title}\n\n\
         | | |\n|---|---|\n| code | `validation.{code}` |\n| severity | {severity} |\n| area | {area} |\n| contract | {section} |\n\n\
         ## What fires it\n\n{fires}\n\n\
         ## What comes closest and is legal\n\n{legal}\n\n\
         ## Why it matters\n\n{why}\n\n\
         ## How to fix it\n\n{fix}\n\n\
         Both cases stand in `conformance/{area}/{code}/`.\n",
        title = rule.title(),
        severity = severity.as_str(),
        area = area.name,
    )
}

fn index(areas: &BTreeMap<&str, Vec<Entry>>) -> String {
    let mut text = OPENING.to_owned();
    for (area, entries) in areas {
        text.push_str(&format!("\n## {area}\n\n| code | severity | title |\n|---|---|---|\n"));
        for Entry { name, severity, title, .. } in entries {
            text.push_str(&format!("| [`{name}`]({name}.md) | {} | {title} |\n", severity.as_str()));
        }
    }
    let mut last = "";
    for (area, rule) in rules() {
        if area.name != last {
            text.push_str(&format!(
                "\n## validation: {}\n\n| code | severity |\n|---|---|\n",
                area.name.replace('_', " ")
            ));
            last = area.name;
        }
        text.push_str(&format!(
            "| [`validation.{code}`](validation.{code}.md) | {} |\n",
            rule.severity.as_str(),
            code = rule.code
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_page() {
        crate::generated::assert_up_to_date(&directory());
    }

    #[test]
    fn every_page_is_in_the_index_and_teaches() {
        let directory = directory();
        assert_eq!(directory.files.len(), Code::ALL.len() + rules().count() + 1);
        for code in Code::ALL {
            let entry = code.entry();
            let page = &directory.files[&format!("{}.md", entry.name)];
            for part in [entry.name, entry.title, entry.explanation, entry.fix, entry.severity.as_str()] {
                assert!(page.contains(part), "{} does not say {part:?}", entry.name);
            }
            assert!(directory.files[INDEX].contains(&format!("({}.md)", entry.name)), "{}", entry.name);
            // A bar in a title would end its column.
            assert!(!entry.title.contains('|'), "{}", entry.name);
        }
    }
}
