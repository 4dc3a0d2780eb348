//! Models that play back: scripted and recorded ones, through the port and from their files.

use crate::support::{self, question};
use countersign_models::recorded::{Recorded, Tape};
use countersign_models::scripted::{Pieces, Reply, Scripted};
use countersign_models::{Means, Settings, open};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_runtime::ports::model::{self, Delta, Ended, Finish, Model, NoAnswer, Site, Usage};
use countersign_testkit::scratch::Scratch;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

async fn said(model: &dyn Model) -> Result<String, Code> {
    let reply = model.chat(&question(), &CancellationToken::new()).await;
    reply.map(|reply| reply.text).map_err(|error| error.code)
}

#[tokio::test]
async fn a_script_is_said_in_order() {
    let replies = vec![Reply::text("Größe 🦀!"), Reply::error(Code::ModelBusy), Reply::text("")];
    let model = Scripted::new(replies, Pieces::Characters(2));
    assert_eq!(model.about().site, Site::Here);
    let (request, cancel) = (question(), CancellationToken::new());
    let pieces: Vec<_> = model.stream_chat(&request, &cancel).map(Result::unwrap).collect().await;
    let texts = ["Gr", "öß", "e ", "🦀!"].map(|text| Delta::Text(text.into()));
    let usage = Usage { attempts: 1, ..Usage::default() };
    assert_eq!(pieces[..4], texts);
    assert_eq!(pieces[4..], [Delta::End(Ended { finish: Finish::Stop, usage })]);
    assert_eq!(said(&model).await, Err(Code::ModelBusy));
    assert_eq!(said(&model).await, Ok(String::new()));
    assert_eq!((said(&model).await, model.given()), (Err(Code::ModelUnrecorded), 4));
}

#[tokio::test]
async fn a_cancel_ends_what_is_played_back() {
    let model = Scripted::new(vec![Reply::text("abc")], Pieces::Characters(1));
    let (request, cancel) = (question(), CancellationToken::new());
    let mut deltas = model.stream_chat(&request, &cancel);
    assert_eq!(deltas.next().await, Some(Ok(Delta::Text("a".into()))));
    cancel.cancel();
    assert_eq!(deltas.next().await, None);
    let model =
        Recorded::new(|_: &Digest| -> Result<Option<model::Reply>, NoAnswer> { panic!("nobody asked") });
    assert!(model.stream_chat(&request, &cancel).next().await.is_none());
}

#[tokio::test]
async fn what_was_recorded_is_found_by_what_was_asked() {
    let hash = question().hash().unwrap();
    let line = |text: &str| {
        format!(
            "{{\"request_hash\":\"{hash}\",\"text\":\"{text}\",\"finish\":\"length\",\"usage\":{{\"input_tokens\":7,\
             \"cost_micros\":null,\"attempts\":2}}}}\n"
        )
    };
    let tape = || Tape::parse(&format!("{}\n{}", line("one"), line("two"))).unwrap();
    let model = Recorded::new(tape());
    for text in ["one", "two", "two"] {
        assert_eq!(said(&model).await.as_deref(), Ok(text));
    }
    let model = Recorded::of("m", tape());
    assert_eq!(model.about().model, "m");
    let reply = model.chat(&question(), &CancellationToken::new()).await.unwrap();
    let usage = Usage { input_tokens: 7, attempts: 2, ..Usage::default() };
    assert_eq!(reply.ended, Ended { finish: Finish::Length, usage });
    let other = model::Request { max_tokens: 99, ..question() };
    let error = model.chat(&other, &CancellationToken::new()).await.unwrap_err();
    assert_eq!(error.code, Code::ModelUnrecorded);
    assert!(!error.message.contains("canary"), "{error}");
    let model = Recorded::new(move |asked: &Digest| {
        let ended = Ended { finish: Finish::Stop, usage };
        Ok((*asked == hash).then(|| model::Reply { text: "found".into(), ended }))
    });
    assert_eq!(said(&model).await.as_deref(), Ok("found"));
    for bad in
        ["1", "{}", "{\"request_hash\":\"x\",\"text\":\"\"}", &line("x").replace("length", "long"), "{"]
    {
        assert!(Tape::parse(bad).is_err(), "{bad}");
    }
}

#[tokio::test]
async fn files_are_opened_by_their_settings() {
    let scratch = Scratch::new();
    let means = Means::default();
    let file = scratch.path().join("script.jsonl");
    let settings = Settings::Scripted { file: file.clone() };
    assert_eq!(open(&settings, &means).unwrap_err().code(), Code::ModelConfig);
    std::fs::write(&file, "\"hello\"\n").unwrap();
    assert_eq!(said(&*open(&settings, &means).unwrap().model).await.as_deref(), Ok("hello"));
    let hash = question().hash().unwrap();
    std::fs::write(&file, format!("{{\"request_hash\":\"{hash}\",\"text\":\"again\"}}")).unwrap();
    let settings = Settings::Recorded { file };
    assert_eq!(said(&*open(&settings, &means).unwrap().model).await.as_deref(), Ok("again"));
    let opened = open(&Settings::Extractive, &means).unwrap();
    assert!(opened.secrets().is_empty());
    assert!(said(&*opened.model).await.unwrap().contains("no source"));
    let local = Settings::Local { file: "/m.gguf".into(), sha256: hash };
    assert_eq!(open(&local, &means).unwrap_err().code(), Code::ModelConfig);
}

#[tokio::test]
async fn what_must_not_be_opened_is_not() {
    use countersign_models::key::KeyPlace;
    use countersign_models::settings::Wire;
    let with = |address: &str, key: KeyPlace| {
        let mut settings = support::settings(address, Wire::OpenAi);
        settings.key = Some(key);
        open(&Settings::Remote(Box::new(settings)), &Means::default()).map(drop).map_err(|error| error.code())
    };
    let unset = || KeyPlace::Variable("COUNTERSIGN_TEST_NO_SUCH_KEY".into());
    assert_eq!(with("https://example.org", unset()), Err(Code::ModelKey));
    assert_eq!(with("http://example.org", unset()), Err(Code::ModelConfig), "before the key is looked for");
    assert_eq!(with("https://example.org", KeyPlace::File("/no/such/file".into())), Err(Code::ModelKey));
}
