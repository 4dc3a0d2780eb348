//! The codes about what agents do.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! work {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
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
            RunOver "run"."over" Error, "The run has ended",
                "A run that has ended does not go on, and takes no answer.",
                "Begin another run, or look at this one to see why it ended.";
            RunWaiting "run"."waiting" Error, "The run waits for a person",
                "A question was asked, and nothing goes on before it is answered.",
                "Answer the question that the run shows.";
            RunBusy "run"."busy" Error, "The run is at work elsewhere",
                "An agent was called and has not answered, or an answer came from one that was not called.",
                "Wait for the agent, or look at the run to see what it does.";
            RunBound "run"."bound" Error, "The run has gone as far as it may",
                "One of the run's bounds was reached: iterations, calls of models, handovers, stages or refusals of the critic. The run has ended, and its envelope says which.",
                "Look at terminal_reason and at what was done; begin again with other bounds if more is worth it.";
            RunDenied "run"."denied" Error, "Somebody or some rule said no",
                "A person denied what the run asked leave for, or policy forbids it. The run has ended, and what was denied was not done.",
                "See termination_reason. What was denied stays so; begin a run that does not need it.";
            RunFailed "run"."failed" Error, "An agent failed",
                "An agent of the run failed and the pipeline names no stage for that. The run has ended, and errors of the envelope say what happened.",
                "See errors of the envelope; where it is recoverable, begin the run again.";
            RunMissing "run"."missing" Error, "There is no such run",
                "No run of this name is in the matter's ledger.",
                "List the runs with countersign runs list, and look at --matter and --data.";
            RunErased "run"."erased" Error, "What the run said was erased",
                "The run's rows are there, but bytes that they name were erased, so that its state can't be told any more.",
                "The rows and the receipt of the erasure stay in the ledger; the run itself can't go on.";
            RunUnreadable "run"."unreadable" Critical, "A row of the run can't be read",
                "A row in the run's stream says something that no run does, so that the run's state can't be told.",
                "Check the ledger with countersign ledger verify; if it is whole, the row was written by another program or version.";
            RunAgent "run"."agent" Error, "Nobody works in a stage",
                "The pipeline names an agent that is not there: one that is not built in, or a program although programs are not allowed.",
                "See the message for the stage. Programs need --allow-programs.";
            RunPipeline "run"."pipeline" Error, "The pipeline can't be used",
                "The pipeline's file can't be read as one. Every mistake is told with its line.",
                "Mend the lines that are named; schemas/pipeline.v1.schema.json says what a pipeline is.";
            AnswerUnasked "answer"."unasked" Error, "Nobody asked that",
                "The run waits for no answer, or for the answer to another question. Nothing was changed.",
                "Look at the run, and answer the question that it shows, by its id.";
            AnswerExpired "answer"."expired" Error, "The question has expired",
                "Questions that ask for leave stand for a time. Nothing was changed.",
                "Have the run ask again.";
            AnswerKind "answer"."kind" Error, "The question needs another kind of answer",
                "A clarification is answered in words, a confirmation with yes or no, an escalation with what is to be done. Nothing was changed.",
                "Answer as the message says.";
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
        }
    };
}
