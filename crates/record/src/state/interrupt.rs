//! The interrupt of dialects B and C, and how it goes together with the contract's own members.
//! Owns: reading it, mapping it onto clarification and confirmation, refusing contradictions. Must not: drop what the
//! seed has no member for, nor lose that something is pending.

use super::parts::{Clarification, Confirmation};
use super::read::Reader;
use super::words::{InterruptKind, Vocabulary, alias_of};
use crate::code::Code;
use crate::fields::Fields;
use crate::json::{Json, Object};
use crate::time::Timestamp;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// What B and C say of an interrupt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    body: Option<Object>,
    kind: Option<InterruptKind>,
    id: Option<String>,
    expires_at: Option<Timestamp>,
    waits: bool,
}

impl Interrupt {
    /// The member `interrupt` as it came.
    #[must_use]
    pub fn body(&self) -> Option<&Object> {
        self.body.as_ref()
    }

    /// What it is about; nothing where the document does not say.
    #[must_use]
    pub fn kind(&self) -> Option<InterruptKind> {
        self.kind
    }

    /// Its name; an answer must give it.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Until when an answer counts.
    #[must_use]
    pub fn expires_at(&self) -> Option<&Timestamp> {
        self.expires_at.as_ref()
    }

    /// Whether the run waits for it in a way that neither of the contract's flags can say: it is of another kind, or of
    /// none that was named.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.waits
    }
}

/// The contract's members about questions, before they are joined with an interrupt.
struct Asked {
    clarification_pending: Option<bool>,
    question: Option<String>,
    answer: Option<String>,
    confirmation_pending: Option<bool>,
    id: Option<String>,
    message: Option<String>,
    approved: Option<bool>,
}

/// The members of an interrupt that the contract has members for, and whether it is pending.
#[derive(Default)]
struct Said {
    pending: bool,
    body: Option<Object>,
    kind: Option<InterruptKind>,
    id: Option<String>,
    expires_at: Option<Timestamp>,
    question: Option<String>,
    message: Option<String>,
    answer: Option<String>,
    approved: Option<bool>,
}

/// Reads everything about questions.
pub(super) fn read(reader: &mut Reader<'_>) -> (Clarification, Confirmation, Option<Interrupt>) {
    let said = read_said(reader);
    let kind = said.as_ref().and_then(|said| said.kind);
    let names = ["clarification_pending", "clarification_question", "clarification_response"];
    reader.note_defaults(&names, kind == Some(InterruptKind::Clarification));
    let names = ["confirmation_pending", "confirmation_id", "confirmation_message", "confirmation_response"];
    reader.note_defaults(&names, kind == Some(InterruptKind::Confirmation));
    let fields = &mut reader.fields;
    let asked = Asked {
        clarification_pending: fields.absent_or("clarification_pending", Fields::boolean),
        question: fields.optional("clarification_question", Fields::text),
        answer: fields.optional("clarification_response", Fields::text),
        confirmation_pending: fields.absent_or("confirmation_pending", Fields::boolean),
        id: fields.optional("confirmation_id", Fields::text),
        message: fields.optional("confirmation_message", Fields::text),
        approved: fields.optional("confirmation_response", Fields::boolean),
    };
    join(fields, asked, said)
}

fn read_said(reader: &mut Reader<'_>) -> Option<Said> {
    let pending = reader.fields.absent_or("interrupt_pending", Fields::boolean);
    let is_flagged = reader.fields.peek("interrupt_pending").is_some();
    match reader.fields.peek("interrupt") {
        None if !is_flagged => None,
        None | Some(Json::Null) => Some(Said { pending: pending.unwrap_or(false), ..Said::default() }),
        Some(_) => {
            if !is_flagged {
                // Defaulting to false would run past whatever it is.
                let message = "there is an interrupt, so it must be said whether it is pending";
                reader.fields.trouble("interrupt_pending", Code::FieldMissing, message);
            }
            let ((said, renamed), body) = reader.fields.whole_object("interrupt", read_body)?;
            for (name, from, to) in renamed {
                reader.note_renamed(alloc::format!("/interrupt/{name}"), &from, to);
            }
            Some(Said { pending: pending.unwrap_or(false), body: Some(body), ..said })
        }
    }
}

/// A member of an interrupt, what another dialect says there, and the contract's word for it.
type Alias = (&'static str, String, &'static str);

fn read_body(body: &mut Fields<'_>) -> Option<(Said, Vec<Alias>)> {
    let (kind, renamed) = read_kind(body);
    let [id, question, message] = ["id", "question", "message"].map(|name| filled(body, name));
    let expires_at = body.optional("expires_at", Fields::timestamp);
    body.optional("created_at", Fields::timestamp);
    let response = body.optional("response", |body, name| {
        body.object(name, |response| {
            let answer = response.optional("text", Fields::text);
            let approved = response.optional("approved", Fields::boolean);
            Some((answer, approved))
        })
    });
    let (answer, approved) = response.unwrap_or_default();
    let said = Said { kind, id, expires_at, question, message, answer, approved, ..Said::default() };
    Some((said, renamed))
}

/// `kind`, or what other writers call it; and which of their words were read.
fn read_kind(body: &mut Fields<'_>) -> (Option<InterruptKind>, Vec<Alias>) {
    let mut renamed = Vec::new();
    let mut word = |body: &mut Fields<'_>, name| {
        let kind =
            body.optional(name, |body, name| body.parse(name, |word| InterruptKind::try_from(word)))?;
        let other = body.other_word(name, kind.as_str());
        renamed.extend(other.map(|other| (name, other, kind.as_str())));
        Some(kind)
    };
    let kind = word(body, "kind");
    let Some(alias) = alias_of(Vocabulary::InterruptMember, "kind") else { return (kind, renamed) };
    let other = word(body, alias);
    if let (Some(kind), Some(other)) = (kind, other)
        && kind != other
    {
        body.trouble(alias, Code::FieldConflict, alloc::format!("kind says {kind}, {alias} says {other}"));
    }
    // A `kind` of null says as little as none.
    if kind.is_none() && other.is_some() {
        renamed.push((alias, alias.to_owned(), "kind"));
    }
    (kind.or(other), renamed)
}

/// A text that says something: Go writes an empty one for what it does not know.
fn filled(body: &mut Fields<'_>, name: &'static str) -> Option<String> {
    body.optional(name, Fields::text).filter(|text| !text.is_empty())
}

fn join(
    fields: &mut Fields<'_>,
    asked: Asked,
    said: Option<Said>,
) -> (Clarification, Confirmation, Option<Interrupt>) {
    let is_interrupted = said.is_some();
    let said = said.unwrap_or_default();
    let (clarifies, confirms) =
        (said.kind == Some(InterruptKind::Clarification), said.kind == Some(InterruptKind::Confirmation));
    if is_interrupted {
        // A pending interrupt that does not say its kind may be the very question that the contract's flag speaks of.
        let may_be_either = said.pending && said.kind.is_none();
        for (name, flag, is_this) in [
            ("clarification_pending", asked.clarification_pending, clarifies),
            ("confirmation_pending", asked.confirmation_pending, confirms),
        ] {
            if flag.is_some_and(|flag| flag != (said.pending && is_this)) && !may_be_either {
                fields.trouble(name, Code::FieldConflict, "the interrupt says something else");
            }
        }
    }
    let mut clarification = Clarification {
        pending: asked.clarification_pending.unwrap_or(said.pending && clarifies),
        question: asked.question,
        response: asked.answer,
    };
    let mut confirmation = Confirmation {
        pending: asked.confirmation_pending.unwrap_or(said.pending && confirms),
        id: asked.id,
        message: asked.message,
        response: asked.approved,
    };
    let waits = said.pending && !clarification.pending && !confirmation.pending;
    if clarifies {
        agree(fields, "clarification_question", &mut clarification.question, said.question);
        agree(fields, "clarification_response", &mut clarification.response, said.answer);
    }
    if confirms {
        agree(fields, "confirmation_id", &mut confirmation.id, said.id.clone());
        agree(fields, "confirmation_message", &mut confirmation.message, said.message);
        agree(fields, "confirmation_response", &mut confirmation.response, said.approved);
    }
    let interrupt =
        Interrupt { body: said.body, kind: said.kind, id: said.id, expires_at: said.expires_at, waits };
    (clarification, confirmation, is_interrupted.then_some(interrupt))
}

/// Takes what the interrupt says where the contract's member says nothing. What both say must be the same.
fn agree<T: PartialEq>(fields: &mut Fields<'_>, name: &'static str, own: &mut Option<T>, said: Option<T>) {
    match (&own, said) {
        (_, None) => {}
        (None, said) => *own = said,
        (Some(held), Some(said)) => {
            if *held != said {
                fields.trouble(name, Code::FieldConflict, "the interrupt says something else");
            }
        }
    }
}
