//! Open connections, which are switched to the congestion control and back. Without BPF programs,
//! `absent.rs` replaces this module.

use std::io::Read as _;
use std::path::PathBuf;

use libbpf_rs::{Iter, MapCore as _, MapFlags, Object, OpenObject};

use crate::loading::{EXISTING, is_constants, load, open, program, refused};
use crate::{Error, Growth, pins};

const WHAT: &str = "the iterator over open connections";

/// Name of the map that stores the former congestion control of each switched connection.
const FORMER: &str = "unruffled_prev";

/// Octets of a congestion control's name, with its end.
const NAME_OCTETS: usize = 16;

/// Programs that switch connections.
pub(crate) struct Connections(Object);

/// Returns the pin of the former congestion controls.
fn pin() -> PathBuf {
    pins::directory().join("switched")
}

/// Returns a name as the kernel stores it.
fn padded(name: &str) -> [u8; NAME_OCTETS] {
    let mut padded = [0; NAME_OCTETS];
    let length = name.len().min(NAME_OCTETS - 1);
    padded[..length].copy_from_slice(&name.as_bytes()[..length]);
    padded
}

impl Connections {
    /// Loads the programs for a congestion control and for the connections of a cgroup, or of all. The former
    /// congestion controls outlive this process.
    pub(crate) fn new(growth: Growth, cgroup: Option<u64>) -> Result<Self, Error> {
        let mut object = open(EXISTING)?;
        for mut map in object.maps_mut() {
            let is_constants = is_constants(&map.name().to_string_lossy());
            // The two constants of existing.bpf.c.
            if is_constants && let Some(value) = map.initial_value_mut() {
                value[..NAME_OCTETS].copy_from_slice(&padded(growth.control()));
                let cgroup = cgroup.unwrap_or_default();
                value[NAME_OCTETS..][..8].copy_from_slice(&cgroup.to_ne_bytes());
            }
        }
        Self::with_pin(object)
    }

    /// Returns the programs if connections were switched earlier.
    pub(crate) fn earlier() -> Result<Option<Self>, Error> {
        if pin().exists() { Self::with_pin(open(EXISTING)?).map(Some) } else { Ok(None) }
    }

    fn with_pin(mut object: OpenObject) -> Result<Self, Error> {
        let pin = pin();
        let is_pinned = pin.exists();
        for mut map in object.maps_mut().filter(|map| map.name() == FORMER) {
            if is_pinned {
                map.reuse_pinned_map(&pin).map_err(refused(pin.to_string_lossy()))?;
            }
        }
        let mut object = load(object)?;
        for mut map in object.maps_mut().filter(|map| map.name() == FORMER) {
            if !is_pinned {
                map.pin(&pin).map_err(refused(pin.to_string_lossy()))?;
            }
        }
        Ok(Self(object))
    }

    /// Switches the open connections of this thread's network namespace, and returns their number. Its default
    /// was `former_default` before it was attached.
    pub(crate) fn switch_over(&self, former_default: &str) -> Result<usize, Error> {
        for map in self.0.maps().filter(|map| map.name().to_string_lossy().ends_with(".data")) {
            let name = padded(former_default);
            map.update(&0_u32.to_ne_bytes(), &name, MapFlags::ANY).map_err(refused(WHAT))?;
        }
        self.run("switch_over")
    }

    /// Switches connections of this thread's network namespace back, and returns their number.
    pub(crate) fn switch_back(&self) -> Result<usize, Error> {
        self.run("switch_back")
    }

    /// Runs a program on each socket, and returns the number of octets that it writes.
    fn run(&self, name: &str) -> Result<usize, Error> {
        let link = program(&self.0, name)?.attach().map_err(refused(WHAT))?;
        let mut iterator = Iter::new(&link).map_err(refused(WHAT))?;
        let mut octets = Vec::new();
        iterator.read_to_end(&mut octets).map_err(Error::file(WHAT))?;
        Ok(octets.len())
    }
}
