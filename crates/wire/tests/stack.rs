//! A stack with one peer, as packet traces: what it answers, and what it keeps.

mod server;

use server::Server;
use unruffled_tcp::{Connection, SeqNr, State};

/// RFC 9293, section 3.10.7.4: "If the connection was initiated with a passive OPEN, then return this
/// connection to the LISTEN state". In a stack it is the listener that is in LISTEN: the attempt must
/// not keep its place in the backlog.
#[test]
fn an_attempt_that_is_reset_leaves_the_backlog() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 100, SeqNr(0)).len(), 1);
    assert_eq!(server.gets("R", 101, SeqNr(0)), []);
    assert_eq!((server.stack.connections(), server.stack.requests()), (0, 0));
    server.serves();
}

#[test]
fn so_does_one_that_another_syn_ends() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 100, SeqNr(0)).len(), 1);
    assert_eq!(server.gets("S", 101, SeqNr(0)), []);
    assert_eq!((server.stack.connections(), server.stack.requests()), (0, 0));
    server.serves();
}

/// What comes for an attempt that has failed, before it is cleared away, makes no more room.
#[test]
fn an_attempt_leaves_the_backlog_once() {
    let mut server = Server::new();
    assert_eq!(server.gets("S", 100, SeqNr(0)).len(), 1);
    server.receives("R", 101, SeqNr(0));
    server.receives("R", 101, SeqNr(0));
    assert_eq!(server.says(), []);
    server.serves();
}

/// In FIN-WAIT-2 nothing is sent and no timer of the engine's runs. Whoever lets go of the connection
/// only then must not leave it there for ever.
#[test]
fn a_connection_released_in_fin_wait_2_waits_for_the_peer_a_minute_and_no_longer() {
    let mut server = Server::new();
    let (id, next) = server.serves();
    server.stack.finish(id);
    assert_eq!(server.says(), [("F.".to_owned(), next, SeqNr(5001))]);
    assert_eq!(server.gets(".", 5001, next.add(1)), []);
    assert_eq!(server.stack.connection(id).map(Connection::state), Some(State::FinWait2));
    server.stack.release(id);
    server.says();
    server.silence(59);
    assert_eq!(server.stack.connections(), 1);
    server.silence(1);
    assert_eq!((server.stack.connections(), server.stack.poll_timeout()), (0, None));
}
