//! What arrives while nothing can leave takes no more memory the longer it goes on. Alone in its process,
//! whose memory is counted.

#[path = "it/server.rs"]
#[allow(dead_code)] // This test uses a part of it.
mod server;

use peak_alloc::PeakAlloc;
use server::Server;
use unruffled_tcp::SeqNr;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn segments_that_complete_no_handshake_leave_nothing_behind() {
    let mut server = Server::new();
    let syn_ack = server.gets("S", 5000, SeqNr(0));
    let [(_, isn, _)] = syn_ack.as_slice() else { panic!("{syn_ack:?}") };
    // Beyond the window: the connection that is made of the request is dropped again.
    let mut after = |segments: u32| {
        for _ in 0..segments {
            server.receives(".", 5_000_000, isn.add(1));
        }
        assert_eq!((server.stack.usage().connections, server.stack.usage().requests), (0, 1));
        MEMORY.current_usage()
    };
    let (octets, octets_later) = (after(10_000), after(90_000));
    assert!(octets_later < octets + 10_000, "{octets} octets, then {octets_later}");
    // Something leaves again.
    assert!(server.says().len() < 2000);
    assert_eq!(server.shakes_hands(), isn.add(1), "as to a SYN that comes again");
}
