//! The codes about the chain, its copies and who may use it.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! chain {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
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
        }
    };
}
