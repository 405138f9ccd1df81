//! The wakers of those who wait for a connection or a listener.

use std::task::Waker;

/// Adds `waker` unless the list has it already.
pub(crate) fn add_once(wakers: &mut Vec<Waker>, waker: &Waker) {
    if !wakers.iter().any(|known| known.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}

/// The wakers of those who wait for a connection. The methods that wake move wakers to a list,
/// since they are woken only after the stack has been unlocked.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Waiting {
    readers: Vec<Waker>,
    writers: Vec<Waker>,
    /// Those who wait until everything is acknowledged.
    flushers: Vec<Waker>,
    /// Whether a writer waits for memory.
    starved: bool,
    /// Whether a writer waits for the end of the handshake.
    opening: bool,
    /// Whether one of the lists may have an entry.
    any: bool,
}

impl Waiting {
    pub(crate) fn add_reader(&mut self, waker: &Waker) {
        self.any = true;
        add_once(&mut self.readers, waker);
    }

    pub(crate) fn add_writer(&mut self, waker: &Waker) {
        self.any = true;
        add_once(&mut self.writers, waker);
    }

    /// Adds an application that connects, or writes before the handshake ends.
    pub(crate) fn add_opener(&mut self, waker: &Waker) {
        self.opening = true;
        self.add_writer(waker);
    }

    pub(crate) fn add_flusher(&mut self, waker: &Waker) {
        self.any = true;
        add_once(&mut self.flushers, waker);
    }

    /// Returns whether one of the lists may have an entry.
    pub(crate) fn any(&self) -> bool {
        self.any
    }

    pub(crate) fn has_writer(&self) -> bool {
        !self.writers.is_empty()
    }

    /// Records whether the last writer found no memory.
    pub(crate) fn set_starved(&mut self, starved: bool) {
        self.starved = starved;
    }

    /// Returns whether a writer waits for memory, and only time will wake it.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved && self.has_writer()
    }

    pub(crate) fn wake_readers(&mut self, wakers: &mut Vec<Waker>) {
        wakers.append(&mut self.readers);
    }

    pub(crate) fn wake_writers(&mut self, wakers: &mut Vec<Waker>) {
        wakers.append(&mut self.writers);
    }

    pub(crate) fn wake_flushers(&mut self, wakers: &mut Vec<Waker>) {
        wakers.append(&mut self.flushers);
    }

    /// Wakes the writers if one of them waits for the end of the handshake, even where there is no
    /// memory to write into.
    pub(crate) fn wake_openers(&mut self, wakers: &mut Vec<Waker>) {
        if std::mem::take(&mut self.opening) {
            self.wake_writers(wakers);
        }
    }

    pub(crate) fn wake_all(&mut self, wakers: &mut Vec<Waker>) {
        self.wake_readers(wakers);
        self.wake_writers(wakers);
        self.wake_flushers(wakers);
    }

    /// Records whether one of the lists still has an entry.
    pub(crate) fn tidy(&mut self) {
        self.any = !self.readers.is_empty() || self.has_writer() || !self.flushers.is_empty();
    }
}
