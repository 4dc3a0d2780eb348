//! What an agent may do: capabilities, and whether they allow something.
//! Owns: the words for capabilities, the rules of hosts. Must not: ask anybody, or reach anything.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use countersign_record::json::Object;
use url::Host;

/// Something that may be granted: a name (`net`), or one with what it is for (`net:example.org`, `net:example.org:8080`).
/// Two spellings of a host are one capability.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Capability(String);

/// A text that names no capability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a capability is a name such as `net`, or one with a host such as `net:example.org`")]
pub struct NotACapability;

/// The name of what reaches the network.
const NET: &str = "net";
/// The name of what lets privileged content leave for a host.
const LEAVE: &str = "leave";
const NAME_BYTES_MAX: usize = 32;
const SCOPE_BYTES_MAX: usize = 253;
/// What is read as a place at all; a name in another script becomes longer when it is written in ASCII.
const PLACE_BYTES_MAX: usize = 1_024;
/// What a name may have, and a part of it between dots.
const NAME_MAX: usize = 253;
const LABEL_MAX: usize = 63;

impl Capability {
    /// The text, in its normal form.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a person should know of it before granting it: the name of a host says not where it leads.
    #[must_use]
    pub fn caution(&self) -> Option<&'static str> {
        let place = self.0.strip_prefix(NET)?.strip_prefix(':')?;
        match Place::try_from(place).ok()?.host {
            Host::Domain(_) => Some("wherever that name leads, also within your own network"),
            Host::Ipv4(_) | Host::Ipv6(_) => None,
        }
    }

    /// What a request to a place needs at least.
    #[must_use]
    pub fn of_place(place: &Place) -> Self {
        Capability(format!("{NET}:{place}"))
    }
}

impl TryFrom<&str> for Capability {
    type Error = NotACapability;

    fn try_from(text: &str) -> Result<Self, NotACapability> {
        let (name, scope) = match text.split_once(':') {
            Some((name, scope)) => (name, Some(scope)),
            None => (text, None),
        };
        let is_named = name.len() <= NAME_BYTES_MAX
            && name.starts_with(|letter: char| letter.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        match (is_named, scope) {
            (true, None) => Ok(Capability(name.to_owned())),
            (true, Some(scope)) if name == NET || name == LEAVE => {
                let place = Place::try_from(scope).map_err(|_| NotACapability)?;
                Ok(Capability(format!("{name}:{place}")))
            }
            (true, Some(scope)) if is_plain(scope) => Ok(Capability(format!("{name}:{scope}"))),
            (true, Some(_)) | (false, _) => Err(NotACapability),
        }
    }
}

fn is_plain(scope: &str) -> bool {
    (1..=SCOPE_BYTES_MAX).contains(&scope.len()) && scope.bytes().all(|byte| byte.is_ascii_graphic())
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A host, and a port if it is not the one that its protocol has anyway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    host: Host<String>,
    port: Option<u16>,
}

/// A text that names no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a host is a name or an address, without protocol, user and path")]
pub struct NotAPlace;

impl Place {
    /// The place that a request goes to; `port` if it is not the protocol's own.
    #[must_use]
    pub fn new(host: Host<String>, port: Option<u16>) -> Self {
        Place { host: normal(host), port }
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Host<String> {
        &self.host
    }
}

/// A name without the dot that ends it: it is the same name.
fn normal(host: Host<String>) -> Host<String> {
    match host {
        Host::Domain(name) => Host::Domain(name.strip_suffix('.').map_or(name.clone(), ToOwned::to_owned)),
        address @ (Host::Ipv4(_) | Host::Ipv6(_)) => address,
    }
}

impl TryFrom<&str> for Place {
    type Error = NotAPlace;

    /// Reads what an operator writes. The host is read as a URL's is: letters in any case, names in any script, and
    /// every way to write an address are one and the same.
    fn try_from(text: &str) -> Result<Self, NotAPlace> {
        if text.len() > PLACE_BYTES_MAX || text.contains(|letter: char| letter.is_whitespace()) {
            return Err(NotAPlace);
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            Some(_) | None => (text, None),
        };
        let port = match port {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().map_err(|_| NotAPlace)?)
            }
            Some(_) => return Err(NotAPlace),
            None => None,
        };
        let host = normal(Host::parse(host).map_err(|_| NotAPlace)?);
        match &host {
            Host::Domain(name) if !is_name(name) => Err(NotAPlace),
            Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_) => Ok(Place { host, port }),
        }
    }
}

/// A URL's host may have more letters than a name that is looked up; a star among them would look like a pattern.
fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let is_label = |label: &str| (1..=LABEL_MAX).contains(&label.len()) && label.bytes().all(is_letter);
    name.len() <= NAME_MAX && name.split('.').all(is_label)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => write!(f, "{}", self.host),
        }
    }
}

/// Why a place may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// It was granted by name: also if its address is one that only this machine or network has.
    Exact,
    /// Everything was, and the list of hosts has it if there is one.
    Broad,
}

/// Whether a place may be reached. With a list of hosts, `net` is for those on it alone; `net:<host>` is above the list.
///
/// # Errors
/// The capability that would allow it.
pub fn reaches(granted: &[Capability], hosts: Option<&[Place]>, place: &Place) -> Result<Grant, Capability> {
    let exact = Capability::of_place(place);
    if granted.contains(&exact) {
        return Ok(Grant::Exact);
    }
    let is_listed = hosts.is_none_or(|hosts| hosts.contains(place));
    match granted.iter().any(|one| one.as_str() == NET) && is_listed {
        true => Ok(Grant::Broad),
        false => Err(exact),
    }
}

/// What of the network may be reached, for whoever has to know why: a place that was granted by name has more addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// What is granted.
    pub granted: Vec<Capability>,
    /// The hosts that `net` is for; without a list it is for all.
    pub hosts: Option<Vec<Place>>,
}

impl Reach {
    /// Whether a place may be reached.
    ///
    /// # Errors
    /// The capability that would allow it.
    pub fn to(&self, place: &Place) -> Result<Grant, Capability> {
        reaches(&self.granted, self.hosts.as_deref(), place)
    }
}

/// A call that may be made. There is no way to one but [`permit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permitted {
    args: Object,
    reach: Reach,
}

impl Permitted {
    /// The arguments, as they were permitted.
    #[must_use]
    pub fn args(&self) -> &Object {
        &self.args
    }

    /// What of the network it may reach.
    #[must_use]
    pub fn reach(&self) -> &Reach {
        &self.reach
    }
}

/// What one call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// This capability.
    Capability(Capability),
    /// To reach this place.
    Place(Place),
}

/// Permits a call, if what it needs is granted.
///
/// # Errors
/// The capability that would allow it.
pub fn permit(args: Object, need: &Need, reach: Reach) -> Result<Permitted, Capability> {
    match need {
        Need::Nothing => {}
        Need::Capability(capability) if reach.granted.contains(capability) => {}
        Need::Capability(capability) => return Err(capability.clone()),
        Need::Place(place) => drop(reach.to(place)?),
    }
    Ok(Permitted { args, reach })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    fn capability(text: &str) -> Capability {
        Capability::try_from(text).unwrap()
    }

    fn place(text: &str) -> Place {
        Place::try_from(text).unwrap()
    }

    #[test]
    fn one_host_is_one_capability() {
        for (text, normal) in [
            ("net", "net"),
            ("net:Example.ORG", "net:example.org"),
            ("net:example.org.", "net:example.org"),
            ("net:BÜCHER.example", "net:xn--bcher-kva.example"),
            ("net:bücher.example", "net:xn--bcher-kva.example"),
            ("net:ｅxample.org", "net:example.org"),
            ("net:127.1", "net:127.0.0.1"),
            ("net:2130706433", "net:127.0.0.1"),
            ("net:0x7f.0.0.1:80", "net:127.0.0.1:80"),
            ("net:[::1]:8080", "net:[::1]:8080"),
            ("net:[0:0::1]", "net:[::1]"),
            ("fs:write", "fs:write"),
        ] {
            assert_eq!(capability(text).as_str(), normal, "{text}");
        }
    }

    #[test]
    fn a_name_leads_anywhere() {
        for (text, has_caution) in [
            ("net:example.org", true),
            ("net:localhost:8080", true),
            ("net:10.0.0.1", false),
            ("net:[::1]:80", false),
            ("net", false),
            ("network:example.org", false),
            ("leave:example.org", false),
            ("fs:write", false),
        ] {
            assert_eq!(capability(text).caution().is_some(), has_caution, "{text}");
        }
    }

    #[test]
    fn what_is_no_capability_is_refused() {
        for text in [
            "",
            "Net",
            "net:",
            "net: ",
            "net:a b",
            "net:*",
            "net:*.example.org",
            "net:http://a.example",
            "net:a/b",
            "net:a@b",
            "net:a.example:",
            "net:a.example:x",
            "net:a.example:70000",
            "net:::1",
            "net:a..",
            "net:.",
            "net:a\u{0}b",
            "fs:",
            "fs:a b",
            "1net",
        ] {
            assert!(Capability::try_from(text).is_err(), "{text}");
        }
        assert!(Capability::try_from(&*format!("net:{}", "a".repeat(64))).is_err());
        // Short enough as it is written, and too long as it is looked up.
        assert!(Capability::try_from(&*format!("net:{}example", "ücher.".repeat(30))).is_err());
    }

    #[test]
    fn a_call_is_permitted_by_what_it_needs() {
        let reach = Reach { granted: vec![capability("fs:write")], hosts: None };
        let ask =
            |need: &Need| permit(Object::new(), need, reach.clone()).map(|call| call.reach().granted.len());
        assert_eq!(ask(&Need::Nothing), Ok(1));
        assert_eq!(ask(&Need::Capability(capability("fs:write"))), Ok(1));
        assert_eq!(ask(&Need::Capability(capability("shell"))), Err(capability("shell")));
        assert_eq!(ask(&Need::Place(place("a.example"))), Err(capability("net:a.example")));
    }

    #[test]
    fn a_grant_is_for_its_host_and_port_alone() {
        let hosts = [place("listed.example")];
        let all = [capability("net")];
        let one = [capability("net:one.example")];
        assert_eq!(reaches(&one, Some(&hosts), &place("ONE.example.")), Ok(Grant::Exact));
        for other in ["sub.one.example", "one.example.evil.example", "xone.example", "one.example:8080"] {
            assert_eq!(reaches(&one, None, &place(other)), Err(capability(&format!("net:{other}"))));
        }
        assert_eq!(reaches(&all, None, &place("any.example:81")), Ok(Grant::Broad));
        assert_eq!(reaches(&all, Some(&hosts), &place("listed.example")), Ok(Grant::Broad));
        assert_eq!(reaches(&all, Some(&hosts), &place("any.example")), Err(capability("net:any.example")));
        assert_eq!(reaches(&[], None, &place("a.example")), Err(capability("net:a.example")));
    }
}
