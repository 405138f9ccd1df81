//! Guests: stacks of ours, or other kernels, behind the kernel of an end, which forwards their packets.

use std::net::{IpAddr, Ipv4Addr};

use unruffled_lab::Scenario;
use unruffled_net::{Namespace, Side, real_time};
use unruffled_tcp::{Config, IpVersion, Variant};
use unruffled_wire::device::Tun;
use unruffled_wire::driver::Driver;
use unruffled_wire::stack::{Stack, StackConfig};

use crate::Error;

/// Octets of the IP and TCP headers without options.
const HEADERS: u32 = 40;

/// The addresses of guest `n`: the host's end of the link to it, and its own. Both ends may have
/// guests, which have to reach each other: none has an address of the other end's.
fn addresses(host: &Side, n: u8) -> (Ipv4Addr, Ipv4Addr) {
    let [.., end] = host.v4.octets();
    (Ipv4Addr::new(10, end, n, 1), Ipv4Addr::new(10, end, n, 2))
}

/// The longest packet that carries a segment of the scenario.
pub(crate) fn mtu(scenario: &Scenario) -> u16 {
    u16::try_from(scenario.sender.mss + HEADERS).unwrap_or(u16::MAX)
}

/// Our stack as guest `n` of an end, and its address.
pub(crate) fn stack(
    host: &Side,
    n: u8,
    scenario: &Scenario,
    variant: &Variant,
    role: Role,
) -> Result<(Driver, Ipv4Addr), Error> {
    host.namespace.sysctl("net.ipv4.ip_forward", "1")?;
    let ((gateway, own), mtu) = (addresses(host, n), mtu(scenario));
    let tun = host.namespace.run(|| {
        let kernel = [(IpAddr::V4(gateway), 24)];
        Tun::create(&format!("guest{n}"), mtu, &kernel).map_err(Error::system("a TUN device"))
    })?;
    let secret = Error::system("a secret for sequence numbers");
    let config = StackConfig::new(vec![own.into()], variant.clone()).map_err(secret)?;
    let config = StackConfig { mtu, connection: connection(scenario, role), ..config };
    // The kernel's TCP does not wait for a processor while others compute; ours shall not either.
    let driver = Driver::spawn_with(tun, Stack::new(config), real_time);
    let driver = driver.map_err(Error::system("a thread"))?;
    Ok((driver, own))
}

/// The role of our stack in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Sender,
    /// Offers every option that a kernel's sender may use, timestamps included.
    Receiver,
}

/// The standards' settings for real packets, with what the scenario says of senders.
fn connection(scenario: &Scenario, role: Role) -> Config {
    let told = &scenario.sender;
    Config::wire(IpVersion::V4).with(|c| {
        c.window.initial = told.window.initial;
        c.window.max = told.window.max;
        c.window.byte_counting = told.window.byte_counting;
        c.rto.min = told.rto.min;
        c.rto.max = told.rto.max;
        c.ns2.duplicates = told.ns2.duplicates;
        c.ns2.pipe = told.ns2.pipe;
        c.timestamps.offer = told.timestamps.offer || role == Role::Receiver;
        // A bulk transfer ends with the race, not before.
        c.nagle = false;
        c.patience.give_up = None;
    })
}

/// Another kernel's network as guest `n` of an end.
pub(crate) fn network(host: &Side, n: u8, mtu: u16) -> Result<Namespace, Error> {
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
    Ok(guest)
}
