//! The certification of a packet: what a person puts their name to.
//! Owns: its text and its life up to the issue. Must not: say of the work what the packet does not.

use super::{go, summary};
use crate::artifact;
use crate::desk::{Desk, Error, reference};
use crate::life;
use crate::names::ENGINE;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write;
use countersign_govern::types::basic::{StorageRef, V10};
use countersign_govern::types::reliance::{
    RelianceArtifactLifecycleState as Life, TaskReliancePacket, WorkProductCertification,
};
use countersign_record::digest::Digest;

/// The command that issues.
const COMMAND: &str = "reliance.issue_work_product_certification";

/// Issues a packet that a person has reviewed, and renders the certification of it; gives that.
///
/// # Errors
/// The packet is not where it can be issued, or something can't be written.
pub fn issue(desk: &mut Desk, packet: &TaskReliancePacket, by: &StorageRef) -> Result<StorageRef, Error> {
    go(desk, &packet.packet_id, Life::Issued, by.as_str(), "issued by a person")?;
    let text = rendered(desk, packet, by).into_bytes();
    let certification_id = desk.id("certification");
    let certification = WorkProductCertification {
        certification_id: certification_id.clone(),
        task_reliance_packet_ref: reference("TaskReliancePacket", &packet.packet_id)?,
        rendered_certification_ref: reference("Text", &String::from(Digest::of(&text)))?,
        issued_by_ref: None,
        issue_command_ref: Some(COMMAND.to_string()),
        lifecycle_state: Life::Draft,
        created_at: desk.now(),
        schema_version: V10,
    };
    let subject = desk.open_with("WorkProductCertification", &certification, text)?;
    for (from, to, who, why) in [
        (Life::Draft, Life::ReadyForReview, ENGINE, "it is rendered"),
        (Life::ReadyForReview, Life::UserReviewed, by.as_str(), "its packet is reviewed"),
        (Life::UserReviewed, Life::Issued, by.as_str(), "issued by a person"),
    ] {
        life::go(desk, &subject, (from.as_str(), to.as_str()), who, why)?;
    }
    Ok(subject)
}

/// The text of a certification: what it is for, how far it goes, what it covers, who answers for it.
fn rendered(desk: &Desk, packet: &TaskReliancePacket, by: &StorageRef) -> String {
    let (task, derivation) = (desk.task(), &packet.reliance_derivation);
    let mut text = format!("# Certification: {}\n\n{}\n\n", task.title, summary(derivation.status));
    let mut line = |words: &str| writeln!(text, "{words}").unwrap_or(());
    line(&format!("- Scope: {}", derivation.scope_statement));
    if let Some(audience) = &task.audience {
        line(&format!("- For: {audience}"));
    }
    if let Some(purpose) = &task.purpose {
        line(&format!("- Purpose: {purpose}"));
    }
    for limit in &derivation.unresolved_limitations {
        line(&format!("- Limited: {}", limit.as_str().replace('_', " ")));
    }
    for one in &task.artifacts {
        if let Some(head) = artifact::head(desk, &one.id) {
            line(&format!("- Covers: {}, version {}, sha256 {}", one.path, head.number, head.content));
        }
    }
    if let Some(reviewer) = &packet.reviewed_by_user_ref {
        line(&format!("- Reviewed by: {reviewer}"));
    }
    line(&format!("- Issued by: {} at {}", by.as_str(), desk.now().as_str()));
    line(&format!(
        "- Packet: {}, inputs sha256 {}",
        packet.packet_id, packet.input_manifest.input_manifest_hash
    ));
    text
}
