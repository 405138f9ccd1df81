//! A device that holds what arrives and what leaves.

use std::collections::VecDeque;

use smoltcp::phy::{DeviceCapabilities, Medium};
use smoltcp::time::Instant;

/// A link that carries IP packets.
pub struct Device {
    mtu: usize,
    /// Packets that have arrived.
    pub arrived: VecDeque<Vec<u8>>,
    /// Packets that leave.
    pub leaving: Vec<Vec<u8>>,
}

impl Device {
    /// An empty link that carries packets of up to `mtu` octets.
    pub fn new(mtu: usize) -> Device {
        Device { mtu, arrived: VecDeque::new(), leaving: Vec::new() }
    }
}

impl smoltcp::phy::Device for Device {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        capabilities
    }
}

/// A packet that has arrived.
pub struct Arrived(Vec<u8>);

impl smoltcp::phy::RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

/// Room for a packet that leaves.
pub struct Leaving<'a>(&'a mut Vec<Vec<u8>>);

impl smoltcp::phy::TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, write: F) -> R {
        let mut packet = vec![0; length];
        let result = write(&mut packet);
        self.0.push(packet);
        result
    }
}
