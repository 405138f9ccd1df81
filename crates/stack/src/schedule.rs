//! The entries of a connection among the stack's timers.

use unruffled_units::Instant;

use crate::orphan::Orphan;

/// The entries of a connection among the stack's timers.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Schedule {
    /// The due time of the current entry among the stack's timers.
    armed: Option<Instant>,
    /// The deadlines of a connection that no application holds.
    orphan: Option<Orphan>,
}

impl Schedule {
    /// Makes `due` the current entry if it is earlier than that; returns whether it was.
    pub(crate) fn arm(&mut self, due: Instant) -> bool {
        let earlier = self.armed.is_none_or(|armed| due < armed);
        if earlier {
            self.armed = Some(due);
        }
        earlier
    }

    /// Removes the current entry if it is due at `due`; returns whether it was.
    pub(crate) fn disarm(&mut self, due: Instant) -> bool {
        let is_current = self.armed == Some(due);
        if is_current {
            self.armed = None;
        }
        is_current
    }

    /// Returns whether one of the connection's two timers is due at `due`.
    pub(crate) fn waits_for(&self, due: Instant) -> bool {
        self.armed == Some(due) || self.is_orphan_due(due)
    }

    /// Returns whether the connection is an orphan whose next check is due at `due`.
    pub(crate) fn is_orphan_due(&self, due: Instant) -> bool {
        self.orphan.is_some_and(|orphan| orphan.due() == due)
    }

    pub(crate) fn is_orphan(&self) -> bool {
        self.orphan.is_some()
    }

    pub(crate) fn orphan_mut(&mut self) -> Option<&mut Orphan> {
        self.orphan.as_mut()
    }

    pub(crate) fn set_orphan(&mut self, orphan: Orphan) {
        self.orphan = Some(orphan);
    }

    /// Reads a field, so that the processor loads its cache line.
    pub(crate) fn touch(&self) -> u64 {
        u64::from(self.armed.is_some() ^ self.orphan.is_some())
    }
}
