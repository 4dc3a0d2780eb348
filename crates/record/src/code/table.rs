//! The codes and their words.
//! Owns: the table. Must not: hold code.

use super::{Entry, Severity};

macro_rules! codes {
    ($($variant:ident $area:literal . $name:literal $severity:ident, $title:literal, $explanation:literal, $fix:literal;)*) => {
        /// A stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $variant,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// What the table says.
            #[must_use]
            pub fn entry(self) -> Entry {
                match self {
                    $(Code::$variant => Entry {
                        name: concat!($area, ".", $name),
                        area: $area,
                        severity: Severity::$severity,
                        title: $title,
                        explanation: $explanation,
                        fix: $fix,
                    },)*
                }
            }
        }
    };
}

codes! {
    JsonEmpty "json"."empty" Error, "There is no JSON value",
        "The input is empty or holds nothing but white space, so there is nothing to read.",
        "Give a file that is not empty, or pipe a JSON document into the command.";
    JsonByteOrderMark "json"."byte_order_mark" Error, "The text begins with a byte order mark",
        "JSON is exchanged as plain UTF-8. A byte order mark would be part of the hash without being part of the document.",
        "Save the file as UTF-8 without a byte order mark.";
    JsonNotUtf8 "json"."not_utf8" Error, "The text is not UTF-8",
        "JSON is exchanged as UTF-8 (RFC 8259). A byte that is not UTF-8 has no one meaning, so it can't be hashed.",
        "Convert the file to UTF-8; the message says at which byte the trouble begins.";
    JsonTooLong "json"."too_long" Error, "The text is longer than the limit",
        "A governed document must fit into 16 MiB. Reading stopped at the limit; nothing beyond it was looked at.",
        "Store large content as a blob and name it by its digest.";
    JsonTooDeep "json"."too_deep" Error, "Arrays and objects are nested too deep",
        "A governed document may nest 128 levels. Deeper ones are nearly always an attack on a parser.",
        "Flatten the document.";
    JsonNumberTooLong "json"."number_too_long" Error, "A number has too many digits",
        "A number in a governed document may have 1,000 characters.",
        "Write such a number as a string.";
    JsonTooManyValues "json"."too_many_values" Error, "The text holds too many values",
        "A governed document may hold a million values. Each takes far more memory than text, so a short hostile document could fill the machine.",
        "Split the document, or store it as a blob and name it by its digest.";
    JsonDuplicateName "json"."duplicate_name" Error, "A name stands twice in one object",
        "Readers disagree on which of two members of one name counts, so a document with both means different things to different people.",
        "Keep one of the two members.";
    JsonLoneSurrogate "json"."lone_surrogate" Error, "An escape is half of a surrogate pair",
        "A \\u escape from D800 to DFFF is no character on its own, so the string has no UTF-8 form.",
        "Write both halves of the pair, or the character itself.";
    JsonNotFinite "json"."not_finite" Error, "NaN and infinities are not JSON",
        "The number has no value that could be written, compared or hashed.",
        "Write null, or leave the member out.";
    JsonTrailing "json"."trailing" Error, "There is more text after the value",
        "One document was asked for. What follows it would be ignored by some readers and not by others.",
        "Give one JSON value; several are given one per line where a command takes JSON lines.";
    JsonTruncated "json"."truncated" Error, "The text ends inside a value",
        "A bracket, brace, string or number is not finished. The file was cut, or is still being written.",
        "Give the whole document.";
    JsonSyntax "json"."syntax" Error, "The text is not JSON",
        "The grammar of RFC 8259 is broken at the place the message names.",
        "Mend the text there; comments, single quotes and trailing commas are not JSON.";

    NumberInexact "number"."inexact" Error, "A number has no canonical form",
        "RFC 8785 prints numbers as doubles. This one would come out as another number, and two different documents would share one hash.",
        "Write the number as a string. Integers beyond 2^53 and money always are strings in Countersign's own types.";

    FieldMissing "field"."missing" Error, "A required field is missing",
        "The contract of this document requires the field that the path names.",
        "Add the field; `schemas/` holds the schema of every document.";
    FieldWrongType "field"."wrong_type" Error, "A field has the wrong type",
        "The value at the path is of another JSON type than the contract says. Values are never converted silently.",
        "Write the value in the type that the message names.";
    FieldInvalid "field"."invalid" Error, "A field has a value that is not allowed",
        "The value at the path has the right type but is none that the contract allows.",
        "Use a value that the message allows.";
    FieldUnknown "field"."unknown" Error, "A field is not part of the contract",
        "The document has a member that its contract does not know. A misspelt field would otherwise be lost without a word.",
        "Remove the field, or correct its name.";
    FieldConflict "field"."conflict" Error, "Two fields contradict each other",
        "The document says the same thing twice, and differently. Neither is taken.",
        "Keep one of the two, or make them agree.";

    IdInvalid "id"."invalid" Error, "A name or id has a form that is not allowed",
        "Names become parts of paths, queries and hashes, so each kind of name has a narrow form.",
        "Use the characters and the length that the message names.";
    TimeInvalid "time"."invalid" Error, "A time is not RFC 3339 with an offset",
        "A time without an offset names no instant; second 60 names none that can be compared; a year has four digits, so it is one of 0000 to 9999, in UTC where the ledger writes it.",
        "Write it like 2025-12-10T10:00:00Z or 2025-12-10T10:00:00.123+05:30.";

    EnvelopeUnknown "envelope"."unknown" Error, "The document is no envelope of a known kind",
        "The document has neither the members of an SR2 envelope nor those of a GenericEnvelope.",
        "Say which it should be with --kind sr2 or --kind generic to see what is missing.";
    EnvelopeFileChanged "envelope"."file_changed" Error, "A file is not the one that the envelope names",
        "The provenance gives a SHA-256 for the file, and the file on disk has another or is gone.",
        "Make the envelope anew from the files as they are, or restore the file.";

    RowInvalid "row"."invalid" Error, "The draft can't become a row",
        "A row needs a stream, a kind, a version from 1 and a payload; what is wrong is in the message.",
        "Mend the draft; `countersign ledger append --help` shows one.";
    RowTooLarge "row"."too_large" Error, "The row is larger than the limit",
        "A row holds 1 MiB of payload and names up to 1,024 blobs of up to 256 MiB.",
        "Put large content into a blob and name it by its digest.";
    RowTooNew "row"."too_new" Error, "The row was written by a newer version",
        "This build knows the kind but not this version of it, and guessing would be reading something that was not written.",
        "Read the ledger with the version that wrote it, or a later one.";
    RowKindReserved "row"."kind_reserved" Error, "Rows of this kind are not written by hand",
        "Only kinds that begin with external. may be appended from outside; the others are evidence that the product itself writes.",
        "Use a kind such as external.note.";

    LedgerConflict "ledger"."conflict" Error, "The stream has moved on",
        "The request expected the stream to end elsewhere. Somebody else appended first; nothing of this request was written.",
        "Read the stream again, decide again, and append with the new stream_seq.";
    LedgerIdemMismatch "ledger"."idem_mismatch" Error, "The idempotency key belongs to another request",
        "A key stands for one request for ever. The first request with this key asked for something else.",
        "Use a new key for a new request.";
    LedgerBatch "ledger"."batch" Error, "The batch can't be appended",
        "A batch needs 1 to 10,000 rows, and a row's cause must stand before it.",
        "Split the batch, or put cause before effect.";
    LedgerLocked "ledger"."locked" Error, "Another process writes to this matter",
        "One process at a time appends to a matter, so that places and hashes never fork. Who has nothing to append gives it back at once, and it was waited for; another process has appended without a pause. Reading goes on meanwhile.",
        "Wait for the other process, end it, or use another --data directory or --matter.";
    LedgerDiskFull "ledger"."disk_full" Error, "There is no space left for the ledger",
        "The append was not acknowledged and nothing of it is kept; everything acknowledged before is safe.",
        "Free some space and try again.";
    LedgerReadOnly "ledger"."read_only" Error, "The data directory can't be written",
        "The directory or a file in it is read-only for this user.",
        "Give the user write access, or name another directory with --data.";
    LedgerCorrupt "ledger"."corrupt" Critical, "The ledger's file is damaged",
        "The file is no database of Countersign, or parts of it can't be read. It was not touched.",
        "Move the file away, restore the matter from an export with `countersign ledger import`, and compare with an anchor.";
    LedgerTooNew "ledger"."too_new" Error, "The data directory was written by a newer version",
        "The format of the file is newer than this build. It was not touched.",
        "Use the version that wrote it, or a later one.";
    LedgerUnknownStore "ledger"."unknown_store" Error, "There is no store of this kind",
        "The --store URL names a store that this build does not have.",
        "Use sqlite:DIR, or leave --store out to keep everything under --data.";
    LedgerMissing "ledger"."missing" Error, "There is no ledger for this matter",
        "Nothing was ever appended to the matter under this data directory.",
        "Check --data and --matter; `countersign ledger append` starts a ledger.";
    LedgerNotEmpty "ledger"."not_empty" Error, "The matter has a ledger already",
        "An import makes a ledger whole; it never mixes with rows that are there.",
        "Import into a data directory where the matter is empty.";
    LedgerForeign "ledger"."foreign" Error, "The rows belong to another matter",
        "A row's hash names its matter. Matters never share a chain, so a ledger refuses another matter's rows.",
        "Use --matter with the name that the archive gives.";
    LedgerIo "ledger"."io" Error, "The ledger could not be reached",
        "The operating system refused to read or write; its own words are in the message. What was acknowledged before is safe.",
        "Mend what the message names and try again.";
    LedgerIndex "ledger"."index" Critical, "An index does not agree with the rows",
        "The rows are as they were appended, but the ledger's own lists of them are not: reading by stream or kind may miss a row or fail.",
        "Export the matter, which reads the rows themselves, and import it into another data directory.";
    LedgerState "ledger"."state" Critical, "A kept state is not what the rows give",
        "A view's state is kept so that it need not be folded again from the first row. Folding again gives another one: the kept state was changed, or was made by a build with an error.",
        "Export the matter and import it into another data directory: an export holds no kept states.";
    LedgerClosed "ledger"."closed" Error, "The ledger has stopped",
        "The writer has ended, by request or after an error that it could not survive. The request was not written.",
        "Look at the first error it reported, and start again.";

    MemoryQuery "memory"."query" Error, "There is no query",
        "A memory read needs a query: a text that holds more than white space.",
        "Give `query` a text.";
    MemoryStorePaths "memory"."store_paths" Error, "There are no stores to read",
        "A memory read names the stores it reads: a list of paths, none of them empty.",
        "Give `store_paths` at least one path.";
    MemoryBudget "memory"."budget" Error, "The budget is none",
        "A memory read needs a budget of at least one token; the message says which part of it is wrong.",
        "Give `budget.max_excerpt_tokens` an integer above 0.";
    MemoryInput "memory"."input" Error, "The input of a memory read is not as its contract says",
        "A member has another type or range than SPEC-006 gives it, or the contract knows no such member.",
        "Correct the member that the message names.";
    MemoryStoreMissing "memory"."store_missing" Error, "A memory store is not there",
        "A read names every store that it depends on, so one that is missing fails the read rather than be left out.",
        "Check the path; a relative one is relative to the working directory.";
    MemoryStoreUnreadable "memory"."store_unreadable" Error, "A memory store can't be read",
        "The path is no regular file, or the operating system refused to read it.",
        "Check what the path leads to and who may read it.";
    MemoryStoreChanged "memory"."store_changed" Error, "A memory store was changed while it was read",
        "A line that was selected is not there any more. A store is append-only; this one was rewritten or cut.",
        "Read again when nobody writes over the store.";
    MemoryTrustSnapshot "memory"."trust_snapshot" Error, "The trust snapshot can't be used",
        "The file that classifies records is missing, unreadable or has another shape. Without it nothing could be denied, so nothing is read.",
        "Give a JSON file with `entries`, each with a memory_id or a record_hash, and a classification.";
    HistoryLocked "history"."locked" Error, "Another process writes the conversation",
        "One process appends at a time, and one brings the index up to date; the other one did not end in time.",
        "Wait for it, or end it if it hangs; the message says which process it is.";
    HistoryUnreadable "history"."unreadable" Error, "A file of the conversation can't be read",
        "The operating system refused, or something else stands where the file should be.",
        "Check what the path leads to and who may read it.";
    HistoryUnwritable "history"."unwritable" Error, "A file of the conversation can't be written",
        "The disk is full, read-only or failing, or something else stands where the file should be. What was acknowledged is still there, and nothing of what was refused.",
        "Make room or fix the permissions, and try again.";
    HistoryTooLong "history"."too_long" Error, "The turn is too long",
        "A turn is one line of at most 16 MiB.",
        "Cut the text into several turns, or keep it in a file and name the file.";
    HistoryCleared "history"."cleared" Error, "It is not known what was cleared",
        "The file that says up to where the history was cleared is damaged, or the log is not the one that was cleared. Nothing is recalled or indexed, since what was asked to be forgotten could come back.",
        "Clear the history again with `memory clear --yes`, which forgets everything up to now.";
    HistoryDamaged "history"."damaged" Error, "The index was damaged",
        "The turn is in the log, but a file of the index was not what was published. The index was made whole from the generation before, or from the log; where nothing is known of how it was made, it was left as it is.",
        "Find out who can write the directory; nothing is lost. An index that was left is made anew by `countersign memory index`.";
    HistoryModel "history"."model" Error, "The index was made by another model",
        "Vectors of two models can't be compared, so a turn is only added with the model that made the index. Nothing was appended.",
        "Name that model with --model or COUNTERSIGN_MODEL, append with --no-index, or make the index anew with `countersign memory index`.";
    HistoryLexicon "history"."lexicon" Error, "The alias lexicon can't be used",
        "A lexicon is a .txt, .csv or .json file with groups of words that mean the same, at least two to a group.",
        "See `countersign memory recall --help` for the three forms.";

    SessionLocked "session"."locked" Error, "Another process has the session",
        "One process takes the turns of a session at a time.",
        "Wait for it or end it; the message says which process it is.";
    SessionConflict "session"."conflict" Error, "The session was changed meanwhile",
        "A checkpoint follows the revision that it was made from, and another one is there now. Nothing was written.",
        "Read the session again and repeat the turn.";
    SessionUnreadable "session"."unreadable" Error, "A session can't be read",
        "Neither its newest checkpoint nor the one before can be read. Nothing was changed.",
        "Check who may read the files, or put back a copy of them.";
    SessionUnwritable "session"."unwritable" Error, "A session can't be written",
        "The disk is full, read-only or failing, or something else stands where a file should be. The revision before is still there.",
        "Make room or fix the permissions, and repeat the turn.";

    SessionUnsettled "session"."unsettled" Error, "What became of a call is not known",
        "The process ended between the beginning and the end of a call that changes something. Whether it was done only a person can find out; until somebody says so the session does not go on, and nothing is done twice.",
        "Look, and say what you found with `countersign session settle`.";
    SessionNothing "session"."nothing" Error, "There is nothing of that in the session",
        "The session has no such turn, call or request.",
        "`countersign session show` prints what there is.";
    SessionMissing "session"."missing" Error, "There is no session of this name",
        "No turn of it was ever recorded in this matter.",
        "`countersign session list` shows those there are; `countersign chat --session NAME` begins one.";

    CapabilityInvalid "capability"."invalid" Error, "The text names no capability",
        "A capability is a name such as `shell`, or one with what it is for such as `fs:write` or `net:example.org`.",
        "Write one like these; there are no patterns.";
    CapabilityProposer "capability"."proposer" Error, "Somebody else must approve",
        "The policy says that who proposes something can't approve it.",
        "Have another person grant it, with --as and --acting.";
    CapabilityUnsigned "capability"."unsigned" Error, "The approval must be signed",
        "The policy has somebody else approve what one proposes. A name is quickly typed, so their word counts if it is signed with their key.",
        "Make a key with `countersign principal add NAME`, and grant it again with --as NAME.";
    CapabilityExpiry "capability"."expiry" Error, "A grant can't hold so long",
        "A grant expires after at least a second and at most 30 days.",
        "Give a time from 1s to 30d.";

    LeavingLocalOnly "leaving"."local_only" Error, "Something that must not leave the machine would have left",
        "The session holds something of the class local_only, so nothing that is made from it may be sent away: no request to a remote model, no address of a page. Nothing was sent, and a receipt says so.",
        "Use a model on this machine, or begin a new session without that source.";
    LeavingUnconfirmed "leaving"."unconfirmed" Error, "Sending privileged content was not confirmed",
        "The session holds something privileged. It is sent to a host only if a person confirms that host. Nothing was sent, and a receipt says so.",
        "Confirm it when you are asked, or with `countersign capability grant leave:HOST`.";

    PolicyInvalid "policy"."invalid" Error, "The policy can't be used",
        "The policy file is no TOML, or has a member that is unknown or wrong. Nothing runs under a policy that is not understood.",
        "Mend the member that the message names; `countersign chat --help` shows a policy.";

    CapabilityTurn "capability"."turn" Error, "What was asked for one turn can't be granted after it",
        "A session is sent to a model for a turn. Whoever confirms that once confirms it for the turn that asks, and that turn is over: the next one would ask again.",
        "Grant it for a time, as with `--for 10m`, or answer the question in `countersign chat` at a terminal.";

    TraceMissing "trace"."missing" Error, "There is no such trace",
        "No trace of this name is kept in this matter.",
        "`countersign trace show` without a name lists those there are.";
    TraceCut "trace"."cut" Error, "The trace has no end",
        "Whoever wrote the trace is gone, and the turn has no end in it: the process was killed, or could not write. What is known of the turn is in the ledger.",
        "Look at what became of the turn with `countersign session show`.";

    ToolUnknown "tool"."unknown" Error, "There is no tool of this name",
        "A model asked for a tool that is not registered here. Nothing was run.",
        "`/tools` in a chat, or `countersign tools`, lists the tools there are.";
    ToolArguments "tool"."arguments" Error, "The arguments do not fit the tool",
        "A call's arguments are checked against the tool's JSON Schema before anything else. Nothing was run.",
        "Give the arguments that the tool's schema names; `countersign tools --json` prints it.";
    ToolDenied "tool"."denied" Error, "The call is not permitted",
        "The tool needs a capability that is not granted, or the person who was asked said no. Nothing was run.",
        "Grant it with `countersign capability grant`, if it should be.";
    ToolPath "tool"."path" Error, "The path can't be used",
        "Files are reached beneath the sandbox's root only: no `..`, no absolute path, no link, and regular files with one name.",
        "Name a file beneath the root.";
    RunOver "run"."over" Error, "The run has ended",
        "A run that has ended does not go on, and takes no answer.",
        "Begin another run, or look at this one to see why it ended.";
    RunWaiting "run"."waiting" Error, "The run waits for a person",
        "A question was asked, and nothing goes on before it is answered.",
        "Answer the question that the run shows.";
    RunBusy "run"."busy" Error, "The run is at work elsewhere",
        "An agent was called and has not answered, or an answer came from one that was not called.",
        "Wait for the agent, or look at the run to see what it does.";
    AnswerUnasked "answer"."unasked" Error, "Nobody asked that",
        "The run waits for no answer, or for the answer to another question. Nothing was changed.",
        "Look at the run, and answer the question that it shows, by its id.";
    AnswerExpired "answer"."expired" Error, "The question has expired",
        "Questions that ask for leave stand for a time. Nothing was changed.",
        "Have the run ask again.";
    AnswerKind "answer"."kind" Error, "The question needs another kind of answer",
        "A clarification is answered in words, a confirmation with yes or no, an escalation with what is to be done. Nothing was changed.",
        "Answer as the message says.";
    ToolRoot "tool"."root" Error, "The directory is another matter's",
        "Sessions of another matter wrote to files in this directory. How far those may travel is known in that matter only, so no other one uses them.",
        "Give each matter a directory of its own with --root, and copy what both may see. Each claim is a file in roots/ of the data directory, with the matter and the path: who is sure that nothing is left of what was written may remove it.";
    ToolCommand "tool"."command" Error, "The command may not be run",
        "Commands run without a shell, from a list with rules for their arguments: no interpreters, nothing that starts another program, writes a file or reads outside the sandbox.",
        "Use a command and arguments of the list; the message says what is wrong.";
    ToolFailed "tool"."failed" Error, "The tool did not succeed",
        "The tool was run and could not do what it was asked for; the message says why.",
        "Mend what the message names, and have it done again.";
    ToolTimeout "tool"."timeout" Error, "The tool took too long",
        "The call's time was up, or it was cancelled; everything it had started was ended.",
        "Ask for less, or give it more time where its schema allows that.";
    ToolTooLarge "tool"."too_large" Error, "There is more than the tool may take or give",
        "Files, outputs and bodies have a greatest size, so that no call fills the machine.",
        "Ask for a smaller part of it.";
    ToolSandbox "tool"."sandbox" Error, "This machine can't hold the tool in a sandbox",
        "The tool runs only where the operating system can hold it (openat2, Landlock, seccomp). Without that it is refused; it is never run with less.",
        "`countersign doctor` says what is missing.";

    WebUrl "web"."url" Error, "The address can't be fetched",
        "Only http and https addresses with a host, without user and password, are fetched.",
        "Give a plain http or https address.";
    WebAddress "web"."address" Error, "The host is a private or local address",
        "The name leads to an address of this machine, of a private network, or one that clouds answer with secrets. Such an address is reached only if its very host was granted.",
        "Grant the exact host with `countersign capability grant net:HOST`, if it should be reached.";
    WebUnreachable "web"."unreachable" Error, "The host gives no answer",
        "The name can't be resolved, the connection can't be made, or what came back is no HTTP.",
        "Check the address, and whether this machine has a network.";
    WebStatus "web"."status" Error, "The server answered with an error",
        "The answer's status is not one of success.",
        "Look up the status that the message names, and mend what it stands for.";
    WebRedirect "web"."redirect" Error, "A redirect was not followed",
        "It leads to what can't be fetched, in a circle, once too often, or from https to http. A redirect to another host is no error: the result says where it leads.",
        "Fetch the address that it should lead to by a call of its own.";
    WebCache "web"."cache" Warning, "The cache of fetched pages can't be used",
        "Its file is damaged, locked or from a newer version. Pages are fetched anew.",
        "Remove the file that the message names; it holds nothing that can't be fetched again.";

    ModelUnknown "model"."unknown" Error, "There is no model of this name",
        "No model of this name was set up, and none is built in.",
        "`countersign models list` shows those there are, `countersign models add` sets one up.";
    ModelConfig "model"."config" Error, "The settings of a model are wrong",
        "A provider, an address or a file that the settings name can't be used.",
        "Set the model up again with `countersign models add`.";
    ModelKey "model"."key" Error, "The key of a model can't be used",
        "Keys come from an environment variable or from a file that only its owner can read (mode 0600).",
        "Set the variable, or make the file readable by its owner alone.";
    ModelUnreachable "model"."unreachable" Error, "The model gives no answer",
        "The connection can't be made, or was cut before the answer was whole. It was tried again as often as is allowed.",
        "Check that the server runs at the address that `countersign models list` shows.";
    ModelBusy "model"."busy" Error, "The model has no time",
        "The server said again and again that it is too busy (429 or 5xx).",
        "Wait a while, and ask again.";
    ModelRefused "model"."refused" Error, "The model refuses the request",
        "The server answered that it will not take this request: a wrong key, an unknown model, or one that is too long. Asking again would change nothing.",
        "Look up the status that the message names, and mend what it stands for.";
    ModelReply "model"."reply" Error, "What the model sent is no answer",
        "The answer breaks its own protocol: no JSON, no UTF-8, too long, or cut off.",
        "Check that the server at this address speaks the protocol that the settings name.";
    ModelTimeout "model"."timeout" Error, "The model took too long",
        "There was no answer, or no more of it, within the time that is set.",
        "Ask for less, or set a longer time.";
    ModelCancelled "model"."cancelled" Warning, "The answer was cancelled",
        "Whoever asked did not wait for the end. What was said until then is not acted on.",
        "Ask again, if the answer is still wanted.";
    ModelUnrecorded "model"."unrecorded" Error, "No reply to this request was recorded",
        "A replay answers only what was asked before, word for word.",
        "Replay the run with the same input, or use another model.";

    SnapshotUnreadable "snapshot"."unreadable" Error, "A snapshot can't be opened",
        "There is no such file, it is a link or no regular file, or the operating system refused to open it.",
        "Check what the path leads to and who may read it; name the file itself and not a link to it.";
    SnapshotUnknownLayout "snapshot"."unknown_layout" Error, "A file is in no layout of snapshots that is known",
        "A pickle can run anything when it is loaded, so none is: only the layouts that Countersign writes, and that Python writes for a dict of ids, meta and a float32 array, are read, as data. The message says where the file stops being one of them.",
        "Make it with `memory snapshot import`, or in Python with pickle.dump (protocol 4 or 5) or numpy.savez; if it was one before, it is damaged, so take the generation before it.";
    SnapshotChanged "snapshot"."changed" Critical, "A snapshot's bytes were changed",
        "The file no longer has the SHA-256 that it was published with.",
        "Take the generation before it, or have the snapshot made anew from the conversation.";
    SnapshotTable "snapshot"."table" Error, "The values are no table",
        "A table has as many ids as meta and vectors, vectors of one dimension with finite floats only, and meta that come back as they were; the message says what is wrong, rows counted from 0.",
        "Correct the row that the message names.";
    SnapshotExists "snapshot"."exists" Error, "The target is there already",
        "Neither an import nor an export of a snapshot overwrites anything.",
        "Name a file that does not exist yet.";
    EmbedModel "embed"."model" Error, "The embedding model can't be loaded",
        "The directory is no model of static embeddings that can be relied on: a file is missing, damaged or too large, the files do not fit each other, or the tokenizer has a part that is not taken. Nothing in the directory is ever executed.",
        "Give a directory with model.safetensors (one table of float vectors) and tokenizer.json, as model2vec writes them; without one, the offline default is used.";

    BlobMissing "blob"."missing" Critical, "A blob is missing",
        "A row names bytes that are not in the ledger, and no receipt says that they were erased.",
        "Restore them from an export; the row names their SHA-256.";
    BlobErased "blob"."erased" Note, "The blob was erased",
        "The bytes were erased on purpose; the row that the message names is the receipt. The chain still verifies.",
        "Nothing is to be mended: the digest remains, the bytes are gone.";
    BlobChanged "blob"."changed" Critical, "A blob's bytes were changed",
        "The bytes no longer have the SHA-256 that they are named for.",
        "Restore them from an export.";
    BlobUnnamed "blob"."unnamed" Critical, "Bytes are there that no row names",
        "The file holds bytes that no row names, or a copy of bytes that were erased. No writer of Countersign leaves any.",
        "Export the matter, which leaves them out, and import it into another data directory; then ask who had access to the file.";
    BlobHeld "blob"."held" Error, "A legal hold keeps the blob",
        "A hold in force covers this blob, so it can't be erased.",
        "Release the hold first, if that is yours to decide: `countersign ledger hold release`.";
    BlobUnknown "blob"."unknown" Error, "No row names this blob",
        "The ledger has no blob of this digest and no row that names one.",
        "Check the digest and --matter.";

    HoldExists "hold"."exists" Error, "A hold of this name is in force",
        "Every hold has a name of its own, so that releasing it is clear.",
        "Choose another name, or release the other hold first.";
    HoldUnknown "hold"."unknown" Error, "No hold of this name is in force",
        "The hold was never placed in this matter, or was released before.",
        "`countersign ledger hold list` shows the holds in force.";

    ChainChanged "chain"."changed" Critical, "A row was changed",
        "The row does not have the hash that it was appended with. Somebody changed the stored data by other means than the ledger.",
        "Take the row from an export or a backup and find out who can write the file.";
    ChainRemoved "chain"."removed" Critical, "A row was removed",
        "Places are dense, and here one is missing.",
        "Take the row from an export or a backup and find out who can write the file.";
    ChainInserted "chain"."inserted" Critical, "A row was inserted",
        "A row stands here that was never appended here; the rows after it were moved.",
        "Compare with an export or a backup and find out who can write the file.";
    ChainReordered "chain"."reordered" Critical, "Rows have changed places",
        "The row's hash belongs to another place in the ledger.",
        "Compare with an export or a backup and find out who can write the file.";
    ChainTruncated "chain"."truncated" Critical, "Rows are missing at the end",
        "An anchor, or the ledger's own head, speaks of rows that are not there.",
        "Take the rows from an export or a backup made after the anchor.";
    ChainRewritten "chain"."rewritten" Critical, "The ledger is not the one that was anchored",
        "The row at the anchor's place has another hash: history was written anew after the anchor was made.",
        "Compare with an export made before; the anchor says what the ledger was.";
    ChainStream "chain"."stream" Critical, "A stream's places are out of order",
        "Places in a stream are dense from 1, and this row does not follow the one before it in its stream.",
        "Compare with an export or a backup and find out who can write the file.";
    ChainSignature "chain"."signature" Critical, "A decision's signature is forged",
        "The row names a key, and its signature is not of that key over this decision.",
        "Do not rely on the decision; ask the person whose name it bears.";

    AnchorInvalid "anchor"."invalid" Error, "The file is no anchor",
        "An anchor is the JSON that `countersign ledger anchor` prints, unchanged.",
        "Give the anchor as it was printed.";
    AnchorForged "anchor"."forged" Critical, "The anchor's signature is forged",
        "The anchor was changed after it was signed, or signed with another key than it names.",
        "Use the anchor as it was printed, from where it was kept.";
    AnchorUntrusted "anchor"."untrusted" Error, "The anchor was signed with an unknown key",
        "The signature is good, but the key is neither this data directory's nor one that was named with --trusted-key.",
        "If you know whose key it is, name it with --trusted-key.";

    ArchiveInvalid "archive"."invalid" Error, "The archive is not what an export writes",
        "A file of the archive is missing, too many, or not in the form that an export writes. Nothing was imported.",
        "Make the export anew, or get the archive again.";
    ArchiveExists "archive"."exists" Error, "The target is there already",
        "An export never overwrites anything.",
        "Name a directory that does not exist yet.";

    AccessMatter "access"."matter" Error, "The matter is closed to you",
        "Nobody reads a matter without being let in. It is not said whether there is such a matter.",
        "Ask somebody who administers the matter.";
    AccessRole "access"."role" Error, "Your role does not allow this",
        "The matter is open to you, but this needs a higher role.",
        "Ask somebody who has the role that the message names.";

    PrincipalExists "principal"."exists" Error, "There is a principal of this name",
        "A name stands for one key. Replacing it would put old decisions under a new key.",
        "Choose another name.";
    PrincipalKey "principal"."key" Error, "The key can't be used",
        "The key file is damaged, readable for others, or no Ed25519 key.",
        "Set its mode to 0600, or restore it from a backup; a lost key can't be made again.";

    FileUnreadable "file"."unreadable" Error, "The file can't be read",
        "The operating system refused; its own words are in the message.",
        "Check the path and the permissions.";
    OutputFailed "output"."failed" Error, "The output can't be written",
        "Standard output or the target file refused the result; what was to be done may be done, but not all of it was told.",
        "Check the target and its space, and look at the result with a read command.";
    UsageInvalid "usage"."invalid" Error, "The command line is not understood",
        "A command, option or value is missing, unknown or doubled.",
        "See `countersign help`, or add --help to the command for an example.";
}
