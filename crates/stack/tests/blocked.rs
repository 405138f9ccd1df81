//! Segments that arrive while nothing can leave take a bounded amount of memory. The test is alone
//! in its process, whose memory it counts.

#[path = "it/server.rs"]
mod server;

use peak_alloc::PeakAlloc;
use server::Server;
use unruffled_tcp::SeqNr;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn segments_that_complete_no_handshake_leave_nothing_behind() {
    let mut server = Server::new();
    let syn_ack = server.answers("S", 5000, SeqNr(0));
    let [(_, isn, _)] = syn_ack.as_slice() else { panic!("{syn_ack:?}") };
    // The number lies beyond the window, so the connection made from the request is dropped again.
    let mut after = |segments: u32| {
        for _ in 0..segments {
            server.receive(".", 5_000_000, isn.add(1));
        }
        assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 1));
        MEMORY.current_usage()
    };
    let (octets, octets_later) = (after(10_000), after(90_000));
    assert!(octets_later < octets + 10_000, "{octets} octets, then {octets_later}");
    // Packets can be sent again.
    assert!(server.sent().len() < 2000);
    assert_eq!(server.handshake(), isn.add(1), "the answer to a repeated SYN");
}
