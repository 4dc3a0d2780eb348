//! A stage for tests: a task is carried out as the engine decides it, and everything is written to a ledger.

use crate::book::{Book, Written};
use countersign_govern::reference::snake;
use countersign_govern::types::added::artifact::ArtifactVersionTransitionEvent;
use countersign_govern::types::added::policy::CapabilityState;
use countersign_govern::types::basic::HumanDecisionOption;
use countersign_govern::types::reliance::TaskReliancePacket;
use countersign_govern::types::sufficiency::CandidateRepairProcedureSafetyClass as Safety;
use countersign_govern::types::wire::Wire;
use countersign_kernel::pipeline::Pipeline;
use countersign_kernel::run::{Answer, Came, Doing, HARD_CALL, Outcome, Run, decide};
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::envelope::Provenance;
use countersign_record::id::{MatterId, RunId};
use countersign_record::json::{self, Json, Object};
use countersign_record::run_kind;
use countersign_record::state::{GenericEnvelope, Minted};
use countersign_record::time::{Instant, Timestamp};
use countersign_verify::packet::{Parts, Statement};
use countersign_work::artifact::{self, Made, Version};
use countersign_work::asking::{self, Call, Ended, Took};
use countersign_work::call;
use countersign_work::claims::{self, Claimed, Source};
use countersign_work::desk::Desk;
use countersign_work::evaluate::{self, Head, Looked};
use countersign_work::opening::{self, Given};
use countersign_work::rely;
use countersign_work::score::Seen;
use countersign_work::task;
use std::collections::BTreeMap;

pub(crate) const RUN: &str = "run_0123456789abcdef";

const PIPELINE: &str = r#"{"name":"stage","stages":[
    {"name":"draft","agent":{"kind":"built_in","name":"task_draft"},"default_next":"critic"},
    {"name":"critic","agent":{"kind":"built_in","name":"task_critic"},"default_next":"integration","rules":[
        {"key":"route","value":"revision","target":"revision"}]},
    {"name":"revision","agent":{"kind":"built_in","name":"task_revision"},"default_next":"critic"},
    {"name":"integration","agent":{"kind":"built_in","name":"task_integration"}}],
    "limits":{"max_iterations":60,"max_llm_calls":10,"max_agent_hops":200,"max_stages":5,"max_critic_fires":60}}"#;

/// The same where code is held to its CodeSpec.
const CODED: &str = r#"{"name":"coded","stages":[
    {"name":"draft","agent":{"kind":"built_in","name":"task_draft"},"default_next":"enforcement"},
    {"name":"enforcement","agent":{"kind":"built_in","name":"enforcement"},"default_next":"critic"},
    {"name":"critic","agent":{"kind":"built_in","name":"task_critic"},"default_next":"integration"},
    {"name":"integration","agent":{"kind":"built_in","name":"task_integration"}}],
    "limits":{"max_iterations":60,"max_llm_calls":10,"max_agent_hops":200,"max_stages":5,"max_critic_fires":60}}"#;

pub(crate) struct Stage {
    pub(crate) desk: Desk,
    pub(crate) book: Book,
    document: Json,
    texts: Vec<(String, String, String)>,
    files: BTreeMap<String, Vec<u8>>,
    /// Texts of sources and versions by their hashes.
    pub(crate) contents: BTreeMap<Digest, String>,
    pipeline: Pipeline,
    run: Run,
    seconds: i64,
    /// Questions to models that the stage that is at work has asked.
    pub(crate) calls: Vec<Call>,
    /// Moves of versions until the stage that is at work was called.
    moves: usize,
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::try_from(Instant { seconds: 1_767_258_000 + seconds, nanos: 0 }).unwrap()
}

fn minted() -> Minted {
    Minted {
        envelope_id: "env_0123456789abcdef".try_into().unwrap(),
        request_id: "req_0123456789abcdef".try_into().unwrap(),
        session_id: "sess_0123456789abcdef".try_into().unwrap(),
        received_at: at(0),
    }
}

/// The file of the task's folder that the pipeline is.
pub(crate) const OWN: &str = "own.toml";

/// A task that goes by a pipeline of its own.
fn named(task: &Json) -> Json {
    let mut task = task.as_object().unwrap().clone();
    let mut work = task.get("work").and_then(Json::as_object).cloned().unwrap_or_default();
    work.insert("pipeline", OWN);
    task.insert("work", work);
    task.into()
}

/// A document as the file that it is read from.
fn toml_of(document: &Json) -> String {
    let members = document.as_object().unwrap().iter();
    let line = |(name, value): (&str, &Json)| {
        format!("{name} = {}\n", json::to_text(value).unwrap().replace("\":", "\" = "))
    };
    members.map(line).collect()
}

pub(crate) fn parsed(text: &str) -> Json {
    json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

impl Stage {
    /// A run of a task with the texts of its sources by their ids, and other files by their paths.
    pub(crate) fn new(task: &str, texts: &[(&str, &str)], files: &[(&str, &str)]) -> Self {
        Stage::lying(task, texts, texts, files)
    }

    /// The same, by an engine that keeps some texts as the sources and holds claims against others.
    pub(crate) fn lying(
        task: &str,
        kept: &[(&str, &str)],
        texts: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> Self {
        let document = parsed(task);
        let has_code = document.get("artifacts").and_then(Json::as_array).unwrap().iter();
        let has_code = has_code.clone().any(|one| one.get("codespec").is_some());
        let pipeline = if has_code { CODED } else { PIPELINE };
        let (document, own) = (named(&document), toml_of(&parsed(pipeline)));
        let pipeline = Pipeline::read(parsed(pipeline)).unwrap();
        let task = task::read_whole(&document).unwrap_or_else(|troubles| panic!("{troubles:?}"));
        let of = |id: &str| texts.iter().find(|(one, _)| *one == id).unwrap().1.to_owned();
        let texts: Vec<(String, String, String)> =
            task.sources.iter().map(|one| (one.id.clone(), one.path.clone(), of(&one.id))).collect();
        let matter = MatterId::try_from("default".to_owned()).unwrap();
        let run = RunId::try_from(RUN.to_owned()).unwrap();
        let desk = Desk::new(task, run, matter.clone(), at(0));
        let input = task::envelope(desk.task(), "ana");
        let mut envelope = Run::begun(&pipeline, GenericEnvelope::read(input, minted()).unwrap());
        envelope.envelope.metadata.insert("run_id", RUN);
        let files = files.iter().copied().chain([(OWN, own.as_str())]);
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect();
        let book = Book { matter, written: Vec::new() };
        let contents = texts.iter().map(|(.., text)| (Digest::of(text.as_bytes()), text.clone())).collect();
        let mut stage = Stage {
            desk,
            book,
            document,
            texts,
            files,
            contents,
            pipeline,
            run: envelope,
            seconds: 0,
            calls: Vec::new(),
            moves: 0,
        };
        stage.foreign();
        stage.began();
        stage.call();
        let of = |id: &str| kept.iter().find(|(one, _)| *one == id).unwrap().1.as_bytes().to_vec();
        let bytes: Vec<Vec<u8>> = stage.texts.iter().map(|(id, ..)| of(id)).collect();
        let able =
            |id: &str| CapabilityState { capability_id: id.into(), version: "1.0.0".into(), healthy: true };
        let capabilities = ["evaluate", "quote_sources", "revise_by_quotes"].map(able);
        opening::open(&mut stage.desk, &Given { sources: &bytes, capabilities: &capabilities }).unwrap();
        stage.foreign();
        stage
    }

    fn now(&self) -> Timestamp {
        at(self.seconds)
    }

    fn write(&mut self, stream: &str, kind: &str, payload: Json, blobs: Vec<Vec<u8>>, at: Timestamp) {
        let (stream, kind, version) = (stream.to_owned(), kind.to_owned(), run_kind::version(kind));
        let is_decision = kind == run_kind::ANSWERED || kind == "govern.command_invocation";
        self.book.written.push(Written { stream, kind, version, at, payload, blobs, is_decision });
    }

    /// Somebody else writes something.
    fn foreign(&mut self) {
        let payload = parsed(r#"{"note":"nobody else's business"}"#);
        self.write("notes", "note.taken", payload, Vec::new(), self.now());
    }

    fn began(&mut self) {
        let text = json::to_text(&self.run.envelope).unwrap().into_bytes();
        let pipeline = canonical::to_bytes_of(&self.pipeline).unwrap();
        let identity = self.run.envelope.identity.clone();
        let payload = Object::from([
            ("run", Json::from(RUN)),
            ("envelope_id", identity.envelope_id.as_str().into()),
            ("request_id", identity.request_id.as_str().into()),
            ("session_id", identity.session_id.as_str().into()),
            ("state_hash", String::from(self.run.envelope.hash().unwrap()).into()),
            ("pipeline", self.pipeline.name.as_str().into()),
            ("pipeline_hash", String::from(Digest::of(&pipeline)).into()),
        ]);
        let hashes =
            self.files.iter().map(|(path, bytes)| (path.as_str(), String::from(Digest::of(bytes)).into()));
        let hashes: Object = hashes.collect();
        let setup = Object::from([("task", self.document.clone()), ("files", hashes.into())]);
        let mut blobs = vec![text, pipeline, canonical::to_bytes(&setup.into()).unwrap()];
        blobs.extend(self.files.values().cloned());
        let stream = format!("run/{RUN}");
        self.write(&stream, run_kind::BEGAN, payload.into(), blobs, self.now());
    }

    pub(crate) fn come(&mut self, came: Came) {
        let at = self.now();
        for event in decide(&self.pipeline, &self.run, came, &at).unwrap() {
            let kept = event.kept().unwrap();
            let blobs = kept.content.into_iter().collect();
            self.write(&format!("run/{RUN}"), kept.kind, kept.payload.into(), blobs, at.clone());
            self.run.apply(&event);
        }
    }

    /// The next agent is called.
    pub(crate) fn call(&mut self) {
        self.moves = self.desk.all::<ArtifactVersionTransitionEvent>().count();
        self.come(Came::Go);
    }

    /// What lies on the desk is written, and the agent hands over.
    pub(crate) fn hand_over(&mut self, payload: &str) {
        let output = parsed(payload).as_object().unwrap().clone();
        self.returned(Outcome::Done(output), "stop_1");
    }

    /// An artifact is drafted, and becomes its first version when the critic is called.
    pub(crate) fn drafted(&mut self, artifact: &str, text: &str) -> Version {
        let texts = Object::from([(artifact, Json::from(text))]);
        let draft = Object::from([
            ("text", Json::from(text)),
            ("texts", texts.into()),
            ("written_by", "extractive".into()),
        ]);
        self.returned(Outcome::Done(draft), "stop_1");
        self.call();
        self.version(artifact, text)
    }

    /// Code is drafted, repaired by a model, and becomes its first version when the critic is called.
    pub(crate) fn enforced(&mut self, artifact: &str, draft: &str, fenced: &str) -> Version {
        let texts = Object::from([(artifact, Json::from(draft))]);
        let drafted = Object::from([
            ("text", Json::from(draft)),
            ("texts", texts.into()),
            ("written_by", "scripted".into()),
        ]);
        self.calls.push(asked("draft"));
        self.returned(Outcome::Done(drafted), "stop_1");
        self.call();
        let hash = |text: &str| Json::from(String::from(Digest::of(text.as_bytes())));
        let hashes = Object::from([
            ("draft_sha256", hash(draft)),
            ("final_sha256", hash(fenced)),
            ("spec_sha256", hash("the rules")),
        ]);
        let path = self.desk.task().artifact(artifact).unwrap().path.clone();
        let code = Object::from([("filename", Json::from(path)), ("code_fenced", fenced.into())]);
        let report = Object::from([
            ("status", Json::from("PASS")),
            ("violations", Json::Array(Vec::new())),
            ("repair", Object::from([("outcome", Json::from("applied"))]).into()),
            ("artifact", code.into()),
            ("hashes", hashes.into()),
        ]);
        self.calls.push(asked("enforcement"));
        self.returned(Outcome::Done(report), "stop_1");
        self.call();
        let inside = fenced.split_once('\n').unwrap().1.rsplit_once("```").unwrap().0.to_owned();
        self.version(artifact, &inside)
    }

    /// The work as it stands is handed over.
    pub(crate) fn integrated(&mut self) {
        let (mut products, mut first) = (Vec::new(), None);
        for one in &self.desk.task().artifacts {
            let Some(head) = artifact::head(&self.desk, &one.id) else { continue };
            first = first.or_else(|| self.contents.get(&head.content).cloned());
            products.push(Json::from(Object::from([
                ("artifact", Json::from(one.id.as_str())),
                ("path", one.path.as_str().into()),
                ("version", parsed(&head.number.to_string())),
                ("sha256", String::from(head.content).into()),
            ])));
        }
        let packet = self.desk.each::<TaskReliancePacket>("TaskReliancePacket").next_back().unwrap().record;
        let derived = &packet.reliance_derivation;
        let limits = derived.unresolved_limitations.iter().map(|one| Json::from(one.as_str()));
        let handed = Object::from([
            ("final_response", Json::from(first.unwrap_or_default())),
            ("products", Json::Array(products)),
            ("packet", packet.packet_id.as_str().into()),
            ("reliance_status", derived.status.as_str().into()),
            ("limitations", Json::Array(limits.collect())),
        ]);
        self.returned(Outcome::Done(handed), "stop_1");
    }

    /// The critic hands over what the looks came to.
    pub(crate) fn judged(&mut self, seen: &str) {
        let state = |id: &str| countersign_work::outcome::state(&self.desk, id);
        let states: Vec<(String, &str)> =
            self.desk.task().outcomes.iter().map(|one| (one.id.clone(), state(&one.id).as_str())).collect();
        let is_open = states.iter().any(|(_, state)| ["needs_revision", "regressed"].contains(state));
        let stands: Vec<String> =
            states.iter().map(|(id, state)| format!(r#"{{"outcome":"{id}","state":"{state}"}}"#)).collect();
        let route = if is_open { "revision" } else { "hand_over" };
        let stands = stands.join(",");
        let is_left = |id: &str| !countersign_work::outcome::is_settled(state(id));
        let left: Vec<&str> = states.iter().map(|(id, _)| id.as_str()).filter(|id| is_left(id)).collect();
        let goals: Vec<String> =
            self.run.envelope.goals.remaining_goals.iter().map(|goal| format!("{goal:?}")).collect();
        let (goals, none) = (goals.join(","), String::new());
        let (reached, unreached) = if left.is_empty() { (&goals, &none) } else { (&none, &goals) };
        let feedback = if left.is_empty() { none.clone() } else { format!("not met: {}", left.join(", ")) };
        let confidence = u8::from(left.is_empty());
        let goals = format!(r#""satisfied_goals":[{reached}],"unsatisfied_goals":[{unreached}]"#);
        let rest = format!(r#""feedback":"{feedback}","confidence":{confidence},{goals}{seen}"#);
        self.hand_over(&format!(
            r#"{{"verdict":"approved","route":"{route}","outcomes":[{stands}],{rest}}}"#
        ));
    }

    /// The revisor hands over what it made since it was called.
    pub(crate) fn revised(&mut self) {
        let moves: Vec<ArtifactVersionTransitionEvent> = self.desk.all().skip(self.moves).collect();
        let made = moves.iter().filter(|one| one.to_state.as_str() == "accepted_head").map(|one| {
            let (artifact, number) = one.artifact_version_ref.as_str().rsplit_once(".v").unwrap();
            let artifact = artifact.rsplit_once('.').unwrap().1;
            format!(r#"{{"artifact":"{artifact}","version":{number},"accepted":true}}"#)
        });
        let made: Vec<String> = made.collect();
        self.hand_over(&format!(r#"{{"made":[{}],"steps":1}}"#, made.join(",")));
    }

    /// What a stage says that asks models: what it took, which is put down.
    fn took(&mut self, stage: &str, payload: &mut Object) {
        let module = match stage {
            "draft" => "draft",
            "critic" => "evaluator",
            "revision" => "revision",
            "enforcement" => "enforcement",
            _asks_nothing => return,
        };
        let took = Took { calls: std::mem::take(&mut self.calls), wall_clock_ms: 3 };
        asking::record(&mut self.desk, module, &took).unwrap();
        payload.insert("took", took.write().unwrap());
    }

    /// The critic asks, and a person chooses.
    pub(crate) fn asks(&mut self, question: &str, option: &str, seen: &str) {
        self.escalates(question, seen);
        self.later();
        call::answer(&mut self.desk, question, option, "ana").unwrap();
        self.flush();
        self.later();
        let answer = Answer::Choose(option.to_owned());
        self.come(Came::Answered { id: question.to_owned(), by: "ana".to_owned(), answer });
        self.call();
    }

    pub(crate) fn escalates(&mut self, question: &str, seen: &str) {
        let calls = call::open(&self.desk);
        let call = calls.iter().find(|one| one.hard_call_id == question).unwrap();
        let steps: Vec<Json> = call.options.iter().map(|one| one.option_id.as_str().into()).collect();
        let option = |one: &HumanDecisionOption| {
            Json::from(Object::from([
                ("id", Json::from(one.option_id.as_str())),
                ("label", one.label.as_str().into()),
                ("consequence", one.consequence_text.as_str().into()),
            ]))
        };
        let seen = parsed(&format!("{{{}}}", seen.trim_start_matches(',')));
        let mut payload = seen.as_object().unwrap().clone();
        payload.insert("message", call.prompt_text.as_str());
        payload.insert("question", question);
        payload.insert("options", Json::Array(call.options.iter().map(option).collect()));
        payload.insert("next_steps", Json::Array(steps));
        self.returned(Outcome::Escalate { reason: HARD_CALL.to_owned(), payload }, question);
    }

    /// The agent asks for leave, and a person gives it.
    pub(crate) fn asks_leave(&mut self, message: &str) {
        self.returned(Outcome::Confirm { message: message.to_owned(), expires_at: None }, "stop_1");
        self.later();
        let (id, by) = ("stop_1".to_owned(), "ana".to_owned());
        self.come(Came::Answered { id, by, answer: Answer::Approve });
        self.call();
    }

    fn returned(&mut self, mut outcome: Outcome, stop_id: &str) {
        let Doing::Called { stage, .. } = self.run.doing.clone() else { panic!("nobody was called") };
        let llm_calls = self.calls.len() as u64;
        if let Outcome::Done(payload) | Outcome::Escalate { payload, .. } = &mut outcome {
            self.took(&stage, payload);
        }
        self.flush();
        let stage = self.pipeline.stage(&stage).unwrap().clone();
        let handoff = self.run.handoff(&stage, outcome, Provenance::default(), &self.now());
        let stop_id = stop_id.to_owned();
        self.come(Came::Returned { stage: stage.name, handoff: Box::new(handoff), llm_calls, stop_id });
    }

    pub(crate) fn flush(&mut self) {
        self.later();
        for entry in self.desk.take() {
            let mut payload = Object::from([("record", entry.draft.record)]);
            if let Some(id) = entry.draft.id {
                payload.insert("id", id);
            }
            let kind = format!("govern.{}", snake(&entry.draft.kind));
            let at = Timestamp::try_from(entry.draft.at.unwrap()).unwrap();
            self.write(&format!("work/{RUN}"), &kind, payload.into(), entry.contents, at);
        }
    }

    pub(crate) fn later(&mut self) {
        self.seconds += 60;
        self.desk.at(&at(self.seconds));
    }

    /// A version of an artifact that becomes its head.
    pub(crate) fn version(&mut self, artifact: &str, text: &str) -> Version {
        self.later();
        self.contents.insert(Digest::of(text.as_bytes()), text.to_owned());
        let made = Made { artifact, bytes: text.as_bytes(), step_id: None, safety: Safety::Mechanical };
        let version = artifact::candidate(&mut self.desk, &made).unwrap();
        artifact::accept(&mut self.desk, artifact, &version).unwrap();
        version
    }

    /// Looks at everything; the heads by artifact, version and text.
    pub(crate) fn look(
        &mut self,
        heads: &[(&str, &Version, &str)],
        seen: &Seen,
    ) -> (Vec<Claimed>, Vec<Looked>) {
        self.later();
        let claims: Vec<Vec<Claimed>> =
            heads.iter().map(|(artifact, _, text)| self.claims(artifact, text)).collect();
        let all: Vec<Head<'_>> = heads
            .iter()
            .zip(&claims)
            .map(|((artifact, version, text), claims)| Head { artifact, version, text, claims })
            .collect();
        let looked = evaluate::all(&mut self.desk, &all, seen).unwrap();
        (claims.concat(), looked)
    }

    /// What a text claims, held against the sources.
    pub(crate) fn claims(&mut self, artifact: &str, text: &str) -> Vec<Claimed> {
        let texts = self.texts.clone();
        let sources: Vec<Source<'_>> =
            texts.iter().map(|(id, path, text)| Source::new(id, path, text)).collect();
        let artifact = self.desk.task().artifact(artifact).unwrap().clone();
        claims::check(&mut self.desk, &artifact, text, &sources).unwrap()
    }

    /// The packet of the work as it stands; gives the status.
    pub(crate) fn rely(&mut self, claims: &[Claimed]) -> String {
        self.later();
        let package = rely::package(&mut self.desk, claims).unwrap();
        let packet = rely::packet(&mut self.desk, &package, &rely::Besides::default()).unwrap();
        packet.reliance_derivation.status.as_str().to_owned()
    }

    /// What a statement of the run is made of.
    pub(crate) fn parts(&self) -> Parts {
        parts(&self.book, &self.document, &self.files, at(self.seconds))
    }

    pub(crate) fn statement(&self) -> Statement {
        Statement::of(self.parts()).unwrap()
    }
}

/// A question to a model here.
fn asked(module: &str) -> Call {
    Call {
        module: module.to_owned(),
        planned: None,
        shown: BTreeMap::new(),
        host: None,
        input_tokens: 1_184,
        output_tokens: 792,
        usd_micros: None,
        ended: Ended::Completed,
    }
}

/// What a statement of a run in a book is made of.
pub(crate) fn parts(
    book: &Book,
    task: &Json,
    files: &BTreeMap<String, Vec<u8>>,
    made_at: Timestamp,
) -> Parts {
    Parts {
        matter: book.matter.clone(),
        run: RunId::try_from(RUN.to_owned()).unwrap(),
        made_at: made_at.clone(),
        made_by: "ana".to_owned().try_into().unwrap(),
        made_with: "countersign test".to_owned(),
        task: task.clone(),
        files: files.iter().map(|(path, bytes)| (path.clone(), Digest::of(bytes))).collect(),
        rows: book.entries(RUN),
        anchor: Some(book.anchor(&made_at)),
        blobs: book.blobs(RUN),
    }
}
