//! The keys of a data directory: who may sign, and whose signatures are known.
//! Owns: the key files, their modes, and every use of a private key. Must not: show one, or replace one.
//!
//! `keys/node.key` signs anchors; `keys/principals/NAME.key` signs NAME's decisions and `NAME.pub` is its public
//! half; a `NAME.pub` alone is somebody else whose key is trusted.

mod files;

use countersign_record::canonical::Unwritable;
use countersign_record::chain::{Anchor, Head};
use countersign_record::code::Code;
use countersign_record::id::{MatterId, PrincipalId};
use countersign_record::row::{Proof, Sealed};
use countersign_record::sign::{NotAKey, PublicKey, Signature};
use countersign_record::time::Timestamp;
use ed25519_dalek::{Signer, SigningKey};
use std::io;
use std::path::{Path, PathBuf};

/// Somebody whose signatures are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The name.
    pub name: PrincipalId,
    /// The public key.
    pub key: PublicKey,
    /// Whether the private key is here too.
    pub own: bool,
}

/// Why a key could not be used or made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name has a key.
    #[error("there is a principal {name} already")]
    Exists {
        /// The name.
        name: PrincipalId,
    },
    /// The draft is somebody else's decision.
    #[error("{name} can't sign what {actor} decides")]
    OtherActor {
        /// Who was to sign.
        name: PrincipalId,
        /// Whose decision it is.
        actor: PrincipalId,
    },
    /// Only the public half is here: a decision under this name would be somebody else's word.
    #[error(
        "the private key of {name} is not here, only its public half; {name} must decide where the key is"
    )]
    Elsewhere {
        /// The name.
        name: PrincipalId,
    },
    /// Others can read the file.
    #[error("{} has mode {mode:o}; a private key is for its owner alone (0600)", place.display())]
    Exposed {
        /// The file.
        place: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file holds no key.
    #[error("{}: {why}", place.display())]
    Damaged {
        /// The file.
        place: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The public key beside a private one is of another.
    #[error("{} is not the public half of the private key beside it", place.display())]
    Mismatch {
        /// The file.
        place: PathBuf,
    },
    /// The seed makes no usable key.
    #[error(transparent)]
    Weak(#[from] NotAKey),
    /// What was to be signed has no canonical form.
    #[error(transparent)]
    Unwritable(#[from] Unwritable),
    /// The operating system refused.
    #[error("{}: {error}", place.display())]
    Io {
        /// The file.
        place: PathBuf,
        /// Its own words.
        error: io::Error,
    },
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Exists { .. } => Code::PrincipalExists,
            Error::OtherActor { .. }
            | Error::Elsewhere { .. }
            | Error::Exposed { .. }
            | Error::Damaged { .. }
            | Error::Mismatch { .. }
            | Error::Weak(_)
            | Error::Io { .. } => Code::PrincipalKey,
            Error::Unwritable(_) => Code::RowInvalid,
        }
    }
}

/// The keys of a data directory.
#[derive(Clone, Debug)]
pub struct Keyring {
    dir: PathBuf,
}

impl Keyring {
    /// The keys of the data directory `data`. Nothing is read or made yet.
    #[must_use]
    pub fn open(data: &Path) -> Self {
        Keyring { dir: data.join("keys") }
    }

    /// Makes a principal with a private key from `seed`, which nobody else may know.
    ///
    /// # Errors
    /// The name is taken, or the key can't be stored.
    pub fn add(&self, name: &PrincipalId, seed: [u8; 32]) -> Result<PublicKey, Error> {
        let signing = SigningKey::from_bytes(&seed);
        let key = PublicKey::try_from(signing.verifying_key().to_bytes())?;
        let (private, public) = (self.private(name), self.public(name));
        if files::exists(&private) || files::exists(&public) {
            return Err(Error::Exists { name: name.clone() });
        }
        let taken = |error: Error| taken(name, error);
        files::write_private(&private, &signing).map_err(taken)?;
        // The public half only spares reading the private one; `list` does without it after a crash here.
        if let Err(error) = files::write_public(&public, key) {
            // Nobody has seen the key yet, and with it the name could not be used again.
            drop(std::fs::remove_file(&private));
            return Err(taken(error));
        }
        Ok(key)
    }

    /// Trusts somebody else's key.
    ///
    /// # Errors
    /// The name is taken, or the key can't be stored.
    pub fn trust(&self, name: &PrincipalId, key: PublicKey) -> Result<(), Error> {
        let public = self.public(name);
        if files::exists(&self.private(name)) || files::exists(&public) {
            return Err(Error::Exists { name: name.clone() });
        }
        files::write_public(&public, key).map_err(|error| taken(name, error))
    }

    /// Everybody whose signatures are known, by name.
    ///
    /// # Errors
    /// A key file can't be used; then none is shown, so that a damaged one does not go unnoticed.
    pub fn list(&self) -> Result<Vec<Principal>, Error> {
        let mut principals = Vec::new();
        for name in files::names(&self.dir.join("principals"))? {
            let private = files::read_private(&self.private(&name))?;
            let public = self.public(&name);
            let trusted = files::read_public(&public)?;
            let own = private.map(|key| PublicKey::try_from(key.verifying_key().to_bytes())).transpose()?;
            let key = match (own, trusted) {
                (Some(own), Some(trusted)) if own != trusted => {
                    return Err(Error::Mismatch { place: public });
                }
                (Some(key), _) | (None, Some(key)) => key,
                (None, None) => continue,
            };
            principals.push(Principal { name, key, own: own.is_some() });
        }
        Ok(principals)
    }

    /// The public halves alone, for whoever checks signatures and may not see, or need, a private key.
    ///
    /// # Errors
    /// A public key can't be read.
    pub fn known(&self) -> Result<Vec<Principal>, Error> {
        let mut principals = Vec::new();
        for name in files::names(&self.dir.join("principals"))? {
            let own = files::exists(&self.private(&name));
            if let Some(key) = files::read_public(&self.public(&name))? {
                principals.push(Principal { name, key, own });
            }
        }
        Ok(principals)
    }

    /// Puts a proof on a decision: signed if `name` has a private key here, else marked as only asserted.
    ///
    /// # Errors
    /// It is somebody else's decision, or the key can't be used.
    pub fn sign_decision(
        &self,
        name: &PrincipalId,
        matter: &MatterId,
        decision: Sealed,
    ) -> Result<Sealed, Error> {
        let actor = &decision.draft().actor;
        if actor != name {
            return Err(Error::OtherActor { name: name.clone(), actor: actor.clone() });
        }
        let Some(signing) = files::read_private(&self.private(name))? else {
            if files::exists(&self.public(name)) {
                return Err(Error::Elsewhere { name: name.clone() });
            }
            return Ok(decision.with_proof(Proof::SelfAsserted));
        };
        let key = PublicKey::try_from(signing.verifying_key().to_bytes())?;
        let message = decision.decision(matter)?;
        let signature = Signature::from_bytes(signing.sign(&message).to_bytes());
        Ok(decision.with_proof(Proof::Signed { key, signature }))
    }

    /// Signs a head with the node's key, which is made from `seed` if there is none yet.
    ///
    /// # Errors
    /// The key can't be used or made.
    pub fn anchor(
        &self,
        matter: &MatterId,
        head: Head,
        at: &Timestamp,
        seed: [u8; 32],
    ) -> Result<Anchor, Error> {
        let signing = self.node_key(seed)?;
        let key = PublicKey::try_from(signing.verifying_key().to_bytes())?;
        let statement = Anchor::statement(matter, head, at, key)?;
        let signature = Signature::from_bytes(signing.sign(&statement).to_bytes());
        Ok(Anchor::signed(matter.clone(), head, at.clone(), key, signature))
    }

    /// Signs a statement with the key of `name`, or with the node's where there is none.
    ///
    /// # Errors
    /// The key can't be used or made.
    pub fn endorse(
        &self,
        name: &PrincipalId,
        message: &[u8],
        seed: [u8; 32],
    ) -> Result<(PublicKey, Signature), Error> {
        let signing = match files::read_private(&self.private(name))? {
            Some(signing) => signing,
            None => self.node_key(seed)?,
        };
        let key = PublicKey::try_from(signing.verifying_key().to_bytes())?;
        Ok((key, Signature::from_bytes(signing.sign(message).to_bytes())))
    }

    /// The node's key, which is made from `seed` if there is none yet.
    fn node_key(&self, seed: [u8; 32]) -> Result<SigningKey, Error> {
        let place = self.node();
        Ok(match files::read_private(&place)? {
            Some(signing) => signing,
            None => {
                let signing = SigningKey::from_bytes(&seed);
                match files::write_private(&place, &signing) {
                    Ok(()) => signing,
                    // Another process was faster; its key is the node's.
                    Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {
                        let gone = Error::Damaged {
                            place: place.clone(),
                            why: "the key vanished while it was made",
                        };
                        files::read_private(&place)?.ok_or(gone)?
                    }
                    Err(error) => return Err(error),
                }
            }
        })
    }

    /// The key that this data directory's anchors are signed with, if there is one yet.
    ///
    /// # Errors
    /// The key can't be used.
    pub fn public_node_key(&self) -> Result<Option<PublicKey>, Error> {
        let signing = files::read_private(&self.node())?;
        Ok(signing.map(|key| PublicKey::try_from(key.verifying_key().to_bytes())).transpose()?)
    }

    fn node(&self) -> PathBuf {
        self.dir.join("node.key")
    }

    fn private(&self, name: &PrincipalId) -> PathBuf {
        self.dir.join("principals").join(format!("{name}.key"))
    }

    fn public(&self, name: &PrincipalId) -> PathBuf {
        self.dir.join("principals").join(format!("{name}.pub"))
    }
}

fn taken(name: &PrincipalId, error: Error) -> Error {
    match error {
        // A directory that can't be made because a file is in its way is no name that is taken.
        Error::Io { error, place }
            if error.kind() == io::ErrorKind::AlreadyExists && files::exists(&place) =>
        {
            Error::Exists { name: name.clone() }
        }
        other => other,
    }
}
