//! The codes about what is kept.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! keeping {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
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
            FileTooMany "file"."too_many" Error, "The folder holds too much",
                "A manifest names every file of a folder, and there are more files and directories than a folder may have. Half of them could mislead, so none was taken.",
                "Name a folder further down, or have git ignore what is no source.";
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
        }
    };
}
