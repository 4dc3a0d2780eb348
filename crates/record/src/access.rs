//! Who may touch which matter.
//! Owns: roles, and the only way to a [`MatterAccess`]. Must not: find out who somebody is.

use crate::code::Code;
use crate::id::{MatterId, PrincipalId};
use alloc::collections::BTreeMap;
use core::fmt;

/// What somebody may do in a matter; each role may do all that the ones before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also appends.
    Operator,
    /// Also decides: approvals, answers.
    Approver,
    /// Also erases, holds and imports.
    Admin,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Approver => "approver",
            Role::Admin => "admin",
        })
    }
}

/// A principal and the matters open to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    principal: PrincipalId,
    roles: BTreeMap<MatterId, Role>,
}

/// Leave to act in one matter. It comes from an [`Access`] and from nowhere else, and every read and write of
/// a ledger takes one, so no code can name a matter that its caller may not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatterAccess {
    principal: PrincipalId,
    matter: MatterId,
    role: Role,
}

/// No.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The matter is closed to the principal. It is not said whether there is such a matter.
    #[error("{principal} has no access to the matter {matter}")]
    Matter {
        /// Who asked.
        principal: PrincipalId,
        /// For what.
        matter: MatterId,
    },
    /// The matter is open, but not for this.
    #[error("{principal} is {has} in the matter {matter}; this needs {needs}")]
    Role {
        /// Who asked.
        principal: PrincipalId,
        /// For what.
        matter: MatterId,
        /// The role there is.
        has: Role,
        /// The role there should be.
        needs: Role,
    },
}

impl Refused {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Refused::Matter { .. } => Code::AccessMatter,
            Refused::Role { .. } => Code::AccessRole,
        }
    }
}

impl Access {
    /// What `principal` may do.
    #[must_use]
    pub fn new(principal: PrincipalId, roles: BTreeMap<MatterId, Role>) -> Self {
        Access { principal, roles }
    }

    /// Leave to act in `matter`.
    ///
    /// # Errors
    /// The matter is not open to this principal.
    pub fn to(&self, matter: &MatterId) -> Result<MatterAccess, Refused> {
        match self.roles.get(matter) {
            Some(role) => {
                Ok(MatterAccess { principal: self.principal.clone(), matter: matter.clone(), role: *role })
            }
            None => Err(Refused::Matter { principal: self.principal.clone(), matter: matter.clone() }),
        }
    }
}

impl MatterAccess {
    /// Who acts.
    #[must_use]
    pub fn principal(&self) -> &PrincipalId {
        &self.principal
    }

    /// Where.
    #[must_use]
    pub fn matter(&self) -> &MatterId {
        &self.matter
    }

    /// Holds if the role is at least `needs`.
    ///
    /// # Errors
    /// The role there is, and the one there should be.
    pub fn require(&self, needs: Role) -> Result<(), Refused> {
        if self.role >= needs {
            return Ok(());
        }
        let (principal, matter) = (self.principal.clone(), self.matter.clone());
        Err(Refused::Role { principal, matter, has: self.role, needs })
    }
}
