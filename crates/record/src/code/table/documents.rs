//! The codes about what is read and printed.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! documents {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
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
            EnvelopeInvalid "envelope"."invalid" Error, "The document is no envelope of this kind",
                "Something in the document contradicts the contract of the envelope: a member is missing, has another type, or says something that can't be true together with the rest. Everything that is wrong is listed. Nothing was done.",
                "Mend what is listed under errors; countersign envelope validate says the same without doing anything.";
            EnvelopeFileChanged "envelope"."file_changed" Error, "A file is not the one that the envelope names",
                "The provenance gives a SHA-256 for the file, and the file on disk has another or is gone.",
                "Make the envelope anew from the files as they are, or restore the file.";
            RowInvalid "row"."invalid" Error, "The draft can't become a row",
                "A row needs a stream, a kind, a version from 1 and a payload; what is wrong is in the message.",
                "Mend the draft; `countersign ledger append --help` shows one.";
            RowTooLarge "row"."too_large" Error, "The row is larger than the limit",
                "A row holds 4 MiB of payload and names up to 1,024 blobs of up to 256 MiB.",
                "Put large content into a blob and name it by its digest.";
            RowTooNew "row"."too_new" Error, "The row was written by a newer version",
                "This build knows the kind but not this version of it, and guessing would be reading something that was not written.",
                "Read the ledger with the version that wrote it, or a later one.";
            RowKindReserved "row"."kind_reserved" Error, "Rows of this kind are not written by hand",
                "Only kinds that begin with external. may be appended from outside; the others are evidence that the product itself writes.",
                "Use a kind such as external.note.";
            FileUnreadable "file"."unreadable" Error, "The file can't be read",
                "The operating system refused; its own words are in the message.",
                "Check the path and the permissions.";
            FileTooMany "file"."too_many" Error, "The folder holds too much",
                "A manifest names every file of a folder, and there are more files and directories than a folder may have. Half of them could mislead, so none was taken.",
                "Name a folder further down, or have git ignore what is no source.";
            OutputFailed "output"."failed" Error, "The output can't be written",
                "Standard output or the target file refused the result; what was to be done may be done, but not all of it was told.",
                "Check the target and its space, and look at the result with a read command.";
            UsageInvalid "usage"."invalid" Error, "The command line is not understood",
                "A command, option or value is missing, unknown or doubled.",
                "See `countersign help`, or add --help to the command for an example.";
        }
    };
}
