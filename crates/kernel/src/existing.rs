//! Open connections, which are switched to the congestion control and back. Without BPF programs,
//! `absent.rs` replaces this module.

use std::io::Read as _;
use std::path::PathBuf;

use libbpf_rs::{Iter, MapCore as _, Object, OpenObject};

use crate::loading::{EXISTING, is_constants, load, open, program, refused};
use crate::{Error, Growth, pins};

const WHAT: &str = "the iterator over open connections";

/// Name of the map that stores the former congestion control of each switched connection.
const FORMER: &str = "unruffled_prev";

/// Programs that switch connections.
pub(crate) struct Connections(Object);

/// Returns the pin of the former congestion controls.
fn pin() -> PathBuf {
    pins::directory().join("switched")
}

impl Connections {
    /// Loads the programs for a congestion control and for the connections of a cgroup, or of all. The former
    /// congestion controls outlive this process.
    pub(crate) fn new(growth: Growth, cgroup: Option<u64>) -> Result<Self, Error> {
        let mut object = open(EXISTING)?;
        let mut maps = object.maps_mut();
        let constants = maps.find(|map| is_constants(&map.name().to_string_lossy()));
        if let Some(value) = constants.and_then(|mut map| {
            // The two constants of existing.bpf.c.
            map.initial_value_mut().map(|value| {
                let name = growth.control().as_bytes();
                value.fill(0);
                value[..name.len()].copy_from_slice(name);
                value[16..24].copy_from_slice(&cgroup.unwrap_or_default().to_ne_bytes());
                value.len()
            })
        }) {
            debug_assert_eq!(value, 24);
        }
        drop(maps);
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

    /// Switches the open connections of this thread's network namespace, and returns their number.
    pub(crate) fn switch_over(&self) -> Result<usize, Error> {
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
