//! The network namespaces of this machine, read by BPF programs: the cookie of the own one, and the list of
//! all. Without BPF programs, `absent_live.rs` replaces this module.

use libbpf_rs::{MapCore as _, MapFlags, Object, ProgramInput};

use crate::loading::{NAMESPACE, load, open, program, refused};
use crate::namespace::{Identity, Namespaces};
use crate::{Error, Growth};

/// Octets of a namespace in the map of `namespace.bpf.c`: cookie, inode, whether it is the first one, and the
/// growth of its default.
const ENTRY_OCTETS: usize = 16;

/// Programs that read the kernel's list of network namespaces.
pub(crate) struct Live(Object);

impl Live {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self(load(open(NAMESPACE)?)?))
    }

    /// Returns the cookie of this thread's namespace.
    pub(crate) fn own_cookie(&self) -> Result<u64, Error> {
        self.run("read_cookie")
    }

    /// Returns all namespaces.
    pub(crate) fn namespaces(&self) -> Result<Namespaces, Error> {
        let number = self.run("list_live")?;
        let map = self.0.maps().find(|map| map.name() == "live").ok_or_else(|| Error::Program {
            what: "the list of network namespaces".to_owned(),
            reason: "not in the object".to_owned(),
            source: None,
        })?;
        let page_entries = map.value_size() as usize / ENTRY_OCTETS;
        let mut namespaces = Namespaces::default();
        let mut left = usize::try_from(number).unwrap_or_default();
        for page in 0_u32.. {
            if left == 0 {
                break;
            }
            let octets = map.lookup(&page.to_ne_bytes(), MapFlags::ANY);
            let Some(octets) = octets.map_err(refused("the list of network namespaces"))? else {
                break;
            };
            for entry in octets.chunks_exact(ENTRY_OCTETS).take(left) {
                let cookie = u64::from_ne_bytes(entry[0..8].try_into().unwrap_or_default());
                let inode = u32::from_ne_bytes(entry[8..12].try_into().unwrap_or_default());
                let identity = Identity::new(u64::from(inode), cookie);
                if entry[12] != 0 {
                    namespaces.first = Some(identity);
                }
                let growth = usize::from(entry[13]).checked_sub(1);
                if let Some(growth) = growth.and_then(|number| Growth::ALL.get(number)) {
                    namespaces.defaults.insert(identity, *growth);
                }
                namespaces.all.push(identity);
            }
            left = left.saturating_sub(page_entries);
        }
        Ok(namespaces)
    }

    /// Runs a program, and returns the number that it writes.
    fn run(&self, name: &str) -> Result<u64, Error> {
        let mut number = [0; 8];
        let input = ProgramInput { context_in: Some(&mut number), ..ProgramInput::default() };
        let ran = program(&self.0, name)?.test_run(input);
        ran.map_err(refused("the network namespaces"))?;
        Ok(u64::from_ne_bytes(number))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::namespace;

    /// A namespace is unshared by a thread, so that no process leads to it.
    #[test]
    fn the_list_has_each_namespace_once() {
        let live = match crate::requirements::check().and_then(|()| Live::new()) {
            Ok(live) => live,
            Err(refusal) => return eprintln!("skipped: {refusal}"),
        };
        let inodes = || -> Vec<u64> {
            live.namespaces().expect("it runs").all.iter().map(|found| found.inode).collect()
        };
        let before = namespace::own().expect("this thread has one");
        let new = std::thread::scope(|scope| {
            let unshared = scope.spawn(|| {
                #[expect(deprecated, reason = "deprecated because of other flags")]
                let unshared = rustix::thread::unshare(rustix::thread::UnshareFlags::NEWNET);
                unshared.ok().map(|()| {
                    let own = namespace::own().expect("this thread has one");
                    let cookie = live.own_cookie().expect("it runs");
                    let all = live.namespaces().expect("it runs").all;
                    assert!(all.iter().any(|found| found.matches(&Identity::new(own, cookie))));
                    own
                })
            });
            unshared.join().expect("the thread does not panic")
        });
        let Some(new) = new else { return eprintln!("skipped: no new namespaces") };
        assert_ne!(new, before);
        let all = inodes();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
        assert!(all.contains(&before));
    }
}
