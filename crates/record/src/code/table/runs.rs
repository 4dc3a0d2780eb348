//! The codes about runs.
//! Owns: their words. Must not: hold code.

/// Hands these codes, after those before them, to the next list.
macro_rules! runs {
    ([$next:ident $($rest:ident)*] $($before:tt)*) => {
        $next! { [$($rest)*] $($before)*
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
            RunStopped "run"."stopped" Error, "The run was stopped",
                "A signal came while a stage of a task's run was at work. What was written down before stays; of the stage nothing was kept, and nothing had left for it.",
                "Go on with it: countersign runs resume RUN.";
            RunMissing "run"."missing" Error, "There is no such run",
                "No run of this name is in the matter's ledger.",
                "List the runs with countersign runs list, and look at --matter and --data.";
            TaskInvalid "task"."invalid" Error, "The task can't be used",
                "The task's file can't be read as one, or something in it does not fit together. Every mistake is told with its line.",
                "Mend the lines that are named; schemas/task.v1.schema.json says what a task is, and countersign task new makes one.";
            RunRecords "run"."records" Critical, "The records of a run can't be written",
                "A step of a task's run would have made records that can't stand in its log. Nothing of the step was written: the run stands where it stood before.",
                "Keep the data directory as it is and report it with the message: this is a defect of ours. `countersign runs resume RUN` tries the step again.";
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
            RunStage "run"."stage" Error, "The pipeline has no such stage",
                "The envelope stands at a stage that the pipeline does not have. Nothing was done, and the envelope is handed back as it came.",
                "Name the pipeline that the envelope belongs to with --pipeline; current_stage of the envelope says where it stands.";
            AnswerUnasked "answer"."unasked" Error, "Nobody asked that",
                "The run waits for no answer, or for the answer to another question. Nothing was changed.",
                "Look at the run, and answer the question that it shows, by its id.";
            AnswerExpired "answer"."expired" Error, "The question has expired",
                "Questions that ask for leave stand for a time, and those of a task as long as its policies.questions say. Your answer changed nothing; where that policy says abort, the run has ended without a packet.",
                "Have the run ask again; a task whose run has ended is run anew.";
            AnswerKind "answer"."kind" Error, "The question needs another kind of answer",
                "A clarification is answered in words, a confirmation with yes or no, an escalation with what is to be done. Nothing was changed.",
                "Answer as the message says.";
        }
    };
}
