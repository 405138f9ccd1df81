//! The firewall rules that queue packets, in a table or a chain of their own.
//!
//! `nft` is used where the kernel has its queue statement, otherwise `iptables` and `ip6tables` in one of
//! their variants. Which of them works is found out by trying. Each program installs and removes all rules
//! in one transaction, so a killed command leaves all of them or none.
//!
//! Rules are at the start of the way of a packet (raw PREROUTING), before connections are tracked, so that
//! tracking sees the restored order. The rules let packets pass where no process serves the queue.

mod nft;
mod program;
mod xtables;

use std::ops::RangeInclusive;

use crate::settings::PortRange;
use crate::{Error, Hook, Settings};
use xtables::Family;

/// How the packets are queued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// Program that has installed the rules.
    pub firewall: String,
    /// Numbers of the queues.
    pub queues: Vec<u16>,
    /// Why IPv6 packets are not queued, if the machine has IPv6.
    pub without_ipv6: Option<String>,
}

/// Which packets are queued.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Selection {
    hook: Hook,
    queues: RangeInclusive<u16>,
    matches: Vec<Match>,
}

/// Packets of one protocol, interface and port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Match {
    interface: Option<String>,
    protocol: Transport,
    port: Option<(End, PortRange)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp,
    Udp,
    Esp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Source,
    Destination,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Esp => "esp",
        }
    }
}

impl Selection {
    fn new(settings: &Settings, queues: &[u16]) -> Self {
        let tunnels = settings.tunnels;
        let mut transports = vec![Transport::Tcp];
        if tunnels.wireguard || tunnels.openvpn || tunnels.esp {
            transports.push(Transport::Udp);
        }
        if tunnels.esp {
            transports.push(Transport::Esp);
        }
        let interfaces: Vec<Option<String>> = match settings.interfaces.as_slice() {
            [] => vec![None],
            names => names.iter().cloned().map(Some).collect(),
        };
        let mut matches = Vec::new();
        for interface in &interfaces {
            for &protocol in &transports {
                let mut add =
                    |port| matches.push(Match { interface: interface.clone(), protocol, port });
                if settings.ports.is_empty() || protocol == Transport::Esp {
                    add(None);
                } else {
                    for &ports in &settings.ports {
                        add(Some((End::Destination, ports)));
                        add(Some((End::Source, ports)));
                    }
                }
            }
        }
        let first = queues.first().copied().unwrap_or(0);
        let last = queues.last().copied().unwrap_or(0);
        Self { hook: settings.hook, queues: first..=last, matches }
    }
}

/// Installs the rules for these consecutive `queues`.
pub(crate) fn install(settings: &Settings, queues: &[u16]) -> Result<Installed, Error> {
    let selection = Selection::new(settings, queues);
    let mut failures = Vec::new();
    let queues = queues.to_vec();
    match nft::install(&selection) {
        Ok(()) => return Ok(Installed { firewall: "nft".into(), queues, without_ipv6: None }),
        Err(failure) => failures.push(failure),
    }
    for variant in xtables::VARIANTS {
        match xtables::install(Family::V4, variant, &selection) {
            Ok(firewall) => {
                let without_ipv6 = if has_ipv6() { install_v6(variant, &selection) } else { None };
                return Ok(Installed { firewall, queues, without_ipv6 });
            }
            Err(failure) => failures.push(failure),
        }
    }
    if failures.iter().all(program::Failure::is_missing) {
        return Err(Error::NoFirewall);
    }
    let found = failures.iter().filter(|failure| !failure.is_missing());
    Err(Error::Rules(found.map(ToString::to_string).collect::<Vec<_>>().join("; ")))
}

/// Installs the rules for IPv6, in the variant that IPv4 has or in another. Returns the reason if none works.
fn install_v6(variant: &str, selection: &Selection) -> Option<String> {
    let others = xtables::VARIANTS.into_iter().filter(|other| *other != variant);
    let mut reason = None;
    for variant in std::iter::once(variant).chain(others) {
        match xtables::install(Family::V6, variant, selection) {
            Ok(_) => return None,
            Err(failure) => reason = reason.or(Some(failure.to_string())),
        }
    }
    reason
}

/// Removes all rules of resequencers in the network namespace of the calling thread, and returns whether
/// there were any.
///
/// Nothing may be held meanwhile: with a hook of a table that is removed, the kernel drops all packets that
/// are queued in the namespace (`nf_queue_nf_hook_drop`).
pub(crate) fn remove() -> Result<bool, Error> {
    let mut found = false;
    let mut failures = Vec::new();
    match nft::remove() {
        Ok(removed) => found |= removed,
        Err(failure) => failures.push(failure),
    }
    for family in [Family::V4, Family::V6] {
        for variant in xtables::VARIANTS {
            match xtables::remove(family, variant) {
                Ok(removed) => found |= removed,
                Err(failure) => failures.push(failure),
            }
        }
    }
    if failures.is_empty() {
        return Ok(found);
    }
    Err(Error::Rules(failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))
}

fn has_ipv6() -> bool {
    std::fs::exists("/proc/thread-self/net/if_inet6").unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use unruffled_resequence::Tunnels;

    use super::*;

    fn selection(settings: &Settings) -> Selection {
        Selection::new(settings, &[42_000])
    }

    #[test]
    fn by_default_all_tcp_packets_to_this_machine_are_queued() {
        let expected = Match { interface: None, protocol: Transport::Tcp, port: None };
        assert_eq!(selection(&Settings::default()).matches, [expected]);
    }

    #[test]
    fn a_port_selects_packets_from_it_and_to_it_on_each_interface() {
        let ports = vec![PortRange { first: 443, last: 443 }];
        let interfaces = vec!["eth0".to_owned(), "wan".to_owned()];
        let found = selection(&Settings { ports, interfaces, ..Settings::default() });
        assert_eq!(found.matches.len(), 4);
    }

    #[test]
    fn esp_has_no_ports_and_may_be_within_udp() {
        let ports = vec![PortRange { first: 443, last: 443 }];
        let tunnels = Tunnels { esp: true, ..Tunnels::default() };
        let found = selection(&Settings { ports, tunnels, ..Settings::default() }).matches;
        let with_port = |transport| {
            let mut of_transport = found.iter().filter(|m| m.protocol == transport);
            of_transport.all(|m| m.port.is_some())
        };
        assert!(with_port(Transport::Tcp) && with_port(Transport::Udp));
        assert!(found.iter().any(|m| m.protocol == Transport::Esp && m.port.is_none()));
    }
}
