//! The codes about bundles, formulas, commands and replays; what is wrong with records has codes of its own, in `govern`.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! governance {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
            BundleInvalid "bundle"."invalid" Error, "The document is no bundle",
                "A bundle has schema_version 1.0 and rows, each with kind and record, and perhaps as_of. Nothing was checked.",
                "See docs/governance.md for the form; the path says where it is broken.";
            FormulaUnknown "formula"."unknown" Error, "There is no such formula",
                "Only registered formulas are computed: their text, inputs and policies are what a receipt stands for.",
                "`countersign formula list` prints all of them.";
            FormulaRefused "formula"."refused" Error, "The formula has no value for these inputs",
                "An input is missing, unknown, out of its range or not of its kind, or inputs do not go together; `errors` says which, with the place, and `validation_code` names the contract's own code where it has one. There is no value, and no receipt.",
                "`countersign formula show ID` says what each input must be, and what they must be together.";
            CommandUnknown "command"."unknown" Error, "There is no such command",
                "Only registered commands change what is governed: their checks, records and failures are stated. Nothing was done.",
                "`countersign command list` prints all of them.";
            CommandRequest "command"."request" Error, "The request does not fit the command",
                "Each command has a schema of what it is asked with. Nothing was done; what is wrong is told by its place.",
                "`countersign command list --json` has the schema of every request.";
            CommandKey "command"."key" Error, "The key stands for something else",
                "A command that writes is known by its key: the same key with the same request gives the same receipt again. This key was used for another request, or is empty. Nothing was done.",
                "Leave --key out, or give one that was not used.";
            CommandDenied "command"."denied" Error, "A policy forbids the command",
                "A policy check said no. That it was asked for, and what was decided, is on record; nothing else was done.",
                "See the reasons. Who began a run can't decide on it where the policy wants somebody else.";
            CommandMissing "command"."missing" Error, "There is nothing to do it to",
                "What the command is for is not there. That it was asked for is on record; nothing else was done.",
                "See the reasons, and name what the command is about.";
            CommandState "command"."state" Error, "It is not in a state for that",
                "What the command is for is there, but not where it can be done to it. That it was asked for is on record; nothing else was done.",
                "See the reasons: they say what stands in the way.";
            CommandTask "command"."task" Error, "The run is no task's",
                "Commands are about the governed records of a task's run, and this run has none.",
                "Begin one with `countersign run FOLDER`.";
            ReplayRefused "replay"."refused" Error, "The run can't be replayed in that mode",
                "The mode promises what a step of the run can't give: a model, a tool or the web does not answer the same twice. Nothing was run.",
                "Use audit_reconstruction or simulation_from_recorded_outputs, which take what was recorded.";
            ReplayDiverged "replay"."diverged" Error, "The replay came out differently",
                "Something that is decided again is not what the ledger has. The first difference is named; all of them are recorded in the stream of the replay.",
                "For audit_reconstruction: the ledger was written by another version of the program, or was changed. `countersign ledger verify` says which.";
            AuditMissing "audit"."missing" Error, "The run has no such record",
                "Only what a record of the run says is explained, and none of its records is called that.",
                "`countersign audit RUN` prints the decisions of a run with their references.";
        }
    };
}
