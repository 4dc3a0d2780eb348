//! Addresses that only this machine or its network has, and those that are no host's.
//! Owns: the list. Must not: look up a name.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is reached only if its very host was granted; `None` for one of the public network.
///
/// What holds an IPv4 address in itself (mapped, compatible, NAT64, 6to4, Teredo) is refused whole: who is asked behind it
/// depends on the network.
#[must_use]
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

const V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8, "an unspecified address"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private address"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "an address of a provider's own network"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "a loopback address"),
    // Azure's machines are answered with their secrets here, in the middle of public addresses.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a metadata address"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "a link-local or metadata address"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private address"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "a reserved address"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "an address of documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a relay's address"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private address"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "an address of test networks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "an address of documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "an address of documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "a multicast address"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "a reserved address"),
];

const V6: &[(Ipv6Addr, u32, &str)] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "an unspecified address"),
    (Ipv6Addr::LOCALHOST, 128, "a loopback address"),
    (Ipv6Addr::UNSPECIFIED, 96, EMBEDS),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xFFFF, 0, 0), 96, EMBEDS),
    (Ipv6Addr::new(0, 0, 0, 0, 0xFFFF, 0, 0, 0), 96, EMBEDS),
    (Ipv6Addr::new(0x64, 0xFF9B, 0, 0, 0, 0, 0, 0), 96, EMBEDS),
    (Ipv6Addr::new(0x64, 0xFF9B, 1, 0, 0, 0, 0, 0), 48, EMBEDS),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, EMBEDS),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, EMBEDS),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "a reserved address"),
    (Ipv6Addr::new(0x2001, 0xDB8, 0, 0, 0, 0, 0, 0), 32, "an address of documentation"),
    (Ipv6Addr::new(0x3FFF, 0, 0, 0, 0, 0, 0, 0), 20, "an address of documentation"),
    (Ipv6Addr::new(0xFC00, 0, 0, 0, 0, 0, 0, 0), 7, "a private address"),
    (Ipv6Addr::new(0xFE80, 0, 0, 0, 0, 0, 0, 0), 10, "a link-local address"),
    (Ipv6Addr::new(0xFEC0, 0, 0, 0, 0, 0, 0, 0), 10, "a private address"),
    (Ipv6Addr::new(0xFF00, 0, 0, 0, 0, 0, 0, 0), 8, "a multicast address"),
];

const EMBEDS: &str = "an address that holds another one";
/// Nothing outside of it was given to anybody as a public address.
const GLOBAL: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let is_in = |network: Ipv4Addr, bits: u32| {
        let differs = address.to_bits() ^ network.to_bits();
        differs.leading_zeros() >= bits
    };
    V4.iter().find(|(network, bits, _)| is_in(*network, *bits)).map(|(_, _, kind)| *kind)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let is_in = |network: Ipv6Addr, bits: u32| {
        let differs = address.to_bits() ^ network.to_bits();
        differs.leading_zeros() >= bits
    };
    let known = V6.iter().find(|(network, bits, _)| is_in(*network, *bits)).map(|(_, _, kind)| *kind);
    known.or((!is_in(GLOBAL.0, GLOBAL.1)).then_some("a reserved address"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_not_public() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::808:808",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::7f00:1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
        ] {
            assert!(not_public(address.parse().unwrap()).is_some(), "{address}");
        }
    }

    #[test]
    fn what_is_public() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450:4001::1",
            "2003::1",
        ] {
            assert_eq!(not_public(address.parse().unwrap()), None, "{address}");
        }
    }

    proptest! {
        /// What the standard library knows to be no public address is none here either.
        #[test]
        fn nothing_that_the_library_knows_is_missing(bits in any::<u32>(), wide in any::<u128>()) {
            let four = Ipv4Addr::from_bits(bits);
            if four.is_private() || four.is_loopback() || four.is_link_local() || four.is_broadcast()
                || four.is_documentation() || four.is_multicast() || four.is_unspecified() {
                prop_assert!(not_public(four.into()).is_some());
            }
            prop_assert!(not_public(four.to_ipv6_mapped().into()).is_some());
            prop_assert!(not_public(four.to_ipv6_compatible().into()).is_some());
            let six = Ipv6Addr::from_bits(wide);
            if six.is_unique_local() || six.is_unicast_link_local() || six.is_multicast() {
                prop_assert!(not_public(six.into()).is_some());
            }
        }
    }
}
