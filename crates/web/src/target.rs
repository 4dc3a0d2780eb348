//! What a request is for: an address that was read, and the place it leads to.
//! Owns: which addresses are fetched at all, their one normal form. Must not: permit a place, or look up a name.

use countersign_kernel::gate::Place;
use hyper::Uri;
use url::{Host, Position, Url};

/// An address may be this long as it is given.
pub(crate) const URL_CHARS_MAX: u16 = 2_048;
/// What it may take when letters of other scripts are written in ASCII.
const NORMAL_BYTES_MAX: usize = 8_192;

/// Why an address is not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Error {
    /// It is too long.
    #[error("the address has more than {URL_CHARS_MAX} characters")]
    TooLong,
    /// It holds a line end or another control character.
    #[error("the address has a control character")]
    Control,
    /// It is no absolute address.
    #[error("that is no absolute http or https address")]
    NotAnAddress,
    /// It is another protocol's.
    #[error("only http and https are fetched")]
    Scheme,
    /// It holds a name or a password.
    #[error("the address holds a user or a password")]
    User,
    /// Its host is none that can be granted.
    #[error("the address has no host that can be looked up")]
    Host,
}

/// An address that can be fetched.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    url: Url,
    place: Place,
    /// What stands in the request's first line.
    path: Uri,
}

/// Where a redirect leads.
#[derive(Clone, Debug)]
pub(crate) enum Led {
    /// To another address of the same place.
    Here(Target),
    /// To another place: an address without user and password, short enough to be asked for.
    Elsewhere(Target),
}

impl Target {
    /// Reads an address as it was given.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        checked(text)?;
        Target::of(Url::parse(text).map_err(|_| Error::NotAnAddress)?)
    }

    /// Reads where a redirect leads.
    pub(crate) fn join(&self, location: &str) -> Result<Led, Error> {
        checked(location)?;
        let mut url = self.url.join(location).map_err(|_| Error::NotAnAddress)?;
        let names_user = has_user(&url);
        if names_user && is_web(&url) {
            url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| Error::User)?;
        }
        let to = Target::of(url)?;
        match (to.place == self.place, names_user) {
            (true, true) => Err(Error::User),
            (true, false) => Ok(Led::Here(to)),
            // Cut short it would be another address, and a longer one can't be asked for.
            (false, _) if to.as_str().len() > usize::from(URL_CHARS_MAX) => Err(Error::TooLong),
            (false, _) => Ok(Led::Elsewhere(to)),
        }
    }

    fn of(mut url: Url) -> Result<Self, Error> {
        if !is_web(&url) {
            return Err(Error::Scheme);
        }
        // `https://good.example@evil.example/` reads as if it led to the first.
        if has_user(&url) {
            return Err(Error::User);
        }
        url.set_fragment(None);
        let host = url.host().ok_or(Error::Host)?.to_owned();
        let place = Place::new(host, url.port());
        // A place that an operator could not write down could not be granted either.
        if Place::try_from(place.to_string().as_str()).as_ref() != Ok(&place) {
            return Err(Error::Host);
        }
        // The dot that may end a name would make two entries of one page, and two names for one certificate.
        if let Host::Domain(name) = place.host() {
            url.set_host(Some(name)).map_err(|_| Error::Host)?;
        }
        if url.as_str().len() > NORMAL_BYTES_MAX {
            return Err(Error::TooLong);
        }
        let path = Uri::try_from(&url[Position::BeforePath..Position::AfterQuery]);
        Ok(Target { path: path.map_err(|_| Error::NotAnAddress)?, url, place })
    }

    /// The address in its normal form.
    pub(crate) fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The place that it leads to.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// What stands in the request's first line.
    pub(crate) fn path(&self) -> &Uri {
        &self.path
    }

    /// Host and port, as the request names them.
    pub(crate) fn authority(&self) -> &str {
        &self.url[Position::BeforeHost..Position::AfterPort]
    }

    /// The port.
    pub(crate) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(if self.is_secure() { 443 } else { 80 })
    }

    /// Whether nobody on the way can read or change it.
    pub(crate) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// What a URL parser drops without a word must not be there: the person approves what is written.
fn checked(text: &str) -> Result<(), Error> {
    if text.chars().count() > usize::from(URL_CHARS_MAX) {
        return Err(Error::TooLong);
    }
    match text.chars().any(char::is_control) {
        true => Err(Error::Control),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_page_has_one_address() {
        for (text, normal, place) in [
            ("HTTP://Example.ORG", "http://example.org/", "example.org"),
            ("https://example.org.:443/a#b", "https://example.org/a", "example.org"),
            ("https://example.org:80/", "https://example.org:80/", "example.org:80"),
            (
                "http://b\u{FC}cher.example/\u{E4}?q=a b",
                "http://xn--bcher-kva.example/%C3%A4?q=a%20b",
                "xn--bcher-kva.example",
            ),
            ("http://127.1/", "http://127.0.0.1/", "127.0.0.1"),
            ("http://2130706433/", "http://127.0.0.1/", "127.0.0.1"),
            ("http://0x7f.1/", "http://127.0.0.1/", "127.0.0.1"),
            ("http://0177.0.0.1./", "http://127.0.0.1/", "127.0.0.1"),
            ("http://%31%32%37.0.0.1/", "http://127.0.0.1/", "127.0.0.1"),
            ("http://\u{FF11}27.0.0.1/", "http://127.0.0.1/", "127.0.0.1"),
            ("http://[0:0::1]:8080/", "http://[::1]:8080/", "[::1]:8080"),
            ("http://a.example\\@b.example/", "http://a.example/@b.example/", "a.example"),
            ("http:/a.example", "http://a.example/", "a.example"),
        ] {
            let target = Target::read(text).unwrap();
            assert_eq!((target.as_str(), target.place().to_string().as_str()), (normal, place), "{text}");
        }
    }

    #[test]
    fn what_is_not_fetched() {
        for (text, why) in [
            ("", Error::NotAnAddress),
            ("a.example", Error::NotAnAddress),
            ("/a", Error::NotAnAddress),
            ("http://", Error::NotAnAddress),
            ("http://a b/", Error::NotAnAddress),
            ("http://1.2.3.4.5/", Error::NotAnAddress),
            ("http://a.example:70000/", Error::NotAnAddress),
            ("ftp://a.example/", Error::Scheme),
            ("file:///etc/passwd", Error::Scheme),
            ("javascript:alert(1)", Error::Scheme),
            ("data:text/html,a", Error::Scheme),
            ("http://a@b.example/", Error::User),
            ("http://:p@b.example/", Error::User),
            ("http://a.example/\r\nHost: b.example", Error::Control),
            ("http://a.exa\tmple/", Error::Control),
            ("http://a.example/\u{0}", Error::Control),
            ("http://a.example/\u{85}", Error::Control),
            ("http://a..example/", Error::Host),
            ("http://*.example/", Error::Host),
            ("http://a.example../", Error::Host),
        ] {
            assert_eq!(Target::read(text).unwrap_err(), why, "{text:?}");
        }
        assert_eq!(
            Target::read(&format!("http://a.example/{}", "a".repeat(2_048))).unwrap_err(),
            Error::TooLong
        );
        assert_eq!(
            Target::read(&format!("http://a.example/{}", "\u{1F600}".repeat(2_000))).unwrap_err(),
            Error::TooLong
        );
    }

    proptest! {
        #[test]
        fn the_normal_form_is_its_own(text in "https?://[a-z0-9.%\u{E4}-]{1,12}(:[0-9]{1,5})?/[ -~\u{E4}]{0,24}") {
            if let Ok(target) = Target::read(&text) {
                let again = Target::read(target.as_str()).unwrap();
                prop_assert_eq!(again.as_str(), target.as_str());
                prop_assert_eq!(again.place(), target.place());
                prop_assert!(target.path().to_string().starts_with('/'));
            }
        }
    }
}
