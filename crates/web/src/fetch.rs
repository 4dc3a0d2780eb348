//! The way to a page: its place is looked up once and checked, and every hop is connected to what was checked.
//! Owns: the order of these steps, the rules of redirects. Must not: leave the place that was permitted, read a clock, or
//! keep a page.

use crate::address::not_public;
use crate::exchange::{self, Received, exchange};
use crate::network::Network;
use crate::page::{Address, Elsewhere, Page};
use crate::target::{self, Led, Target};
use crate::text;
use countersign_kernel::gate::{Capability, Grant};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::time::Instant;
use hyper::StatusCode;
use rustls::pki_types::{IpAddr as ServerAddress, ServerName};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Host;

/// Redirects of one call.
pub(crate) const REDIRECTS_MAX: usize = 5;
/// Addresses of a name that are tried.
const TRIES_MAX: usize = 4;
/// How long one of several addresses may keep a connection waiting.
const TRY_MAX: Duration = Duration::from_secs(3);

/// Why there is no page. Nothing that a server wrote stands in it but a host that was read and a number: the words go to
/// the model without the label that a page has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// The place has an address that only an exact grant opens.
    #[error("{place} is {kind}; only a grant of {capability} would open it")]
    Address { place: String, kind: &'static str, capability: Capability },
    /// The name has no address.
    #[error("{place} can't be looked up")]
    Unresolved { place: String },
    /// No address takes a connection.
    #[error("{place} takes no connection: {why}")]
    Unconnected { place: String, why: std::io::ErrorKind },
    /// The other side could not show that it is who it should be.
    #[error("{place} gives no secure connection: {why}")]
    Insecure { place: String, why: &'static str },
    /// There is no answer that could be read.
    #[error("{place}: {why}")]
    Unanswered { place: String, why: exchange::Error },
    /// The answer is none of success.
    #[error("{place} answered {status}")]
    Status { place: String, status: StatusCode },
    /// A redirect leads to what can't be fetched.
    #[error("{place} redirects to an address that is not followed: {why}")]
    Location { place: String, why: target::Error },
    /// A redirect says not where to.
    #[error("{place} redirects, and does not say where to")]
    NoLocation { place: String },
    /// A redirect gives up the secure connection.
    #[error("{place} redirects from https to http")]
    Downgrade { place: String },
    /// Redirects lead back to where they began.
    #[error("{place} redirects in a circle")]
    Circle { place: String },
    /// There are too many redirects.
    #[error("{place} redirects once more after {REDIRECTS_MAX} redirects")]
    TooMany { place: String },
}

impl Error {
    /// The stable code.
    pub(crate) fn code(&self) -> Code {
        match self {
            Error::Address { .. } => Code::WebAddress,
            Error::Unresolved { .. } | Error::Unconnected { .. } | Error::Insecure { .. } => {
                Code::WebUnreachable
            }
            Error::Unanswered { why: exchange::Error::Encoded, .. } => Code::ToolFailed,
            Error::Unanswered { .. } => Code::WebUnreachable,
            Error::Status { .. } => Code::WebStatus,
            Error::Location { .. }
            | Error::NoLocation { .. }
            | Error::Downgrade { .. }
            | Error::Circle { .. }
            | Error::TooMany { .. } => Code::WebRedirect,
        }
    }
}

/// What a page is fetched with.
pub(crate) struct Fetcher {
    pub(crate) network: Arc<dyn Network>,
    pub(crate) tls: TlsConnector,
    pub(crate) body_bytes_max: usize,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Fetched {
    /// A page, and whether it may be kept.
    Page { page: Page, may_be_kept: bool },
    /// No page here.
    Elsewhere(Elsewhere),
}

impl Fetcher {
    /// Fetches a page from the place of `first`, which is permitted by `grant`. A redirect is followed within that place
    /// alone: what leaves for another has its own call, with its own row before it and receipt after it.
    pub(crate) async fn fetch(&self, first: Target, grant: Grant, at: Instant) -> Result<Fetched, Error> {
        let url = first.as_str().to_owned();
        let mut seen = vec![url.clone()];
        let (addresses, address) = self.checked(&first, grant).await?;
        let (mut target, mut may_be_kept) = (first, true);
        loop {
            let received = self.hop(&target, &addresses).await?;
            may_be_kept &= received.may_be_kept;
            let place = || target.place().to_string();
            match received.status {
                status if status.is_success() => {
                    let page = page(url, &target, address, received, at);
                    return Ok(Fetched::Page { page, may_be_kept });
                }
                status if is_redirect(status) => match led(&target, received.location.as_deref())? {
                    Led::Elsewhere(to) => {
                        let (final_url, location) = (target.as_str().to_owned(), to.as_str().to_owned());
                        let status = status.as_u16();
                        return Ok(Fetched::Elsewhere(Elsewhere { url, final_url, status, location, at }));
                    }
                    Led::Here(_) if seen.len() > REDIRECTS_MAX => {
                        return Err(Error::TooMany { place: place() });
                    }
                    Led::Here(next) if seen.iter().any(|seen| seen == next.as_str()) => {
                        return Err(Error::Circle { place: place() });
                    }
                    Led::Here(next) => {
                        seen.push(next.as_str().to_owned());
                        target = next;
                    }
                },
                status => return Err(Error::Status { place: place(), status }),
            }
        }
    }

    /// The addresses of a place, if all of them may be reached. They are for the whole call: a name that leads elsewhere a
    /// moment later leads nobody there.
    async fn checked(&self, target: &Target, grant: Grant) -> Result<(Vec<IpAddr>, Address), Error> {
        let addresses = self.addresses_of(target).await?;
        // One address of several that is not public: whoever answers for the name wants us there.
        let kind = addresses.iter().find_map(|address| not_public(*address));
        let address = kind.map_or(Address::Public, |_| Address::NotPublic);
        if let Some(kind) = kind
            && !address.is_open_to(grant)
        {
            let (place, capability) = (target.place().to_string(), Capability::of_place(target.place()));
            return Err(Error::Address { place, kind, capability });
        }
        Ok((addresses, address))
    }

    async fn hop(&self, target: &Target, addresses: &[IpAddr]) -> Result<Received, Error> {
        let place = || target.place().to_string();
        let stream = self.connect(target, addresses).await?;
        let received = match target.is_secure() {
            true => {
                let secured = self.tls.connect(server_name(target)?, stream).await;
                let secured =
                    secured.map_err(|error| Error::Insecure { place: place(), why: insecure(&error) })?;
                exchange(secured, target, self.body_bytes_max).await
            }
            false => exchange(stream, target, self.body_bytes_max).await,
        };
        received.map_err(|why| Error::Unanswered { place: place(), why })
    }

    async fn addresses_of(&self, target: &Target) -> Result<Vec<IpAddr>, Error> {
        let found = match target.place().host() {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => self.network.addresses_of(name).await.unwrap_or_default(),
        };
        match found.is_empty() {
            true => Err(Error::Unresolved { place: target.place().to_string() }),
            false => Ok(found),
        }
    }

    async fn connect(&self, target: &Target, addresses: &[IpAddr]) -> Result<TcpStream, Error> {
        let mut why = std::io::ErrorKind::AddrNotAvailable;
        for address in addresses.iter().take(TRIES_MAX) {
            let made = self.network.connect(SocketAddr::new(*address, target.port()));
            let made = match addresses.len() {
                1 => made.await,
                _ => tokio::time::timeout(TRY_MAX, made).await.unwrap_or_else(|late| Err(late.into())),
            };
            match made {
                Ok(stream) => return Ok(stream),
                Err(error) => why = error.kind(),
            }
        }
        Err(Error::Unconnected { place: target.place().to_string(), why })
    }
}

/// Those that say "get it there": the others (300, 304, …) give no page and nowhere to go.
fn is_redirect(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

fn led(target: &Target, location: Option<&str>) -> Result<Led, Error> {
    let place = || target.place().to_string();
    let location = location.ok_or_else(|| Error::NoLocation { place: place() })?;
    match target.join(location).map_err(|why| Error::Location { place: place(), why })? {
        Led::Here(next) if target.is_secure() && !next.is_secure() => {
            Err(Error::Downgrade { place: place() })
        }
        led @ (Led::Here(_) | Led::Elsewhere(_)) => Ok(led),
    }
}

fn server_name(target: &Target) -> Result<ServerName<'static>, Error> {
    match target.place().host() {
        Host::Ipv4(address) => Ok(ServerName::IpAddress(ServerAddress::from(IpAddr::V4(*address)))),
        Host::Ipv6(address) => Ok(ServerName::IpAddress(ServerAddress::from(IpAddr::V6(*address)))),
        Host::Domain(name) => ServerName::try_from(name.clone()).map_err(|_| Error::Insecure {
            place: target.place().to_string(),
            why: "no certificate can have its name",
        }),
    }
}

/// In our own words: a certificate's names are the server's.
fn insecure(error: &std::io::Error) -> &'static str {
    use rustls::CertificateError as Certificate;
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(certificate)) => match certificate {
            Certificate::Expired | Certificate::ExpiredContext { .. } => "its certificate has expired",
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                "its certificate is not valid yet"
            }
            Certificate::UnknownIssuer => "no root that is trusted here stands behind its certificate",
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "its certificate is for another name"
            }
            Certificate::Revoked => "its certificate was revoked",
            _ => "its certificate is not valid",
        },
        Some(_) => "what it says is no TLS that is spoken here",
        None => "the connection ended",
    }
}

fn page(url: String, target: &Target, address: Address, received: Received, at: Instant) -> Page {
    let text = text::text_of(received.content_type.as_deref(), &received.body);
    Page {
        url,
        final_url: target.as_str().to_owned(),
        address,
        status: received.status.as_u16(),
        content_type: received.content_type,
        is_lossy: text.as_ref().is_some_and(|text| text.is_lossy),
        text: text.map(|text| text.text),
        is_truncated: received.is_truncated,
        bytes: u32::try_from(received.body.len()).unwrap_or(u32::MAX),
        sha256: Digest::of(&received.body),
        at,
    }
}
