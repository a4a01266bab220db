//! Client addresses: which of them count as one client.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is counted as: an IPv4 address, or an IPv6 network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    V4(Ipv4Addr),
    V6 { network: Ipv6Addr, prefix: u8 },
}

impl Client {
    /// Reads an address. `None` when it is none.
    pub(super) fn parse(address: &str, prefix: u8) -> Option<Self> {
        match address.parse().ok()? {
            IpAddr::V4(address) => Some(Self::V4(address)),
            IpAddr::V6(address) => Some(Self::from_v6(address, prefix)),
        }
    }

    fn from_v6(address: Ipv6Addr, prefix: u8) -> Self {
        if let Some(mapped) = address.to_ipv4_mapped() {
            return Self::V4(mapped);
        }
        // NAT64: the IPv4 address is the one that pays, and a /64 would hold all of them.
        if let [0x64, 0xff9b, 0, 0, 0, 0, high, low] = address.segments() {
            return Self::V4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
        }
        let host_bits = 128_u32.saturating_sub(prefix.into());
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or(0);
        Self::V6 { network: Ipv6Addr::from_bits(address.to_bits() & mask), prefix }
    }

    /// A form of its own for each client.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::V4(address) => address.octets().to_vec(),
            Self::V6 { network, prefix } => {
                let mut bytes = network.octets().to_vec();
                bytes.push(*prefix);
                bytes
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(address: &str, prefix: u8) -> Option<Vec<u8>> {
        Client::parse(address, prefix).map(|client| client.bytes())
    }

    #[test]
    fn an_ipv4_address_has_three_spellings() {
        let plain = bytes("203.0.113.7", 64);
        assert_eq!(plain, Some(vec![203, 0, 113, 7]));
        for same in ["::ffff:203.0.113.7", "::ffff:cb00:7107", "64:ff9b::203.0.113.7", "64:ff9b::cb00:7107"] {
            assert_eq!(bytes(same, 64), plain, "{same}");
        }
        assert_ne!(bytes("64:ff9b:1::203.0.113.7", 64), plain, "the local-use prefix is another network");
        assert_ne!(bytes("::203.0.113.7", 64), plain);
    }

    #[test]
    fn an_ipv6_address_is_cut_to_its_network() {
        assert_eq!(bytes("2001:db8::1", 64), bytes("2001:DB8:0:0:ffff::2", 64));
        assert_ne!(bytes("2001:db8::1", 64), bytes("2001:db8:0:1::1", 64));
        assert_eq!(bytes("2001:db8::1", 56), bytes("2001:db8:0:ff::1", 56));
        assert_ne!(bytes("2001:db8::1", 128), bytes("2001:db8::2", 128));
        assert_eq!(bytes("2001:db8::1", 32), bytes("2001:db8:ffff::1", 32));
        assert_ne!(bytes("2001:db8::", 64), bytes("2001:db8::", 48), "another prefix, other clients");
        assert_eq!(bytes("2001:db8::1", 0), bytes("::1", 0));
        assert!(bytes("2001:db8::1", 255).is_some());
    }

    #[test]
    fn what_is_no_address_is_none() {
        for bad in [
            "",
            "unknown",
            "203.0.113",
            "203.0.113.07",
            "203.0.113.7:80",
            "[::1]",
            "fe80::1%eth0",
            "1.2.3.4, 5.6.7.8",
        ] {
            assert_eq!(bytes(bad, 64), None, "{bad}");
        }
    }
}
