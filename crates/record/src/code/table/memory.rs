//! The codes about what is remembered.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! memory {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
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
            SnapshotUnreadable "snapshot"."unreadable" Error, "A snapshot can't be opened",
                "There is no such file, it is a link or no regular file, or the operating system refused to open it.",
                "Check what the path leads to and who may read it; name the file itself and not a link to it.";
            EmbedModel "embed"."model" Error, "The embedding model can't be loaded",
                "The directory is no model of static embeddings that can be relied on: a file is missing, damaged or too large, the files do not fit each other, or the tokenizer has a part that is not taken. Nothing in the directory is ever executed.",
                "Give a directory with model.safetensors (one table of float vectors) and tokenizer.json, as model2vec writes them; without one, the offline default is used.";
        }
    };
}
