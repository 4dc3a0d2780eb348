//! The codes about packets that are verified.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! verify {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
            PacketMissing "packet"."missing" Error, "The run has no reliance packet",
                "A reliance packet is written when a task's run hands its work over. This run is none of a task, or has not come that far.",
                "See where the run stands with countersign runs show; let it go on, or run the task.";
            VerifyFile "verify"."file" Error, "The file is no packet",
                "A packet is one signed envelope (DSSE) around one statement (in-toto), both in canonical JSON. This file is not, or not any more: the message says where it stops being one.",
                "Get the file again from whoever exported it; copies that an editor or a mail program changed by a byte are no packets any more.";
            VerifySignature "verify"."signature" Critical, "The signature is not under this packet",
                "The signature was not made by the key that it names over the bytes that stand here. The packet was changed after it was signed, or the signature belongs to another one.",
                "Do not rely on it. Get the packet again, and compare its digest with the one that its maker tells you on another way.";
            VerifySigner "verify"."signer" Error, "Nobody you trust has signed the packet",
                "The signature is sound, but its key is none of those that you gave as trusted.",
                "Ask who exported the packet for their public key on another way, and look whether it is the one in the report.";
            VerifyStatement "verify"."statement" Critical, "The packet says of itself what is not in it",
                "The head of the statement names a run, a status, work products, keys, files or formulas, and what follows from its rows is another.",
                "Do not rely on the head of this packet. Have it exported again from the ledger.";
            VerifyRow "verify"."row" Critical, "A row was changed",
                "A row does not have the hash that it names, or is not in the form in which rows are exported.",
                "Do not rely on the packet. Compare the row with the ledger that it came from.";
            VerifyChain "verify"."chain" Critical, "Rows do not follow on each other",
                "Each row names the hash of the one before it. Here a row is missing, was put in, stands elsewhere, or belongs to another matter.",
                "Do not rely on the packet. Have it exported again, and check the ledger with countersign ledger verify.";
            VerifyBlob "verify"."blob" Critical, "Bytes are not those that a row names",
                "A text that a row names by its digest has another digest, another length, or is not in the packet at all without being told as withheld.",
                "Do not rely on the packet. Have it exported again from the ledger.";
            VerifyDecision "verify"."decision" Critical, "A person's signature is not theirs",
                "A decision in the packet names a key and a signature, and the signature was not made by that key over that decision.",
                "Do not take the decision for theirs. Ask the person.";
            VerifyAnchor "verify"."anchor" Critical, "The anchor speaks of another ledger",
                "The signed head that came with the packet is forged, of another matter, or of a row that is not the one in the packet.",
                "Do not rely on the packet. Compare with an anchor that was kept elsewhere.";
            VerifyIncomplete "verify"."incomplete" Error, "Something that must be there is not",
                "A run leaves a row for every call of an agent and for every step of an evaluation, and a packet lists all that it rests on. One of these is missing, or something came after it that it does not know.",
                "Have the packet exported again after the run has come to its end; if rows are missing in the ledger too, the run can't be shown.";
            VerifyContract "verify"."contract" Error, "A record breaks a rule of the contract",
                "A governed record of the packet has a validation code; countersign explain tells each of them.",
                "Look the code up with countersign explain. A log that was written by this product has none.";
            VerifyContradiction "verify"."contradiction" Error, "Two records contradict each other",
                "One record says what another one rules out: a name of nothing, a place or time that can't be, a list that leaves something out, a hash of something else.",
                "Do not rely on either. A log that was written by this product does not contradict itself.";
            VerifyRun "verify"."run" Error, "The run did not go as its rows say",
                "Where a run goes follows from its pipeline, from what agents handed over and from what people answered. Decided again from these, the rows come out otherwise.",
                "Do not rely on the order of events in this packet, nor on how the run ended.";
            VerifyFormula "verify"."formula" Error, "A formula is not the registered one",
                "A receipt names a formula that this build does not have in that version, or the packet carries another text for it.",
                "If the packet was made by another version of the product, verify it with that one. Otherwise the formula was replaced.";
            VerifyReceipt "verify"."receipt" Error, "A receipt is not of this computation",
                "The inputs of a formula were gathered again from the records and computed again, and a hash or a note in the receipt is another.",
                "Do not rely on the value that the receipt stands under.";
            VerifyDerivation "verify"."derivation" Error, "A value does not follow from what it rests on",
                "Every score, status, finding, name and list of a packet follows from the task, the texts, the answers and the rules. Derived again, this one is another.",
                "Do not rely on it, nor on what rests on it. The report says which value was expected.";
            VerifyUnderivable "verify"."underivable" Error, "A value can't be derived again",
                "What a receipt or a record rests on is not in the packet, and is not told as withheld either; or no rule of this build says how to derive it.",
                "Have the packet exported with what is missing, or verify it with the version of the product that made it.";
        }
    };
}
