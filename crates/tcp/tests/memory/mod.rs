//! Connections whose octets the allocator counts. Each test that uses them must be alone in its
//! process.

use peak_alloc::PeakAlloc;
use unruffled_tcp::{Config, Connection, Flags, Segment, SeqNr, Variant};
use unruffled_units::Instant;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Octets of a segment.
pub(crate) const MSS: u32 = 1000;

/// Returns the octets allocated by the process.
pub(crate) fn allocated() -> usize {
    ALLOCATOR.current_usage()
}

/// Returns a connection that has just been established, at `now`, with an initial window of
/// `window` segments; its first sequence number; and the peer's SYN-ACK.
pub(crate) fn established(
    variant: &Variant,
    window: u32,
    now: Instant,
) -> (Connection, SeqNr, Segment) {
    let config = Config::simulated().with(|c| {
        c.mss = MSS;
        c.window.initial = window;
    });
    let mut connection = Connection::connect(config, variant);
    let syn = connection.poll_transmit(Instant::ZERO, &mut ()).expect("a SYN");
    let answer = Segment {
        seq: SeqNr(7),
        ack: syn.seq.add(1),
        flags: Flags { syn: true, ack: true, ..Flags::default() },
        window: u16::MAX,
        window_scale: Some(10),
        sack_permitted: true,
        mss: Some(MSS as u16),
        ..Segment::default()
    };
    connection.handle_segment(&answer, now, &mut ());
    while connection.poll_transmit(now, &mut ()).is_some() {}
    (connection, answer.ack, answer)
}

/// Returns an established connection, and the octets that it holds before it has sent anything.
#[allow(dead_code, reason = "not every binary measures idle connections")]
pub(crate) fn connect(variant: &Variant, segments: u32) -> (Connection, usize) {
    let before = allocated();
    let now = Instant::from_millis(10);
    let (mut connection, _, answer) = established(variant, segments, now);
    // The window of a SYN is not scaled.
    let update = Segment {
        seq: SeqNr(8),
        flags: Flags { ack: true, ..Flags::default() },
        window_scale: None,
        mss: None,
        sack_permitted: false,
        ..answer
    };
    connection.handle_segment(&update, now, &mut ());
    let octets = allocated() - before + size_of::<Connection>();
    (connection, octets)
}
