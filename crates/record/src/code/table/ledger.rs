//! The codes about the ledger.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! ledger {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
            LedgerConflict "ledger"."conflict" Error, "The stream has moved on",
                "The request expected the stream to end elsewhere. Somebody else appended first; nothing of this request was written.",
                "Read the stream again, decide again, and append with the new stream_seq.";
            LedgerIdemMismatch "ledger"."idem_mismatch" Error, "The idempotency key belongs to another request",
                "A key stands for one request for ever. The first request with this key asked for something else.",
                "Use a new key for a new request.";
            LedgerBatch "ledger"."batch" Error, "The batch can't be appended",
                "A batch needs 1 to 50,000 rows, and a row's cause must stand before it.",
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
            BlobMissing "blob"."missing" Critical, "A blob is missing",
                "A row names bytes that are not in the ledger, and no receipt says that they were erased.",
                "Restore them from an export; the row names their SHA-256.";
            HoldExists "hold"."exists" Error, "A hold of this name is in force",
                "Every hold has a name of its own, so that releasing it is clear.",
                "Choose another name, or release the other hold first.";
            HoldUnknown "hold"."unknown" Error, "No hold of this name is in force",
                "The hold was never placed in this matter, or was released before.",
                "`countersign ledger hold list` shows the holds in force.";
        }
    };
}
