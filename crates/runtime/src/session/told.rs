//! What became of a reply's notes.
//! Owns: tracing it, and recording what the model asks people for. Must not: change the state (`countersign-kernel` did).

use super::Error;
use super::turn::Turn;
use countersign_kernel::session::talk::{Changed, Told};
use countersign_record::deed;
use countersign_record::json::Object;
use countersign_record::trace::Kind;

impl Turn<'_> {
    /// Traces what became of the notes, and records what the model asks people for.
    pub(super) fn tell(&mut self, told: &[Told]) -> Result<(), Error> {
        for one in told {
            let (kind, what, detail) = match one {
                Told::Patched(changed) => (Kind::NotesPatch, "applied", counts(changed)),
                Told::Ignored(why) => (Kind::NotesPatch, "ignored", why.to_string()),
                Told::UnknownMembers(names) => (Kind::NotesPatch, "unknown_members", names.join(", ")),
                Told::Condenses(how) => (Kind::Actions, "condenses", format!("{how:?}")),
                Told::Requested(capability) => (Kind::Actions, "requested", capability.to_string()),
                Told::KnownRequest(capability) => (Kind::Actions, "known_request", capability.to_string()),
                Told::GrantDenied(capability) => (Kind::Actions, "grant_denied", capability.to_string()),
                Told::UnknownAction(word) => (Kind::Actions, "unknown_action", word.clone()),
            };
            self.event(kind, Object::from([("what", what.into()), ("detail", detail.into())]));
            match one {
                Told::Requested(capability) | Told::GrantDenied(capability) => {
                    let asked = deed::Requested {
                        capability: capability.to_string(),
                        turn: self.number,
                        from: "notes".to_owned(),
                        summary: None,
                        arguments_hash: None,
                    };
                    self.rows.request(&asked, self.label, Vec::new())?;
                    self.screen.note(&format!("the model asks for {capability}"));
                }
                Told::Patched(_)
                | Told::Ignored(_)
                | Told::UnknownMembers(_)
                | Told::Condenses(_)
                | Told::KnownRequest(_)
                | Told::UnknownAction(_) => {}
            }
        }
        Ok(())
    }
}

/// `goals 2, open_loops 0`: what changed, and how much is there now; what is there stands in the checkpoint.
fn counts(changed: &[Changed]) -> String {
    let one = |one: &Changed| format!("{} {}", one.member, one.count);
    changed.iter().map(one).collect::<Vec<_>>().join(", ")
}
