//! Words that random bytes would never spell.
//! Owns: the tokens of JSON and of each target. Must not: know what a parser does with them.

/// Tokens for every target: structure, escapes, numbers at the edges, text that looks like something else.
pub(crate) const COMMON: &[&[u8]] = &[
    b"{", b"}", b"[", b"]", b":", b",", b"\"", b"\\", b"null", b"true", b"false", b"{}", b"[]", b"\"\"", b" ", b"\n",
    b"0", b"-0", b"-0.0", b"1", b"-1", b"1.0", b"0.1", b"1e2", b"1E+2", b"1e-7", b"1e21", b"1e400", b"-1e400", b"1e-400",
    b"-1e-400", b"1e99999999999999999999", b"0e99999999999999999999", b"1e-99999999999999999999", b"5e-324", b"2.5e-324",
    b"1.7976931348623157e308", b"1.7976931348623159e308", b"9007199254740991", b"9007199254740992", b"9007199254740993",
    b"-9007199254740993", b"9223372036854775807", b"9223372036854775808", b"18446744073709551615",
    b"18446744073709551616", b"4294967295", b"4294967296", b"333333333.33333329", b"0.1000000000000000055",
    b"1.00000000000000000001", b"01", b"+1", b".5", b"1.", b"1e", b"-", b"0x1", b"1_000", b"NaN", b"Infinity", b"-Infinity",
    b"\\u0000", b"\\u0061", b"\\ud83d\\ude00", b"\\ud800", b"\\udc00", b"\\udc00\\ud800", b"\\uD800\\u0041", b"\\u12",
    b"\\u+123", b"\\/", b"\\b", b"\\x", b"\\\"", b"\\u2028", b"\\ufeff", b"\xEF\xBB\xBF", b"\xE2\x80\xA8",
    b"\xF0\x9F\x98\x80", b"\xEE\x80\x80", b"\xEF\xBF\xBF", b"\xED\xA0\x80", b"\xC0\x80", b"\xFF", b"\x00", b"\x1F", b"\x7F",
    b"\xC2\x85", b"\xC2\xA0", b"e\xCC\x81", b"\xC3\xA9", b"~0", b"~1", b"/", b"~", b"__proto__", b"$countersign::Number",
    b"//", b"/*", b"\"a\":1,\"a\":2", b",\"a\":1", b"\"\\u0061\"", b"2025-12-10T10:00:00Z",
    b"[[[[[[[[[[[[[[[[", b"]]]]]]]]]]]]]]]]", b"{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":", b"}}}}}}}}",
    b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    b"99999999999999999999999999999999999999999999999999999999999999999999999999999999",
];

pub(crate) const TIMESTAMP: &[&str] = &[
    "T", "t", "Z", "z", "+00:00", "-00:00", "+23:59", "-23:59", "+24:00", "0000", "9999", "02-29", "02-30", "12-31", "01-01",
    "23:59:59", "23:59:60", "24:00:00", ".000000001", ".999999999", ".9999999999", ".", ":", "-", "1900", "2000", "1972",
];

pub(crate) const IDS: &[&str] = &[
    "env_0123456789abcdef", "req_0123456789abcdef", "sess_0123456789abcdef", "env_", "req_", "sess_", "..", ".", "_", "-",
    ":", "@", "a", "A", "0", "~", "!", "é", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

pub(crate) const HEX: &[&str] = &[
    "0", "f", "F", "g", "00000000000000000000000000000000", "ffffffffffffffffffffffffffffffff",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", "é",
];

pub(crate) const WORDS: &[&str] = &[
    "internal", "external", "file", "user", "assistant", "public", "privileged", "local_only", "unclassified",
    "external_untrusted", "completed", "completed_successfully", "policy_violation", "denied_by_policy", "max_loop_exceeded",
    "complete", "satisfied", "pending", "failed", "critic_review", "agent_review", "clarification", "json.empty", "json.", ".",
];

pub(crate) const SCORE: &[&str] = &["0.0000005", "0.0000015", "-0.0000001", "1e300", "inf", "NaN", "0.5", "1e-6", "e", "-", "."];

pub(crate) const ENVELOPE: &[&str] = &[
    "\"agent\"", "\"goal\"", "\"timestamp\"", "\"request_id\"", "\"turn_id\"", "\"source\"", "\"version\"", "\"escalate\"",
    "\"reason\"", "\"provenance\"", "\"payload\"", "\"files\"", "\"history_refs\"", "\"eligibility\"", "\"path\"", "\"sha256\"",
    "\"mtime\"", "\"id\"", "\"hash\"", "\"score\"", "\"internal\"", "\"external\"", "\"file\"", "\"schema_violation\"",
];

pub(crate) const MEMORY_TURN: &[&str] = &[
    "\"role\"", "\"text\"", "\"timestamp\"", "\"goal\"", "\"provenance\"", "\"id\"", "\"importance\"", "\"tags\"", "\"source\"",
    "\"hash\"", "\"file_refs\"", "\"user\"", "\"assistant\"", "\"external\"",
];

pub(crate) const STATE: &[&str] = &[
    "\"envelope_id\"", "\"request_id\"", "\"user_id\"", "\"session_id\"", "\"raw_input\"", "\"received_at\"", "\"outputs\"",
    "\"current_stage\"", "\"stage_order\"", "\"iteration\"", "\"max_iterations\"", "\"llm_call_count\"", "\"max_llm_calls\"",
    "\"agent_hop_count\"", "\"max_agent_hops\"", "\"terminal_reason\"", "\"terminated\"", "\"termination_reason\"",
    "\"clarification_pending\"", "\"clarification_question\"", "\"clarification_response\"", "\"confirmation_pending\"",
    "\"confirmation_id\"", "\"confirmation_message\"", "\"confirmation_response\"", "\"completed_stages\"",
    "\"current_stage_number\"", "\"max_stages\"", "\"all_goals\"", "\"remaining_goals\"", "\"goal_completion_status\"",
    "\"prior_plans\"", "\"critic_feedback\"", "\"loop_feedback\"", "\"errors\"", "\"completed_at\"", "\"metadata\"",
    "\"processing_history\"", "\"interrupt\"", "\"interrupt_pending\"", "\"dag_mode\"", "\"active_stages\"",
    "\"parallel_mode\"", "\"request_context\"", "\"kind\"", "\"type\"", "\"id\"", "\"question\"", "\"message\"", "\"response\"",
    "\"text\"", "\"approved\"", "\"expires_at\"", "\"created_at\"", "\"agent\"", "\"status\"", "\"duration_ms\"", "\"llm_calls\"",
    "\"started_at\"", "\"stage_number\"", "\"satisfied_goals\"", "\"summary\"", "\"plan_id\"", "\"clarification\"",
    "\"confirmation\"", "\"agent_review\"", "\"critic_review\"", "\"checkpoint\"", "\"timeout\"", "\"completed\"",
    "\"complete\"", "\"satisfied\"", "\"pending\"", "\"clarification_required\"", "\"confirmation_required\"",
    "\"denied_by_policy\"", "\"policy_violation\"", "\"max_loop_exceeded\"", "\"user_cancelled\"", "\"sess_0123456789abcdef\"",
];

pub(crate) const ANCHOR: &[&str] =
    &["\"anchor\"", "\"matter\"", "\"seq\"", "\"hash\"", "\"at\"", "\"key\"", "\"signature\"", "\"acme\""];

pub(crate) const RECALL: &[&str] = &[
    "\"query\"", "\"store_paths\"", "\"budget\"", "\"max_excerpt_tokens\"", "\"per_item_max_excerpt_tokens\"",
    "\"max_items\"", "\"scoring\"", "\"query_terms\"", "\"now_utc\"", "\"trust_filter\"", "\"memory_id\"", "\"text\"",
    "\"tags\"", "\"refs\"", "\"ts_utc\"", "\"entries\"", "\"classification\"", "\"malicious\"", "\"record_hash\"",
    "../", "\u{a0}", "\u{feff}", "null", "\"2026-01-01T00:00:00Z\"",
];

pub(crate) const HISTORY: &[&str] = &[
    "\"generation\"", "\"count\"", "\"dimension\"", "\"embedder\"", "\"sha256\"", "\"caps\"", "\"vectors_max\"", "\"indexed\"",
    "\"bytes\"", "\"lines\"", "\"landmark\"", "\"cleared_before_offset\"", "\"evicted\"",
    "\"bad_lines\"", "\"first\"", "\"why\"", "\"1.0\"", "9007199254740993", "null",
];

pub(crate) const LEXICON: &[&str] = &[
    "=", "\u{21c4}", "<=>", "\t", "#", "\"", "\"\"", ",", "\r\n", "[[\"a\",\"b\"]]", "{\"a\":[\"b\"]}", "\u{feff}", "\u{130}", "a=b\nb=c\n",
];

pub(crate) const SNAPSHOT: &[&str] = &[
    "ids", "meta", "emb", "numpy", "dtype", "ndarray", "_frombuffer", "_reconstruct", "numpy.core.numeric",
    "numpy._core.numeric", "numpy.core.multiarray", "numpy._core.multiarray", "f4", "<", "C", "F", "os", "posix", "system",
    "](", "}(", "e", "u", "a", "s", "t", "R", "b", "h\0", "N", "J\0\0\0\0", "K\u{1}", "cos\nsystem\n", ".", "G", "X", "(", ")",
];

pub(crate) const ARRAYS: &[&str] = &[
    "PK\u{1}\u{2}", "PK\u{3}\u{4}", "PK\u{5}\u{6}", "PK\u{6}\u{6}", "PK\u{6}\u{7}", "emb.npy", "ids.npy", "meta.npy", "NUMPY", "'descr': ",
    "'<f4'", "'<f8'", "'|u1'", "'|O'", "'<U1'", "'<U999999999999'", "'fortran_order': ", "True", "False", "'shape': ", "(0, 3)",
    "(2, 3)", "(9,)", "(18446744073709551615, 3)", "[\"a\",\"b\"]", "[{},{}]",
];

pub(crate) const TENSORS: &[&str] = &[
    "\"embeddings\"", "\"weights\"", "\"mapping\"", "\"dtype\"", "\"F32\"", "\"F16\"", "\"BF16\"", "\"I64\"", "\"I32\"",
    "\"shape\"", "[3,2]", "[3]", "\"data_offsets\"", "[0,24]", "\"__metadata__\"", "18446744073709551615",
];

pub(crate) const TOKENIZER: &[&str] = &[
    "\"model\"", "\"type\"", "\"WordPiece\"", "\"WordLevel\"", "\"BPE\"", "\"Unigram\"", "\"vocab\"", "\"merges\"",
    "\"unk_token\"", "\"unk_id\"", "\"byte_fallback\"", "\"normalizer\"", "\"BertNormalizer\"", "\"NFKD\"", "\"Strip\"",
    "\"Replace\"", "\"Prepend\"", "\"Sequence\"", "\"normalizers\"", "\"pretokenizers\"", "\"pre_tokenizer\"",
    "\"Metaspace\"", "\"ByteLevel\"", "\"Punctuation\"", "\"Digits\"", "\"added_tokens\"", "\"content\"", "\"lstrip\"",
    "\"single_word\"", "\"continuing_subword_prefix\"", "\"end_of_word_suffix\"", "\"max_input_chars_per_word\"",
];

pub(crate) const MANIFEST: &[&str] = &[
    "\"format\"", "\"countersign-ledger\"", "\"version\"", "\"matter\"", "\"head\"", "\"seq\"", "\"hash\"", "\"rows\"",
    "\"blobs\"", "\n",
];

pub(crate) const ROW: &[&str] = &[
    "\"seq\"", "\"stream\"", "\"stream_seq\"", "\"kind\"", "\"version\"", "\"at\"", "\"actor\"", "\"proof\"", "\"cause\"",
    "\"idem_key\"", "\"data_class\"", "\"taint\"", "\"payload\"", "\"payload_hash\"", "\"blobs\"", "\"prev_hash\"", "\"hash\"",
    "\"digest\"", "\"size\"", "\"key\"", "\"signature\"", "\"none\"", "\"self_asserted\"", "\"signed\"", "\"hold.placed\"",
    "\"hold.released\"", "\"blob.erased\"", "\"hold_id\"", "\"reason\"", "\"local_only\"", "\"external_untrusted\"", "\n",
];

pub(crate) const REPLY: &[&str] = &[
    "<<<NOTES_JSON>>>", "<<<END_NOTES_JSON>>>", "<<<TOOL_CALLS_JSON>>>", "<<<END_TOOL_CALLS_JSON>>>", "<<<", "<", ">>>",
    "\"set_goals\"", "\"add_open_loops\"", "\"close_open_loops\"", "\"add_decisions\"", "\"add_constraints\"",
    "\"set_episode_summary\"", "\"add_memory_tags\"", "\"actions\"", "\"condense_now\"", "\"request_permission:net\"",
    "\"id\"", "\"tool\"", "\"args\"", "{}", "[]", "\\\"",
];

pub(crate) const CAPABILITY: &[&str] = &[
    "net", "net:", "example.org", "EXAMPLE.org.", "bücher.example", "127.1", "[::1]", ":8080", "*", "0x7f", "..", "xn--",
];

pub(crate) const CHECKPOINT: &[&str] = &[
    "\"session_id\"", "\"revision\"", "\"updated_ts\"", "\"state\"", "\"recent_messages\"", "\"trace_tail\"", "\"role\"",
    "\"content\"", "\"tool\"", "\"goals\"", "\"capabilities_granted\"", "\"capabilities_pending\"", "\"net\"", "1e9", "0.5",
];
pub(crate) const STREAM: &[&str] = &[
    "data:", "event:", "id:", "retry:", "\n\n", "\r\n", "\r", ":", "[DONE]", "choices", "delta", "content", "finish_reason",
    "stop", "length", "usage", "prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens", "error",
    "message_start", "content_block_delta", "text_delta", "message_delta", "message_stop", "ping", "stop_reason", "\u{feff}",
];
pub(crate) const GGUF: &[&str] = &[
    "GGUF", "general.architecture", "llama", "general.alignment", "tokenizer.ggml.tokens", "tokenizer.ggml.merges",
    "tokenizer.ggml.model", "gpt2", "llama.context_length", "llama.block_count", "llama.embedding_length", "output.weight",
];
pub(crate) const POLICY: &[&str] = &[
    "allow", "hosts", "approver", "anybody", "somebody_else", "rounds", "grant_seconds", "user_class", "files_class", "files",
    "stores", "public", "internal", "privileged", "local_only", "net:", "fs:write", "shell", "/", ".",
];
pub(crate) const CODESPEC: &[&str] = &[
    "```codespec-python\n", "```codespec-rust\n", "```\n", "~~~\n", "version = \"1\"\n", "[shape]\n", "[structure]\n", "[docstrings]\n",
    "[logging]\n", "[naming]\n", "[imports]\n", "[calls]\n", "[format]\n", "io = [\"open\"]\n", "order = [", "required", "\"forbidden\"",
    "unsafe", "## Calls\n", "= 99999999999999999999\n", "[[", "\"\"\"", ".*", "::",
];
pub(crate) const PYTHON: &[&str] = &[
    "```", "````", "~~~", "python", "import ", "from ", " as ", "*", "os", ".system", "__import__(", "getattr(", "eval", "def f(a, *b):\n    ",
    "class A:\n    ", "lambda x=1: ", "global ", "nonlocal ", "async ", "await ", "for x in ", " if ", " else ", ":=", "f'{", "t'{", "}'", "\"\"\"",
    "'", "\n", "\n    ", "\n\t", "match x:\n", "case ", "_", "try:\n", "except* ", "with ", "@", "->", "...", "# ", "\\\n", "\r", "\u{c}", "print(",
];
pub(crate) const RUST: &[&str] = &[
    "```", "~~~", "rust", "use ", "std", "::", "{self as a, b::*}", " as ", "fn f() {", "}", "(", ")", "[", "]", "<", ">", "->", "=>", "mod m;", "mod m {",
    "extern crate ", "type T = ", "impl ", "trait ", "struct S", "unsafe ", "macro_rules! m { ($a:expr) => {", "println!(", "r#", "'a", "'a'", "\"", "r\"",
    "br#\"", "/*", "*/", "//", "///", "//!", "#[doc = \"a\"]", "#![allow(a)]", "|x| ", "..=", "async ", "match x {", "if let ", "else ", "const ", "\n",
];
