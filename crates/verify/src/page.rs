//! A packet as one page for people: it reads on a phone and on paper, and needs nothing but itself.
//! Owns: its structure and its looks. Must not: run anything, fetch anything, or let a text of the packet be more than a text.

mod text;

use crate::summary::{Claim, Criterion, Decision, Outcome, Summary};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::sign::PublicKey;
use text::{escaped, paragraph};

/// What the page may load: nothing but its own style.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("page/style.css");

/// What goes with a summary on its page.
pub struct Besides<'a> {
    /// The keys that signed the packet's file.
    pub signers: &'a [PublicKey],
    /// SHA-256 of the file.
    pub file_sha256: &'a str,
    /// The file itself, if it is to be on the page.
    pub envelope: Option<&'a str>,
}

/// The page.
#[must_use]
pub fn html(summary: &Summary, besides: &Besides<'_>) -> String {
    let mut page = String::new();
    let title = escaped(&summary.title);
    page.push_str(&format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title} · reliance packet</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    ));
    page.push_str(&header(summary));
    page.push_str("<main>\n");
    for part in [limits(summary), outcomes(summary), claims(summary), decisions(summary), sources(summary)] {
        page.push_str(&part);
    }
    page.push_str(&budget(summary));
    page.push_str(&checkpoints(summary));
    page.push_str("</main>\n");
    page.push_str(&footer(summary, besides));
    page.push_str("</body>\n</html>\n");
    page
}

fn section(id: &str, heading: &str, body: &str) -> String {
    format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{heading}</h2>\n{body}</section>\n")
}

/// How a status looks: its words always say it too.
fn tone(status: &str) -> &'static str {
    match status {
        "safe_to_rely_within_scope" | "supported" | "satisfied" => "good",
        "rely_with_limitations" | "partially_supported" => "limited",
        "not_safe_to_rely" | "contradicted" | "unsupported" | "superseded" => "bad",
        _open => "open",
    }
}

fn header(summary: &Summary) -> String {
    let products: Vec<String> = summary
        .products
        .iter()
        .map(|one| {
            format!("<li><code>{}</code>, version {}</li>\n", escaped(&one.name), escaped(&one.version))
        })
        .collect();
    format!(
        "<header>\n<p class=\"kind\">Reliance packet</p>\n<h1>{}</h1>\n{}{}\
         <dl class=\"facts\">\n<div><dt>Scope</dt><dd>{}</dd></div>\n\
         <div><dt>The packet is</dt><dd>{}</dd></div>\n<div><dt>Made</dt><dd>{} by {}</dd></div>\n</dl>\n\
         <ul class=\"products\">\n{}</ul>\n</header>\n",
        escaped(&summary.title),
        paragraph(&summary.goal),
        status(summary),
        escaped(&summary.scope),
        escaped(&summary.lifecycle),
        escaped(&summary.origin.made_at),
        escaped(&summary.origin.made_by),
        products.concat(),
    )
}

/// How far the work may be relied on; that it may not any more comes before what was so when the packet was made.
fn status(summary: &Summary) -> String {
    let (words, explanation) = (escaped(&summary.status_words), escaped(&summary.explanation));
    match &summary.fallen {
        None => format!(
            "<p class=\"status {}\"><strong>{words}</strong> {explanation}</p>\n",
            tone(&summary.status)
        ),
        Some(why) => format!(
            "<p class=\"status bad\"><strong>This packet no longer holds: {}.</strong> Do not rely on the work. \
             When the packet was made it said: {words}</p>\n",
            escaped(why)
        ),
    }
}

fn limits(summary: &Summary) -> String {
    let mut body = String::new();
    if let Some(why) = &summary.fallen {
        body.push_str(&format!("<p>The packet no longer holds: {}.</p>\n", escaped(why)));
    } else if let Some(open) = &summary.still_open {
        let open = escaped(open);
        body.push_str(&format!("<p>Nothing in the records blocks relying on the work; {open}:</p>\n"));
    } else if summary.limitations.is_empty() && summary.findings.is_empty() && summary.withheld.is_empty() {
        body.push_str(match tone(&summary.status) {
            "good" => "<p>None: nothing in the records blocks relying on the work within its scope.</p>\n",
            _not_safe => "<p>None besides what the status says.</p>\n",
        });
    }
    if let Some(changed) = &summary.changed {
        body.push_str(&format!(
            "<p class=\"finding\"><span class=\"tag limited\">note</span> W{}. The status is that of the task as it was changed; \
             what differs stands with the outcomes.</p>\n",
            escaped(changed.strip_prefix('w').unwrap_or(changed))
        ));
    }
    let items: Vec<String> =
        summary.limitations.iter().map(|one| format!("<li>{}</li>\n", escaped(one))).collect();
    if !items.is_empty() {
        body.push_str(&format!("<ul>\n{}</ul>\n", items.concat()));
    }
    for one in &summary.findings {
        body.push_str(&format!(
            "<p class=\"finding\"><span class=\"tag\">{}</span> {} <span class=\"aside\">{}</span></p>\n",
            escaped(&one.severity),
            escaped(&one.text),
            escaped(&one.explanation)
        ));
    }
    if !summary.withheld.is_empty() {
        let rows: Vec<String> = summary
            .withheld
            .iter()
            .map(|one| {
                let (digest, reason) = (one.sha256.to_string(), escaped(&one.reason));
                format!("<li><code>{digest}</code>, {} bytes: {reason}</li>\n", one.bytes)
            })
            .collect();
        body.push_str(&format!(
            "<p>Texts that are not in the packet, by their SHA-256:</p>\n<ul class=\"hashes\">\n{}</ul>\n",
            rows.concat()
        ));
    }
    section("limitations", "Limitations", &body)
}

fn outcomes(summary: &Summary) -> String {
    let rows: Vec<String> = summary.outcomes.iter().map(|one| outcome(summary, one)).collect();
    let of_task = changed(summary, None);
    let body = format!(
        "{of_task}<table>\n<thead><tr><th scope=\"col\">Outcome</th><th scope=\"col\">How it stands</th></tr></thead>\n\
         <tbody>\n{}</tbody>\n</table>\n",
        rows.concat()
    );
    section("outcomes", "What was asked for", &body)
}

fn outcome(summary: &Summary, one: &Outcome) -> String {
    let criterion = |one: &Criterion| {
        let must = if one.required { "required, " } else { "" };
        format!(
            "<li>{} <span class=\"aside\">{must}threshold {}</span></li>\n",
            escaped(&one.text),
            escaped(&one.threshold)
        )
    };
    let criteria: Vec<String> = one.criteria.iter().map(criterion).collect();
    format!(
        "<tr><td>{} <span class=\"aside\">threshold {}</span>\n<ul class=\"criteria\">\n{}</ul>\n{}</td>\
         <td><span class=\"tag {}\">{}</span></td></tr>\n",
        escaped(&one.statement),
        escaped(&one.threshold),
        criteria.concat(),
        changed(summary, Some(&one.id)),
        tone(&one.state),
        escaped(&one.words)
    )
}

/// What people changed of an outcome, or of what belongs to none.
fn changed(summary: &Summary, outcome: Option<&str>) -> String {
    let own = summary.changes.iter().filter(|one| one.outcome.as_deref() == outcome);
    let line = |one: &crate::summary::Change| {
        let tone = if one.is_less { "bad" } else { "limited" };
        let (by, words) = (escaped(&one.by), escaped(&one.words(ToString::to_string)));
        format!("<p class=\"change\"><span class=\"tag {tone}\">changed by {by}</span> {words}</p>\n")
    };
    own.map(line).collect()
}

fn claims(summary: &Summary) -> String {
    if summary.claims.is_empty() {
        return section("claims", "Claims", "<p>The work makes no claims that rest on sources.</p>\n");
    }
    let of = |status: &str| summary.claims.iter().filter(|one| one.status == status).count();
    let (supported, unheld) = (of("supported"), of("not_checked"));
    let besides = match unheld {
        0 => String::new(),
        1 => " One part that is no sentence is not held against the sources.".to_string(),
        many => format!(" {many} parts that are no sentences are not held against the sources."),
    };
    let rows: Vec<String> = summary.claims.iter().enumerate().map(|(at, one)| claim(at + 1, one)).collect();
    let body = format!(
        "<p>{supported} of {} claims stand in the sources.{besides}</p>\n<table class=\"claims\">\n<thead><tr>\
         <th scope=\"col\">Claim</th><th scope=\"col\">Support</th><th scope=\"col\">Where it stands</th></tr></thead>\n\
         <tbody>\n{}</tbody>\n</table>\n",
        summary.claims.len() - unheld,
        rows.concat()
    );
    section("claims", "Claims", &body)
}

fn claim(number: usize, claim: &Claim) -> String {
    let place = match &claim.section {
        Some(heading) => format!("{}, “{}”", claim.product, heading),
        None => claim.product.clone(),
    };
    let text = claim.text.as_deref().map_or("<em>The text is withheld.</em>".to_string(), escaped);
    let quotes: Vec<String> = claim
        .places
        .iter()
        .map(|one| {
            let quote = one.quote.as_deref().map_or("<em>The text is withheld.</em>".to_string(), escaped);
            format!(
                "<figure><blockquote>{quote}</blockquote><figcaption>{} {}: <code>{}</code></figcaption></figure>\n",
                escaped(&one.source),
                escaped(&one.bears),
                escaped(&one.at)
            )
        })
        .collect();
    let quotes =
        if quotes.is_empty() { "<p class=\"aside\">Nowhere.</p>\n".to_string() } else { quotes.concat() };
    format!(
        "<tr><td data-label=\"Claim {number}\"><p>{text}</p><p class=\"aside\">{}</p></td>\
         <td data-label=\"Support\"><span class=\"tag {}\">{}</span></td>\
         <td data-label=\"Where it stands\">{quotes}</td></tr>\n",
        escaped(&place),
        tone(&claim.status),
        escaped(&claim.words)
    )
}

fn decisions(summary: &Summary) -> String {
    let mut people: Vec<&str> = Vec::new();
    for one in &summary.decisions {
        if !people.contains(&one.who.as_str()) {
            people.push(&one.who);
        }
    }
    let body = match summary.decisions.len() {
        0 => "<p>The records of the run hold no decision of a person.</p>\n".to_string(),
        many => {
            let all: Vec<String> = summary.decisions.iter().map(decision).collect();
            let count = if many == 1 { "One decision".to_string() } else { format!("{many} decisions") };
            let people = escaped(&people.join(", "));
            format!(
                "<p>{count}, by {people}, in the order of the log.</p>\n<ol class=\"decisions\">\n{}</ol>\n",
                all.concat()
            )
        }
    };
    section("decisions", "Decisions", &body)
}

fn decision(one: &Decision) -> String {
    let mut item = String::from("<li>\n");
    match &one.answered {
        Some(answered) => {
            let consequence = answered.consequence.as_deref().map(|text| format!(": {}", escaped(text)));
            item.push_str(&format!(
                "<p class=\"question\">{}</p>\n<p><strong>{}</strong>{}</p>\n",
                escaped(&answered.question),
                escaped(&answered.answer),
                consequence.unwrap_or_default()
            ));
        }
        None => item.push_str(&format!("<p class=\"question\">{}</p>\n", escaped(&one.what))),
    }
    if !one.about.is_empty() {
        let about: Vec<String> =
            one.about.iter().map(|text| format!("<li>{}</li>\n", escaped(text))).collect();
        item.push_str(&format!("<ul>\n{}</ul>\n", about.concat()));
    }
    if let Some(why) = &one.why {
        item.push_str(&format!("<p>Why: {}</p>\n", escaped(why)));
    }
    let command = one.command.as_deref().map(|id| format!(", <code>{}</code>", escaped(id)));
    item.push_str(&format!(
        "<p class=\"aside\">{} ({}), {}, row {}{}</p>\n</li>\n",
        escaped(&one.who),
        escaped(&one.proof),
        escaped(&one.at),
        one.row,
        command.unwrap_or_default()
    ));
    item
}

fn sources(summary: &Summary) -> String {
    let rows: Vec<String> = summary
        .sources
        .iter()
        .map(|one| {
            let verified = one.verified_by.as_deref().map_or("nobody".to_string(), escaped);
            let until = one.fresh_until.as_deref().map_or("no end is set".to_string(), escaped);
            format!(
                "<tr><td>{}<br><code>{}</code></td><td>{verified}</td><td>{until}</td></tr>\n",
                escaped(&one.title),
                escaped(&one.path)
            )
        })
        .collect();
    let body = format!(
        "<table>\n<thead><tr><th scope=\"col\">Source</th><th scope=\"col\">Verified by</th>\
         <th scope=\"col\">Holds until</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
        rows.concat()
    );
    section("sources", "Sources", &body)
}

fn budget(summary: &Summary) -> String {
    let Some(budget) = &summary.budget else { return String::new() };
    let mut body = format!("{}{}", paragraph(&budget.summary), paragraph(&budget.compared));
    if !budget.skipped.is_empty() {
        let all: Vec<String> = budget.skipped.iter().map(|one| escaped(one)).collect();
        body.push_str(&format!("<p>Left out: {}.</p>\n", all.join(", ")));
    }
    body.push_str(&paragraph(&budget.impact));
    section("budget", "What it cost", &body)
}

fn checkpoints(summary: &Summary) -> String {
    if summary.checkpoints.is_empty() {
        return String::new();
    }
    let rows: Vec<String> = summary
        .checkpoints
        .iter()
        .map(|one| {
            let versions: Vec<String> = one.versions.iter().map(|one| escaped(one)).collect();
            format!(
                "<li>{}: {} <span class=\"aside\">{}</span></li>\n",
                escaped(&one.label),
                versions.join(", "),
                escaped(&one.at)
            )
        })
        .collect();
    section("checkpoints", "Known good states", &format!("<ul>\n{}</ul>\n", rows.concat()))
}

fn footer(summary: &Summary, besides: &Besides<'_>) -> String {
    let origin = &summary.origin;
    let mut rows: Vec<(String, String)> =
        summary.products.iter().map(|one| (escaped(&one.name), one.sha256.to_string())).collect();
    for one in &summary.sources {
        rows.push((escaped(&one.path), one.sha256.as_deref().map_or("not told".to_string(), escaped)));
    }
    rows.push(("What the packet lists".to_string(), escaped(&origin.manifest_hash)));
    rows.push((
        format!("Last row of the ledger ({} to {})", origin.first_seq, origin.head.seq),
        origin.head.hash.to_string(),
    ));
    rows.push((
        "Statement".to_string(),
        origin.statement_sha256.map_or(String::new(), |one| one.to_string()),
    ));
    rows.push(("File of the packet".to_string(), escaped(besides.file_sha256)));
    for key in besides.signers {
        rows.push(("Signed with the key".to_string(), key.to_string()));
    }
    let rows: Vec<String> = rows
        .into_iter()
        .map(|(name, hash)| format!("<div><dt>{name}</dt><dd><code>{hash}</code></dd></div>\n"))
        .collect();
    let envelope = besides.envelope.map(|text| {
        format!(
            "<details>\n<summary>The signed file (DSSE envelope)</summary>\n<p>Save it as <code>packet.json</code> and run \
             <code>countersign verify packet.json</code>.</p>\n<pre class=\"envelope\">{}</pre>\n</details>\n",
            escaped(text)
        )
    });
    format!(
        "<footer>\n<h2 id=\"hashes\">Hashes</h2>\n<p>This page is a picture of a signed file and proves nothing by itself. \
         <code>countersign verify</code> checks the file without this page, without a network and without the data it comes from: \
         every hash, link and signature, and every score, status and list derived again from the texts.</p>\n\
         <dl class=\"hashes\">\n{}</dl>\n<p class=\"aside\">Run <code>{}</code> of matter <code>{}</code>, packet <code>{}</code>, \
         made with {}. Hashes are SHA-256.</p>\n{}</footer>\n",
        rows.concat(),
        escaped(&origin.run),
        escaped(&origin.matter),
        escaped(&origin.packet_id),
        escaped(&origin.made_with),
        envelope.unwrap_or_default()
    )
}
