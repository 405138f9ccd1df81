//! What the kernel has about connections: records of the open ones, and totals of those that have ended.
//! Without BPF programs, `absent.rs` replaces this module.

use std::io::Read as _;
use std::os::fd::AsFd as _;

use libbpf_rs::query::{MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Iter, IterOpts, MapCore as _, MapFlags, MapHandle, MapIterOpts};

use crate::loading::{STATUS, is_constants, load, open, program, refused};
use crate::totals::TOTALS_OCTETS;
use crate::{Error, Growth};

/// Name of the maps that store connections.
const CONNECTIONS: &str = "unruffled_conns";

/// Name of the maps that store the totals of connections that have ended.
const ENDED: &str = "unruffled_ended";

/// Name of the program that writes these totals, as far as the kernel keeps it.
const RELEASE: &str = "unruffled_relea";

/// Elements of these maps, as `totals.h` numbers them.
const ENDED_SLOT: u32 = 0;
const REPORTED_SLOT: u32 = 1;

/// What the kernel has about connections.
#[derive(Debug, Default)]
pub(crate) struct Dump {
    /// A part for each map with connections of this version.
    pub(crate) parts: Vec<Part>,
    /// Number of connections of other versions.
    pub(crate) others: usize,
}

/// Connections of one registration.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Records in the format of `status.bpf.c`.
    pub(crate) records: Vec<u8>,
    /// Totals in the format of `totals.h`. `None` if the map with them was not found.
    pub(crate) totals: Option<Ended>,
}

/// Totals of a registration's connections that have ended, read before its records.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Id of the map, which identifies the registration.
    pub(crate) map: u32,
    pub(crate) growth: Growth,
    pub(crate) octets: Vec<u8>,
    /// Totals that were reported last.
    pub(crate) reported: Vec<u8>,
}

/// Reads all connections in all network namespaces.
pub(crate) fn dump() -> Result<Dump, Error> {
    let maps: Vec<_> =
        MapInfoIter::default().filter(|info| info.name.to_string_lossy() == CONNECTIONS).collect();
    let mut dump = Dump::default();
    if maps.is_empty() {
        return Ok(dump);
    }
    let totals = totals_of_registrations();
    let object = open(STATUS)?;
    let own = object.maps().find(|map| map.name() == CONNECTIONS).map(|map| map.value_size());
    let object = load(object)?;
    let run = |name: &str, map: &MapHandle, output: &mut Vec<u8>| {
        let what = "the iterator over connections";
        let options = IterOpts::Map(MapIterOpts::from_fd(map.as_fd()));
        let link = program(&object, name)?.attach_iter_with_opts(options).map_err(refused(what))?;
        let mut iterator = Iter::new(&link).map_err(refused(what))?;
        iterator.read_to_end(output).map_err(Error::file(what))
    };
    for info in maps {
        // The map may have disappeared since.
        let Ok(map) = MapHandle::from_map_id(info.id) else { continue };
        if own == Some(info.value_size) {
            let totals = totals.iter().find(|(connections, ..)| *connections == info.id);
            let totals = totals.and_then(|&(_, ended, growth)| Ended::read(ended, growth));
            let mut part = Part { records: Vec::new(), totals };
            run("dump", &map, &mut part.records)?;
            dump.parts.push(part);
        } else {
            let mut others = Vec::new();
            run("count", &map, &mut others)?;
            dump.others += others.len();
        }
    }
    Ok(dump)
}

/// Returns the ids of the maps with connections and of those with the totals of the same registration, and the
/// growth.
fn totals_of_registrations() -> Vec<(u32, u32, Growth)> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs = ProgInfoIter::with_query_opts(options);
    let releases = programs.filter(|program| program.name.to_string_lossy() == RELEASE);
    releases.filter_map(|program| registration_of(&program.map_ids)).collect()
}

/// Returns the maps of a registration among those that one of its programs uses.
fn registration_of(maps: &[u32]) -> Option<(u32, u32, Growth)> {
    let (mut connections, mut ended, mut growth) = (None, None, None);
    for &id in maps {
        let Ok(map) = MapHandle::from_map_id(id) else { continue };
        match map.name().to_string_lossy().as_ref() {
            CONNECTIONS => connections = Some(id),
            ENDED if map.value_size() as usize == TOTALS_OCTETS => ended = Some(id),
            name if is_constants(name) => {
                let value = map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY).ok().flatten();
                growth = value.and_then(|value| growth_in(&value));
            }
            _ => {}
        }
    }
    Some((connections?, ended?, growth?))
}

/// Returns the growth in the constants that `object.rs` has set.
fn growth_in(constants: &[u8]) -> Option<Growth> {
    let number = u32::from_ne_bytes(constants.get(8..12)?.try_into().ok()?);
    Growth::ALL.get(number as usize).copied()
}

impl Ended {
    fn read(map: u32, growth: Growth) -> Option<Self> {
        let handle = MapHandle::from_map_id(map).ok()?;
        let slot = |number: u32| handle.lookup(&number.to_ne_bytes(), MapFlags::ANY).ok().flatten();
        Some(Self { map, growth, octets: slot(ENDED_SLOT)?, reported: slot(REPORTED_SLOT)? })
    }
}

/// Stores the totals that are reported, so that later ones are not lower.
pub(crate) fn store_reported(map: u32, octets: &[u8]) {
    // The registration may have ended since.
    let stored = MapHandle::from_map_id(map)
        .and_then(|map| map.update(&REPORTED_SLOT.to_ne_bytes(), octets, MapFlags::ANY));
    let _ = stored;
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd as _;
    use std::process::Command;

    use super::*;

    /// Records of another version have another size.
    #[test]
    fn connections_of_another_version_are_counted() {
        if let Err(refusal) = crate::requirements::check() {
            eprintln!("skipped: {refusal}");
            return;
        }
        let folder = std::env::temp_dir().join(format!("unruffled-version-{}", std::process::id()));
        fs::create_dir(&folder).expect("a new folder");
        let (source, program) = (folder.join("another.c"), folder.join("another.o"));
        let map = "struct { int (*type)[24]; int (*map_flags)[1]; int *key; long long *value; }
            unruffled_conns __attribute__((section(\".maps\"), used));";
        fs::write(&source, map).expect("a file");
        let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
        let mut clang = Command::new(clang);
        clang.args(["-g", "-target", "bpf", "-c"]).arg(&source).arg("-o").arg(&program);
        assert!(clang.status().is_ok_and(|status| status.success()));
        let object = load(open(&fs::read(&program).expect("a file")).expect("an object"));
        fs::remove_dir_all(&folder).expect("a folder of ours");
        let object = object.expect("this kernel takes it");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("it listens"));
        let stream = stream.expect("a connection");
        let map = object.maps().next().expect("the only one");
        let socket = stream.as_raw_fd().to_ne_bytes();
        map.update(&socket, &[0; 8], MapFlags::ANY).expect("the entry is stored");
        let others = dump().expect("the process is root").others;
        assert!(others >= 1, "{others}");
    }
}
