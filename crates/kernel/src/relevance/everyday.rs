//! Everyday English: several words that mean one, words that a document may do without, names of countries.
//! Owns: the tables. Must not: hold what only one kind of document says.

/// Several words that mean one.
#[rustfmt::skip] // a phrase a line would be a page
pub(super) const PHRASES: &[(&str, &str)] = &[
    ("rule on", "decide"), ("rules on", "decides"), ("on duty", "on call"), ("chip in", "contribute"), ("chips in", "contributes"), ("pitch in", "contribute"), ("hard drive", "disk"), ("hard drives", "disks"),
    ("drop off", "deliver"), ("dropped off", "delivered"), ("sign off", "approve"), ("signs off", "approves"), ("fill in", "complete"),
    ("phase out", "discontinue"), ("phased out", "discontinued"), ("let go", "dismiss"), ("opt out", "terminate"), ("log in", "login"),
    ("e mail", "email"), ("made public", "published"), ("make public", "publish"), ("on our behalf", ""), ("take over", "carry over"),
    ("run out", "expire"), ("runs out", "expire"), ("ran out", "expired"), ("stop working", "expire"),
    ("come to an end", "end"), ("is over", "ends"), ("are over", "end"), ("get out of", "terminate"), ("back out of", "terminate"),
    ("call in sick", "report sick"), ("hand back", "return"), ("give back", "return"), ("get back", "return"), ("hand in", "submit"),
    ("hand over", "deliver"), ("kick in", "start"), ("kicking in", "starting"), ("set off", "start"), ("go up", "increase"),
    ("goes up", "increases"), ("went up", "increased"), ("go down", "decrease"), ("went down", "decreased"),
    ("look after", "maintain"), ("looks after", "maintains"), ("take care of", "maintain"), ("take place", "happen"),
    ("put off", "postpone"), ("call off", "cancel"), ("set up", "create"), ("carry out", "perform"), ("carried out", "performed"),
    ("find out", "discover"), ("found out", "discovered"), ("turn down", "reject"), ("turned down", "rejected"),
    ("turn off", "switch off"), ("shut down", "switch off"), ("roll back", "rollback"), ("rolled back", "rollback"),
    ("break down", "fail"), ("broke down", "failed"), ("good enough", "accepted"), ("in charge of", "responsible for"),
    ("working from home", "remote"), ("work from home", "remote"), ("days off", "holiday"), ("time off", "leave"),
    ("far ahead", "before"), ("in advance", "before"), ("ahead of", "before"), ("as well as", "and"), ("go to court", "court"),
    ("internet facing", "internet"), ("per annum", "yearly"), ("at most", "maximum"), ("at least", "minimum"),
];

/// Words of everyday that a document may well do without: it says the same with others, or leaves them out.
#[rustfmt::skip] // words in rows
pub(super) const LIGHT: &[&str] = &[
    "accept", "act", "actual", "additional", "affect", "allow", "allowed", "always", "amount", "apply", "arrange", "ask", "available",
    "bad", "become", "becomes", "became", "begin", "belong", "best", "better", "big", "bring", "brought", "call", "called", "carry",
    "case", "change", "choose", "close", "come", "comes", "consider", "contain", "continue", "correct", "cover", "day",
    "deal", "decide", "detail", "different", "down", "early", "easy", "entire", "even", "evening", "exact", "expect", "extra",
    "fast", "feel", "few", "final", "first", "follow", "free", "full", "general", "good", "great", "handle", "handled", "hard",
    "help", "high", "hold", "hour", "important", "include", "included", "involve", "keep", "kept", "know", "large", "last",
    "lead", "least", "leave", "less", "let", "light", "like", "little", "look", "lot", "low", "main", "make", "makes", "made",
    "manner", "matter", "mean", "means", "meant", "minute", "missing", "moment", "month", "morning", "move", "name", "new",
    "next", "night", "normal", "normally", "occur", "old", "open", "order", "particular", "partner", "party", "pass", "people", "person",
    "place", "possible", "previous", "provide", "quick", "quickly", "reach", "ready", "real", "receive", "regular", "relevant",
    "remain", "right", "rule", "run", "second", "see", "seen", "send", "serious", "set", "several", "short", "show", "simple",
    "single", "small", "special", "stand", "start", "state", "stay", "step", "stop", "sure", "system", "systems", "take", "takes",
    "taken", "took", "talk", "thing", "think", "time", "today", "together", "total", "treat", "treated", "try", "turn", "usual",
    "usually", "valid", "value", "various", "want", "way", "ways", "week", "weekend", "whenever", "whole", "work", "working", "works", "worse",
    "wrong", "year", "young",
];

/// What is done: documents often have another word for it.
#[rustfmt::skip] // words in rows
pub(super) const VERBS: &[&str] = &[
    "achieve", "add", "agree", "aim", "announce", "appear", "apply", "arrive", "assess", "assume", "attach", "attend", "avoid",
    "belong", "block", "borrow", "break", "build", "buy", "calculate", "cancel", "cause", "check", "claim", "clean", "collect",
    "compare", "complain", "complete", "conclude", "conduct", "confirm", "connect", "consist", "contact", "cool", "count", "cross", "cut",
    "define", "delay", "deliver", "demand", "depend", "destroy", "detect", "determine", "discover", "discuss", "divide", "drive", "drop",
    "eat", "emerge", "employ", "enable", "end", "ensure", "enter", "establish", "exceed", "exclude", "exist", "expire", "fail", "fall", "fill",
    "finish", "fit", "fix", "forget", "form", "gain", "grant", "grow", "guarantee", "happen", "hear", "hire", "hit", "identify",
    "improve", "increase", "inform", "inspect", "install", "insure", "issue", "join", "justify", "lack", "last", "learn", "lend", "lift",
    "limit", "live", "lose", "maintain", "manage", "measure", "meet", "mention", "monitor", "notice", "notify", "obtain", "offer",
    "operate", "organise", "own", "park", "participate", "pay", "perform", "permit", "pick", "plan", "prepare", "prevent", "print", "produce",
    "prohibit", "propose", "protect", "prove", "publish", "pull", "push", "raise", "read", "reduce", "refer", "refuse", "register",
    "reject", "release", "rely", "remove", "repair", "replace", "reply", "report", "represent", "request", "require", "resign",
    "resolve", "respond", "restore", "return", "review", "rise", "save", "schedule", "sell", "separate", "serve", "settle", "share",
    "shorten", "sign", "sit", "speak", "spend", "store", "submit", "suffer", "suggest", "supply", "support", "survive", "switch", "teach",
    "terminate", "test", "touch", "train", "transfer", "travel", "use", "verify", "visit", "vote", "wait", "warn", "wear", "win", "write",
];

/// Names of countries: whoever asks about one may be answered about countries.
#[rustfmt::skip] // words in rows
pub(super) const COUNTRIES: &[&str] = &[
    "argentina", "australia", "austria", "belgium", "brazil", "bulgaria", "canada", "chile", "china", "colombia", "croatia",
    "cyprus", "denmark", "egypt", "england", "estonia", "finland", "france", "germany", "greece", "hungary", "iceland", "india",
    "indonesia", "ireland", "israel", "italy", "japan", "kenya", "latvia", "lithuania", "luxembourg", "malaysia", "malta", "mexico",
    "morocco", "netherlands", "nigeria", "norway", "peru", "poland", "portugal", "romania", "russia", "scotland", "serbia",
    "singapore", "slovakia", "slovenia", "spain", "sweden", "switzerland", "thailand", "tunisia", "turkey", "ukraine", "vietnam",
];
