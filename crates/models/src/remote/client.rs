//! The HTTP client of remote models.
//! Owns: its TLS and what it must not do by itself. Must not: know a model.

use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use std::time::Duration;

/// Why there is no client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no HTTP client: {why}")]
pub struct NoClient {
    /// Why.
    pub why: String,
}

/// A client that goes where it is sent and nowhere else: it follows no redirect, asks no environment for a proxy, and
/// asks nothing twice.
pub(super) fn client(connect: Duration) -> Result<reqwest::Client, NoClient> {
    let roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| NoClient { why: error.to_string() })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(connect)
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| NoClient { why: error.to_string() })
}
