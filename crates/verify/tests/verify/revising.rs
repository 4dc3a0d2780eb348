//! Mending on a stage: looks at heads, plans with their steps, what people are asked, and commands.

use crate::stage::Stage;
use countersign_govern::types::added::showing::ActorKind;
use countersign_govern::types::basic::ArtifactVersionState as State;
use countersign_kernel::run::{Answer as Answered, Came};
use countersign_record::digest::Digest;
use countersign_work::artifact::{self, Version};
use countersign_work::call;
use countersign_work::claims::Claimed;
use countersign_work::command::{self, Asked, By, Effect, Given};
use countersign_work::desk::Desk;
use countersign_work::evaluate::{self, Head};
use countersign_work::outcome;
use countersign_work::revise::{self, Begun, Budget, Live, Means, Next, Produced, Started};
use countersign_work::score::Seen;

/// Steps and questions of one run, at most.
const STEPS_MAX: usize = 300;

/// What whoever carries a step out comes back with.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Text(String),
    Nothing,
    Fails,
}

/// Who carries steps out and answers questions: what comes of a step, from the text that it builds on; which of some options.
pub(crate) trait Others {
    fn step(&mut self, started: &Started, base: &str) -> Answer;
    fn choose(&mut self, options: &[String]) -> String;
}

impl Stage {
    fn with_heads<T>(&mut self, act: impl FnOnce(&mut Desk, &[Head<'_>], &Means<'_>) -> T) -> T {
        self.later();
        let ids: Vec<String> = self.desk.task().artifacts.iter().map(|one| one.id.clone()).collect();
        let mut heads: Vec<(String, Version, String, Vec<Claimed>)> = Vec::new();
        for id in ids {
            let Some(version) = artifact::head(&self.desk, &id) else { continue };
            let text = self.contents[&version.content].clone();
            let claims = self.claims(&id, &text);
            heads.push((id, version, text, claims));
        }
        let heads: Vec<Head<'_>> = heads
            .iter()
            .map(|(artifact, version, text, claims)| Head { artifact, version, text, claims })
            .collect();
        act(&mut self.desk, &heads, &Means { seen: &Seen::default(), budget: Budget::Left })
    }

    /// Looks at all that is to be looked at, and plans what falls short.
    fn look_and_plan(&mut self) {
        self.with_heads(|desk, heads, means| evaluate::all(desk, heads, means.seen).unwrap());
        revise::settle(&mut self.desk).unwrap();
        self.with_heads(|desk, heads, means| revise::plan(desk, heads, means).unwrap());
    }

    /// The text that the next step of an artifact's plan builds on.
    fn base(&self, artifact: &str) -> String {
        let mut all = artifact::versions(&self.desk, artifact);
        let last = all.rfind(|one| {
            matches!(one.state, Some(State::Candidate | State::UnderReview | State::AcceptedHead))
        });
        self.contents[&last.unwrap().content].clone()
    }

    fn text(&self, artifact: &str) -> String {
        self.contents[&artifact::head(&self.desk, artifact).unwrap().content].clone()
    }

    /// Carries plans out as far as that goes without a person; gives the question to one.
    fn mend(&mut self, others: &mut impl Others) -> Option<String> {
        for _ in 0..STEPS_MAX {
            let live = revise::standing(&self.desk).unwrap();
            let live = live.into_iter().find(|one| !matches!(one, Live::Revalidating))?;
            self.later();
            match live {
                Live::Compiled(compiled) => match revise::begin(&mut self.desk, compiled).unwrap() {
                    Begun::Dispatched(_) | Begun::Rejected(_) => {}
                },
                Live::Dispatched(dispatched) => {
                    let artifact = dispatched.artifact(&self.desk).unwrap();
                    let (before, base) = (self.text(&artifact), self.base(&artifact));
                    match revise::start(&mut self.desk, dispatched, &base).unwrap() {
                        Next::Work(_) => {}
                        Next::Done(stepped) => {
                            revise::review(&mut self.desk, stepped, &before, &base).unwrap();
                        }
                    }
                }
                Live::Running(mut started) => self.done(started.remove(0), others),
                Live::Asked(asked) => return Some(asked.question().to_owned()),
                Live::Revalidating => {}
            }
        }
        panic!("plans do not end")
    }

    fn done(&mut self, started: Started, others: &mut impl Others) {
        let base = self.base(started.artifact());
        let answer = match started.alone(&base) {
            Some(text) => Answer::Text(text),
            None => others.step(&started, &base),
        };
        match answer {
            Answer::Text(text) => {
                self.contents.insert(Digest::of(text.as_bytes()), text.clone());
                revise::done(&mut self.desk, started, &base, Produced::Text(&text)).unwrap();
            }
            Answer::Nothing => {
                revise::done(&mut self.desk, started, &base, Produced::Nothing).unwrap();
            }
            Answer::Fails => {
                revise::failed(&mut self.desk, started, &base).unwrap();
            }
        }
    }

    /// Has a person answer the first open question, or one that is named.
    fn ask(&mut self, named: Option<&str>, others: &mut impl Others) {
        let calls = call::open(&self.desk);
        let call = calls.iter().find(|one| named.is_none_or(|id| one.hard_call_id == id)).unwrap();
        let options: Vec<String> = call.options.iter().map(|one| one.option_id.clone()).collect();
        let option = others.choose(&options);
        let id = call.hard_call_id.clone();
        self.asks(&id, &option, "");
    }

    /// A run from its first draft to its packet; gives the status.
    pub(crate) fn whole(&mut self, draft: &str, others: &mut impl Others) -> String {
        self.drafted("memo", draft);
        for _ in 0..STEPS_MAX {
            self.look_and_plan();
            let task = self.desk.task().clone();
            let state = |id: &str| outcome::state(&self.desk, id);
            let is_open = |word: &str| task.outcomes.iter().any(|one| state(&one.id).as_str() == word);
            if is_open("needs_revision") || is_open("regressed") {
                self.judged("");
                self.call();
                while let Some(question) = self.mend(others) {
                    self.ask(Some(&question), others);
                }
                self.revised();
                self.call();
            } else if call::open(&self.desk).is_empty() && !is_open("dirty") {
                self.judged("");
                self.call();
                let claims = self.with_heads(|_, heads, _| {
                    heads.iter().flat_map(|head| head.claims.to_vec()).collect::<Vec<_>>()
                });
                let status = self.rely(&claims);
                self.integrated();
                return status;
            } else if !call::open(&self.desk).is_empty() {
                self.ask(None, others);
            }
        }
        panic!("the run does not end")
    }

    /// Ana gives a command that is carried out.
    pub(crate) fn command(&mut self, id: &str, request: &str) {
        self.later();
        let request = crate::stage::parsed(request);
        let texts = &self.contents;
        let contents = |digest: &Digest| texts.get(digest).map(|text| text.clone().into_bytes());
        let given = Given {
            contents: &contents,
            seen: &|_| Seen::default(),
            new_run: "run_fedcba9876543210",
            steps: &[],
            is_over: !id.starts_with("task."),
        };
        let by = By {
            name: "ana",
            kind: ActorKind::User,
            matter: "default",
            is_proposer: true,
            needs_another: false,
        };
        let key = format!("{id} {}", self.desk.end());
        let asked = Asked { command: id, key: &key, request: &request, by };
        let ruling = command::run(&mut self.desk, &asked, &given).unwrap();
        assert_eq!(ruling.reasons, Vec::<String>::new(), "{id}");
        if matches!(ruling.effect, Effect::Export { .. }) {
            command::finished(&mut self.desk, &asked, true).unwrap();
        }
        self.flush();
        if let Effect::Answered { question, option } = ruling.effect {
            let answer = Answered::Choose(option);
            self.come(Came::Answered { id: question, by: "ana".to_owned(), answer });
        }
    }
}
