//! Copies of the packets that cross the path, for whoever records them.

use std::sync::mpsc::Sender;

use unruffled_path::Direction;
use unruffled_units::Instant;

/// Where a packet is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the left end: data as it leaves there, acknowledgements as they arrive.
    Left,
    /// Behind the first link from the left, before the others; not on a path of one link.
    Between,
    /// At the right end.
    Right,
}

/// A packet as it was seen at a place.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Since the start of the emulation.
    pub at: Instant,
    /// Where.
    pub place: Place,
    /// Forward packets leave the left end, reverse ones arrive there.
    pub direction: Direction,
    /// The IP packet.
    pub packet: Box<[u8]>,
}

/// Where copies go. The emulator waits for no reader, and goes on without one.
pub type Tap = Sender<Passed>;
