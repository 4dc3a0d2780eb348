//! How the other side of a connection proves who it is.
//! Owns: the roots, the protocol's settings. Must not: offer a way around a certificate.

use countersign_record::code::Code;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use tokio_rustls::TlsConnector;

/// Why the tool can't be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSetUp {
    /// A root certificate that was added is none.
    #[error("root certificate {at} can't be used: {why}")]
    Root {
        /// Which, from 1.
        at: usize,
        /// Why.
        why: String,
    },
    /// The tool's name is none.
    #[error("{why}")]
    Name {
        /// Why.
        why: String,
    },
    /// The library offers no protocol.
    #[error("TLS can't be set up: {why}")]
    Tls {
        /// Why.
        why: String,
    },
}

impl NotSetUp {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            NotSetUp::Root { .. } | NotSetUp::Name { .. } | NotSetUp::Tls { .. } => Code::ToolFailed,
        }
    }
}

/// Mozilla's roots are part of the program, so that it works where the machine has none; an organisation adds its own.
pub(crate) fn connector(roots: &[CertificateDer<'static>]) -> Result<TlsConnector, NotSetUp> {
    let mut store = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for (at, root) in (1..).zip(roots) {
        store.add(root.clone()).map_err(|error| NotSetUp::Root { at, why: error.to_string() })?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| NotSetUp::Tls { why: error.to_string() })?
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // A session that is taken up again would tell one matter's requests from another's.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}
