//! Settings.

use std::path::Path;

use serde::{Deserialize, Serialize};
use unruffled_resequence::{Config, Tunnels};
use unruffled_units::Duration;

use crate::Error;

/// Which packets are put in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hook {
    /// Those to this machine.
    #[default]
    Input,
    /// Those that pass through this machine.
    Forward,
}

impl std::fmt::Display for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Forward => "forward",
        })
    }
}

/// A range of ports, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortRange {
    /// First port.
    pub first: u16,
    /// Last port.
    pub last: u16,
}

/// Which packets are queued, and the bounds of the wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which packets.
    pub hook: Hook,
    /// Interfaces on which they arrive; all but the loopback interface if empty.
    pub interfaces: Vec<String>,
    /// Source or destination ports; all if empty.
    pub ports: Vec<PortRange>,
    /// Tunnels that are put in order by their outer numbers.
    pub tunnels: Tunnels,
    /// Maximum time for which a packet is held.
    pub max_hold: Duration,
    /// Maximum memory of held packets, in octets.
    pub budget: u64,
    /// Number of queues, each with a thread of its own.
    pub queues: u16,
}

impl Default for Settings {
    fn default() -> Self {
        let Config { max_hold, budget, .. } = Config::default();
        Self {
            hook: Hook::Input,
            interfaces: Vec::new(),
            ports: Vec::new(),
            tunnels: Tunnels::default(),
            max_hold,
            budget,
            queues: 1,
        }
    }
}

impl Settings {
    /// Checks that the interfaces exist.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for interface in &self.interfaces {
            // A thread's /proc has the interfaces of its own network namespace, unlike /sys.
            let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
            let mut names = devices.lines().filter_map(|line| line.split_once(':'));
            let is_name = !interface.is_empty() && Path::new(interface).components().count() == 1;
            if !is_name || !names.any(|(name, _)| name.trim() == interface) {
                return Err(Error::NoInterface(interface.clone()));
            }
        }
        Ok(())
    }
}

/// Settings of the threads that decide the order, as a message to the worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Numbers of the queues.
    pub(crate) queues: Vec<u16>,
    max_hold_ns: u64,
    budget: u64,
    wireguard: bool,
    esp: bool,
    openvpn: bool,
}

impl Task {
    pub(crate) fn new(settings: &Settings, queues: Vec<u16>) -> Self {
        let Tunnels { wireguard, esp, openvpn } = settings.tunnels;
        Self {
            queues,
            max_hold_ns: settings.max_hold.as_nanos(),
            budget: settings.budget,
            wireguard,
            esp,
            openvpn,
        }
    }

    /// Returns the configuration of each queue's core. The queues share the budget equally.
    pub(crate) fn config(&self) -> Config {
        let mut key = [0; 16];
        // Before the kernel has random numbers, packets arrive that no attacker has aimed.
        let _ = rustix::rand::getrandom(&mut key, rustix::rand::GetRandomFlags::NONBLOCK);
        Config {
            max_hold: Duration::from_nanos(self.max_hold_ns),
            budget: self.budget / self.queues.len().max(1) as u64,
            key,
            ..Config::default()
        }
    }

    pub(crate) fn tunnels(&self) -> Tunnels {
        Tunnels { wireguard: self.wireguard, esp: self.esp, openvpn: self.openvpn }
    }
}
