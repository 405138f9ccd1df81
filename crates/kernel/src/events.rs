//! Events that wake the daemon when a network namespace was created or has ended. Without BPF programs,
//! `absent.rs` replaces this module.

use std::os::fd::{AsFd as _, BorrowedFd};

use libbpf_rs::{Link, MapCore as _, Object, RingBuffer, RingBufferBuilder};

use crate::Error;
use crate::loading::{EVENTS, load, open, program, refused};

/// Name of the buffer in `events.bpf.c`.
const BUFFER: &str = "events";

/// Source of the events.
pub(crate) struct Events {
    buffer: RingBuffer<'static>,
    _links: [Link; 2],
    object: Object,
}

impl Events {
    /// Attaches the programs. Fails on kernels where BPF programs cannot trace functions.
    pub(crate) fn new() -> Result<Self, Error> {
        let object = load(open(EVENTS)?)?;
        let link =
            |name| program(&object, name)?.attach().map_err(refused("tracing network namespaces"));
        let links = [link("created")?, link("ended")?];
        let maps: Vec<_> = object.maps().filter(|map| map.name() == BUFFER).collect();
        let mut builder = RingBufferBuilder::new();
        for map in &maps {
            builder.add(map, |_| 0).map_err(refused(BUFFER))?;
        }
        let buffer = builder.build().map_err(refused(BUFFER))?;
        drop(maps);
        Ok(Self { buffer, _links: links, object })
    }

    /// Runs `work` with a descriptor that is readable while there are events.
    pub(crate) fn with_descriptor<T>(&self, work: impl FnOnce(Option<BorrowedFd<'_>>) -> T) -> T {
        let map = self.object.maps().find(|map| map.name() == BUFFER);
        work(map.as_ref().map(|map| map.as_fd()))
    }

    /// Drops all events.
    pub(crate) fn drop_all(&self) {
        // An event that cannot be read is read by the next call.
        let _ = self.buffer.consume();
    }
}
