//! Copies of the packets that cross the path, for recordings.

use std::sync::mpsc::Sender;

use unruffled_path::Direction;
use unruffled_units::Instant;

/// Place at which a packet is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The left end: data as it leaves, acknowledgements as they arrive.
    Left,
    /// Between the leftmost link of a packet's way and the others. A way of one link has no such place.
    Between,
    /// The right end.
    Right,
}

/// A packet that passed a place.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Time since the start of the emulation.
    pub at: Instant,
    /// The place.
    pub place: Place,
    /// Direction of the packet: forward packets leave the left end, reverse ones arrive there.
    pub direction: Direction,
    /// The IP packet.
    pub packet: Box<[u8]>,
}

/// Channel for the copies. The emulator does not wait for its reader, and continues if the reader is
/// dropped.
pub type Tap = Sender<Passed>;
