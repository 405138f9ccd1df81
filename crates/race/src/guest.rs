//! Guests of an end: our stacks, or further kernel networks. The kernel of the end forwards their packets.

use std::net::{IpAddr, Ipv4Addr};

use unruffled_lab::Scenario;
use unruffled_net::{Namespace, Side, real_time};
use unruffled_tcp::{Config, EcnMode, IpVersion, Variant};
use unruffled_wire::device::Tun;
use unruffled_wire::driver::Driver;
use unruffled_wire::stack::{Stack, StackConfig};

use crate::Error;

/// Octets of the IP and TCP headers without options.
const HEADER_OCTETS: u32 = 40;

/// Returns the addresses of guest `n`: the host's on their link, and its own. Both ends may have guests
/// that must reach each other, so the host's number is part of the address.
fn addresses(host: &Side, n: u8) -> (Ipv4Addr, Ipv4Addr) {
    let [.., end] = host.v4.octets();
    (Ipv4Addr::new(10, end, n, 1), Ipv4Addr::new(10, end, n, 2))
}

/// Returns the size of the longest packet that carries a segment of the scenario, in octets.
pub(crate) fn mtu(scenario: &Scenario) -> u16 {
    u16::try_from(scenario.sender.mss + HEADER_OCTETS).unwrap_or(u16::MAX)
}

/// Starts our stack as guest `n` of an end, and returns it with its address.
pub(crate) fn stack(
    host: &Side,
    n: u8,
    scenario: &Scenario,
    variant: &Variant,
    role: Role,
) -> Result<(Driver, Ipv4Addr), Error> {
    host.namespace.sysctl("net.ipv4.ip_forward", "1")?;
    let (gateway, own) = addresses(host, n);
    let mtu = mtu(scenario);
    let tun = host.namespace.run(|| {
        let kernel = [(IpAddr::V4(gateway), 24)];
        Tun::create(&format!("guest{n}"), mtu, &kernel).map_err(Error::system("a TUN device"))
    })?;
    let secret = Error::system("a secret for sequence numbers");
    let config = StackConfig::new(vec![own.into()], variant.clone()).map_err(secret)?;
    let config = StackConfig { mtu, connection: connection(scenario, role), ..config };
    // The kernel's TCP does not wait for a processor, so our driver gets real-time priority.
    let driver = Driver::spawn_with(tun, Stack::new(config), real_time);
    let driver = driver.map_err(Error::system("a thread"))?;
    Ok((driver, own))
}

/// Creates a TUN device for a foreign stack as guest `n` of an end, and returns the addresses of the kernel's end
/// and of the stack. The device ends with the namespace.
pub(crate) fn device(host: &Side, n: u8, mtu: u16) -> Result<(Ipv4Addr, Ipv4Addr), Error> {
    host.namespace.sysctl("net.ipv4.ip_forward", "1")?;
    let (gateway, own) = addresses(host, n);
    host.namespace.ip(&format!(
        "tuntap add dev guest{n} mode tun\n\
         address add {gateway}/24 dev guest{n}\n\
         link set dev guest{n} mtu {mtu} txqueuelen 10000 up\n"
    ))?;
    Ok((gateway, own))
}

/// Role of our stack in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Sender,
    /// Offers every option that a kernel's sender may use, timestamps included.
    Receiver,
}

/// Returns the settings for real packets, with those of the scenario's senders.
fn connection(scenario: &Scenario, role: Role) -> Config {
    let sender = &scenario.sender;
    Config::wire(IpVersion::V4).with(|c| {
        c.window.initial = sender.window.initial;
        c.window.max = sender.window.max;
        c.window.byte_counting = sender.window.byte_counting;
        c.pacing = sender.pacing;
        c.rto.min = sender.rto.min;
        c.rto.max = sender.rto.max;
        c.ns2.duplicates = sender.ns2.duplicates;
        c.ns2.pipe = sender.ns2.pipe;
        if sender.ecn == EcnMode::Request && role == Role::Sender {
            c.ecn = EcnMode::Request;
        }
        c.timestamps.offer = sender.timestamps.offer || role == Role::Receiver;
        // A bulk transfer lasts until the race ends.
        c.nagle = false;
        c.timeouts.give_up = None;
    })
}

/// Creates a network of the kernel as guest `n` of an end, and returns it with its address.
pub(crate) fn network(host: &Side, n: u8, mtu: u16) -> Result<(Namespace, Ipv4Addr), Error> {
    host.namespace.sysctl("net.ipv4.ip_forward", "1")?;
    let (gateway, own) = addresses(host, n);
    let guest = Namespace::new("unruffled-guest")?;
    host.namespace.ip(&format!(
        "link add guest{n} mtu {mtu} type veth peer name up0 mtu {mtu} netns {}\n\
         address add {gateway}/24 dev guest{n}\n\
         link set dev guest{n} up\n",
        guest.keeper(),
    ))?;
    guest.ip(&format!(
        "address add {own}/24 dev up0\n\
         link set dev up0 up\n\
         route add default via {gateway}\n"
    ))?;
    Ok((guest, own))
}
