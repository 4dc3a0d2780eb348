//! The words by which a prompt is shaped.
//! Owns: the tables. Must not: decide.

/// Headers that a prompt may give itself.
pub(super) const HEADERS: [&str; 7] =
    ["system", "audience", "purpose", "tone", "confidence", "response depth", "output format"];

/// What is to be done, and what people say for it.
#[rustfmt::skip] // an intent a line
pub(super) const INTENTS: &[(&str, &[&str])] = &[
    ("trace_flow", &["trace", "follow the flow", "call path", "data flow"]),
    ("analyze_code", &["analyze", "analyse", "debug", "profile", "inspect the code"]),
    ("summarize", &["summarize", "summarise", "summary", "sum up", "overview", "tl dr"]),
    ("compare", &["compare", "difference between", "differences between", "versus", "contrast"]),
    ("review", &["review", "check", "verify", "audit", "validate", "assess"]),
    ("draft", &["write", "draft", "compose", "prepare", "create", "generate"]),
    ("change", &["fix", "change", "refactor", "implement", "add", "remove", "update", "rename", "migrate"]),
    ("explain", &["explain", "describe", "clarify"]),
    ("find", &["find", "locate", "list", "search", "show me"]),
    ("plan", &["plan", "outline", "schedule"]),
];

/// Words that begin a question.
pub(super) const QUESTIONS: [&str; 18] = [
    "what", "when", "where", "who", "whom", "whose", "which", "why", "how", "is", "are", "does", "do", "did",
    "can", "may", "must", "was",
];

/// Words that mean something that was said before.
pub(super) const POINTERS: [&str; 10] =
    ["it", "that", "this", "them", "these", "those", "they", "there", "he", "she"];

/// Words that say nothing of what is asked for.
#[rustfmt::skip] // words in rows
pub(super) const FILLERS: [&str; 58] = [
    "a", "again", "all", "also", "an", "and", "any", "are", "as", "at", "be", "but", "by", "can", "could", "did", "do",
    "does", "for", "from", "hello", "help", "hey", "hi", "how", "i", "in", "is", "just", "like", "me", "my", "need",
    "now", "of", "ok", "on", "or", "please", "say", "so", "some", "something", "tell", "thanks", "the", "thing", "to", "us",
    "want", "was", "we", "what", "why", "with", "would", "yes", "you",
];

/// What a prompt may be about.
#[rustfmt::skip] // a domain a line
pub(super) const DOMAINS: &[(&str, &[&str])] = &[
    ("code", &["code", "function", "class", "method", "bug", "compile", "test", "api", "module", "refactor", "repository", "variable", "crate", "library"]),
    ("legal", &["contract", "lease", "clause", "agreement", "liability", "tenant", "landlord", "termination", "breach", "indemnity", "court", "law", "party"]),
    ("finance", &["budget", "invoice", "payment", "revenue", "cost", "price", "tax", "audit", "expense", "margin", "forecast"]),
    ("security", &["password", "encryption", "vulnerability", "breach", "authentication", "access", "key", "token", "threat"]),
    ("operations", &["incident", "outage", "deployment", "server", "backup", "monitoring", "latency", "rollback", "alert"]),
    ("people", &["employee", "leave", "holiday", "salary", "hiring", "training", "performance", "vacation"]),
];

/// Forms of an answer, and what people say for them.
#[rustfmt::skip] // a form a line
pub(super) const FORMATS: &[(&str, &[&str])] = &[
    ("JSON", &["json"]),
    ("a table", &["table", "tabular", "csv"]),
    ("a list", &["bullet", "bullets", "bullet points", "list", "checklist"]),
    ("code", &["code block", "script"]),
    ("Markdown", &["markdown"]),
];
