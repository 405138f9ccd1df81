//! Copies of the packets that cross the path, for whoever records them.

use std::sync::mpsc::Sender;

use unruffled_path::Direction;
use unruffled_units::Instant;

/// A packet as the left end saw it: when it left there, or when it arrived.
#[derive(Clone, Debug)]
pub struct Passed {
    /// Since the start of the emulation.
    pub at: Instant,
    /// Forward packets leave the left end, reverse ones arrive there.
    pub direction: Direction,
    /// The IP packet.
    pub packet: Box<[u8]>,
}

/// Where copies go. The emulator waits for no reader, and goes on without one.
pub type Tap = Sender<Passed>;
