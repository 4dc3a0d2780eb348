//! The codes about sessions and what they may do.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! sessions {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
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
            CapabilityTurn "capability"."turn" Error, "What was asked for one turn can't be granted after it",
                "A session is sent to a model for a turn. Whoever confirms that once confirms it for the turn that asks, and that turn is over: the next one would ask again.",
                "Grant it for a time, as with `--for 10m`, or answer the question in `countersign chat` at a terminal.";
            LeavingLocalOnly "leaving"."local_only" Error, "Something that must not leave the machine would have left",
                "The session holds something of the class local_only, so nothing that is made from it may be sent away: no request to a remote model, no address of a page. Nothing was sent, and a receipt says so.",
                "Use a model on this machine, or begin a new session without that source.";
            LeavingUnconfirmed "leaving"."unconfirmed" Error, "Sending privileged content was not confirmed",
                "The session holds something privileged. It is sent to a host only if a person confirms that host. Nothing was sent, and a receipt says so.",
                "Confirm it when you are asked, or with `countersign capability grant leave:HOST`.";
            PolicyInvalid "policy"."invalid" Error, "The policy can't be used",
                "The policy file is no TOML, or has a member that is unknown or wrong. Nothing runs under a policy that is not understood.",
                "Mend the member that the message names; `countersign chat --help` shows a policy.";
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
        }
    };
}
