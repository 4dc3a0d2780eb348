//! How the other side of a connection proves who it is.
//! Owns: the roots, the protocol's settings. Must not: offer a way around a certificate.

use crate::get::NotSetUp;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use tokio_rustls::TlsConnector;

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
