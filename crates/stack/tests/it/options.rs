//! Settings of single connections: that each takes effect on one that lasts, and no sooner or later.

use std::task::{Poll, Waker};

use crate::net::{Net, Step, octets};
use crate::server::{Server, segment};
use unruffled_stack::{ConnectionId, Limits, Options, Stack};
use unruffled_tcp::{Error, KeepAlive, Segment, SeqNr, State};
use unruffled_units::Duration;

const CLIENT: usize = 0;
const SERVER: usize = 1;

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn set(server: &mut Server, id: ConnectionId, change: impl FnOnce(&mut Options)) {
    let now = server.now;
    server.stack.set_options(id, now, change).unwrap();
}

fn write(stack: &mut Stack, id: ConnectionId, data: &[u8]) -> usize {
    match stack.poll_write(id, Waker::noop(), data) {
        Poll::Ready(written) => written.unwrap(),
        Poll::Pending => 0,
    }
}

/// Writes until nothing more is taken.
fn fill(stack: &mut Stack, id: ConnectionId) -> usize {
    let data = octets(0, 1 << 20);
    let mut total = 0;
    loop {
        match write(stack, id, &data) {
            0 => return total,
            written => total += written,
        }
    }
}

fn state(server: &Server, id: ConnectionId) -> State {
    server.stack.connection(id).unwrap().state()
}

fn error(server: &Server, id: ConnectionId) -> Option<Error> {
    server.stack.connection(id).unwrap().error()
}

/// RFC 9293, section 3.7.4, and what waited leaves when nothing is to wait any more.
#[test]
fn without_delay_what_waits_for_an_acknowledgement_leaves_at_once() {
    let mut server = Server::new();
    let (id, _) = server.serves();
    assert!(!server.stack.options(id).unwrap().nodelay);
    let lens = |sent: Vec<Segment>| sent.iter().map(|segment| segment.len).collect::<Vec<_>>();
    write(&mut server.stack, id, b"one");
    assert_eq!(lens(server.sends()), [3]);
    write(&mut server.stack, id, b"more");
    assert_eq!(lens(server.sends()), [], "it waits");
    set(&mut server, id, |options| options.nodelay = true);
    assert_eq!(lens(server.sends()), [4]);
    write(&mut server.stack, id, b"at once");
    assert_eq!(lens(server.sends()), [7]);
    set(&mut server, id, |options| options.nodelay = false);
    write(&mut server.stack, id, b"no more");
    assert_eq!(lens(server.sends()), []);
}

/// RFC 9293, section 3.8.4.
#[test]
fn a_silent_peer_is_probed_from_when_that_is_asked_for() {
    let probing = KeepAlive { idle: secs(10), interval: secs(5), count: 3 };
    let mut server = Server::new();
    let (id, next) = server.serves();
    assert_eq!(server.silence(3600), []);
    set(&mut server, id, |options| options.keepalive = Some(probing));
    assert_eq!(server.says(), []);
    let probe = (".".to_owned(), next.add(u32::MAX), SeqNr(5001));
    assert_eq!(server.silence(9), []);
    assert_eq!(server.silence(1), std::slice::from_ref(&probe));
    // An answer is enough for another 10 s.
    assert_eq!(server.gets(".", 5001, next), []);
    assert_eq!(server.silence(9), []);
    // Sooner: the silence so far counts.
    set(&mut server, id, |options| {
        options.keepalive = Some(KeepAlive { idle: secs(2), ..probing });
    });
    assert_eq!(server.says(), []);
    assert_eq!(server.silence(0), std::slice::from_ref(&probe));
    assert_eq!(server.silence(14), [probe.clone(), probe.clone()]);
    assert_eq!(error(&server, id), None);
    server.silence(1);
    assert_eq!(error(&server, id), Some(Error::TimedOut), "three without an answer");

    let mut server = Server::new();
    let (id, _) = server.serves();
    set(&mut server, id, |options| options.keepalive = Some(probing));
    assert_eq!(server.says(), []);
    assert_eq!(server.silence(10).len(), 1);
    set(&mut server, id, |options| options.keepalive = None);
    assert_eq!(server.says(), []);
    assert_eq!(server.silence(3600), []);
    assert_eq!(state(&server, id), State::Established);
}

/// RFC 9293, section 3.8.3: "closed ... if data is not successfully delivered within the timeout".
#[test]
fn what_stays_unacknowledged_for_the_user_timeout_ends_the_connection() {
    // Set before anything is sent; while it waits, to less, to more, and to what has passed already.
    let cases = [
        (None, 0, 5, 5),
        (None, 3, 5, 5),
        (Some(9), 3, 20, 20),
        (Some(4), 0, 9, 9),
        (None, 7, 5, 7),
    ];
    for (first, after, timeout, end) in cases {
        let mut server = Server::new();
        let (id, _) = server.serves();
        assert_eq!(server.stack.options(id).unwrap().user_timeout, Some(secs(300)));
        set(&mut server, id, |options| options.user_timeout = first.map(secs));
        server.silence(1000);
        write(&mut server.stack, id, b"hello?");
        assert_eq!(server.sends().len(), 1);
        server.silence(after);
        set(&mut server, id, |options| options.user_timeout = Some(secs(timeout)));
        assert_eq!(server.says(), []);
        // Whoever had no patience to lose begins to lose it now.
        let end = if first.is_none() { (after + timeout).max(end) } else { end };
        let case = format!("{first:?} s, after {after} s {timeout} s");
        server.silence(end - after - 1);
        assert_eq!(error(&server, id), None, "{case}");
        server.silence(1);
        assert_eq!(error(&server, id), Some(Error::TimedOut), "{case}");
        let read = server.stack.poll_read(id, Waker::noop(), &mut [0; 9]);
        assert_eq!(read, Poll::Ready(Err(Error::TimedOut.into())));
    }
}

/// As Linux's `TCP_USER_TIMEOUT`: a connection that no answer can save would be of no use.
#[test]
fn a_user_timeout_of_zero_is_that_of_the_stack() {
    let mut server = Server::new();
    let (id, _) = server.serves();
    for before in [None, Some(secs(5))] {
        set(&mut server, id, |options| options.user_timeout = before);
        set(&mut server, id, |options| options.user_timeout = Some(secs(0)));
        assert_eq!(server.stack.options(id).unwrap().user_timeout, Some(secs(300)));
    }
    write(&mut server.stack, id, b"hello?");
    server.sends();
    server.silence(299);
    assert_eq!(error(&server, id), None);
    server.silence(1);
    assert_eq!(error(&server, id), Some(Error::TimedOut));
}

/// The same for probes of a closed window, and a peer that answers them is not given up (RFC 9293,
/// section 3.8.6.1).
#[test]
fn the_user_timeout_holds_for_probes_of_a_closed_window() {
    for answers in [false, true] {
        let mut server = Server::new();
        let (id, next) = server.serves();
        let closed = Segment { window: 0, ..segment(".", 5001, next) };
        server.takes(&closed, &[]);
        set(&mut server, id, |options| options.user_timeout = Some(secs(5)));
        write(&mut server.stack, id, b"hello?");
        assert_eq!(server.says(), []);
        let mut probes = 0;
        for _ in 0..60 {
            let sent = server.silence(1).len();
            probes += sent;
            if answers && sent > 0 {
                server.takes(&closed, &[]);
                server.says();
            }
        }
        let ended = if answers { None } else { Some(Error::TimedOut) };
        assert_eq!(error(&server, id), ended);
        assert!(probes > 0);
    }
}

#[test]
fn a_send_buffer_has_its_size_at_once() {
    let mut net = Net::new(false, Step::default(), 1);
    let [client, server] = net.pair();
    let stack = &mut net.stacks[CLIENT];
    assert_eq!(stack.buffer_sizes(client).unwrap().send, 4 << 20);
    assert_eq!(fill(stack, client), 32 << 10, "nothing has gone through it");
    stack.set_options(client, net.now, |options| options.send_buffer = Some(1_000_000)).unwrap();
    assert_eq!(stack.buffer_sizes(client).unwrap().send, 1_000_000);
    assert_eq!(fill(stack, client), 1_000_000 - (32 << 10));
    // It holds more than it may: nothing is lost, and nothing taken until it holds less.
    stack.set_options(client, net.now, |options| options.send_buffer = Some(5000)).unwrap();
    assert_eq!(fill(stack, client), 0);
    let mut read = Vec::new();
    let mut out = vec![0; 64 << 10];
    net.run_until(secs(30), |net| {
        while let Poll::Ready(n) = net.stacks[SERVER].poll_read(server, Waker::noop(), &mut out) {
            read.extend_from_slice(&out[..n.unwrap()]);
        }
        read.len() == 1_000_000
    });
    // What was written in pieces of 256 KiB, after the first.
    let (first, rest) = read.split_at(32 << 10);
    assert!(first == octets(0, first.len()) && rest.len() == 1_000_000 - first.len());
    for piece in rest.chunks(256 << 10) {
        assert!(piece == octets(0, piece.len()));
    }
    net.run_for(secs(1));
    assert_eq!(fill(&mut net.stacks[CLIENT], client), 5000);
}

#[test]
fn a_writer_who_waits_for_room_is_woken_by_a_larger_buffer() {
    let mut net = Net::new(false, Step::default(), 1);
    let [client, _] = net.pair();
    let stack = &mut net.stacks[CLIENT];
    fill(stack, client);
    let mut woken = Vec::new();
    stack.take_wakers(&mut woken);
    woken.clear();
    stack.set_options(client, net.now, |options| options.nodelay = true).unwrap();
    stack.take_wakers(&mut woken);
    assert_eq!(woken.len(), 0);
    stack.set_options(client, net.now, |options| options.send_buffer = Some(1 << 20)).unwrap();
    stack.take_wakers(&mut woken);
    assert_eq!(woken.len(), 1);
}

#[test]
fn no_size_goes_beyond_what_memory_leaves() {
    let limits = Limits { octets: 8 << 20, ..Limits::default() };
    let mut server = Server::with(1, |config| config.limits = limits);
    let (id, _) = server.serves();
    set(&mut server, id, |options| {
        (options.send_buffer, options.receive_buffer) = (Some(usize::MAX), Some(usize::MAX));
    });
    assert_eq!(server.stack.options(id).unwrap().send_buffer, Some(8 << 20));
    let taken = fill(&mut server.stack, id);
    // A 64th of what is free, the reserve not counted.
    assert!(taken > 32 << 10 && taken <= 7 << 20 >> 6, "{taken} octets");
    assert!(server.stack.usage().octets < 1 << 20);
}

/// What a peer may send that nobody reads.
fn unread(net: &mut Net, [client, server]: [ConnectionId; 2]) -> u64 {
    net.run_for_each(secs(20), |net| {
        fill(&mut net.stacks[CLIENT], client);
    });
    net.stacks[SERVER].connection(server).unwrap().readable()
}

#[test]
fn a_receive_buffer_has_its_size_at_once_and_keeps_it() {
    let mut net = Net::new(false, Step::default(), 1);
    let ends = net.pair();
    let stack = &mut net.stacks[SERVER];
    assert_eq!(stack.buffer_sizes(ends[SERVER]).unwrap().receive, 64 << 10);
    stack.set_options(ends[SERVER], net.now, |o| o.receive_buffer = Some(1 << 20)).unwrap();
    assert_eq!(stack.buffer_sizes(ends[SERVER]).unwrap().receive, 1 << 20);
    let held = unread(&mut net, ends);
    assert!((1 << 20..=9 << 17).contains(&held), "{held}");
    // A smaller one is kept to as soon as what is held is less.
    net.stacks[SERVER]
        .set_options(ends[SERVER], net.now, |o| o.receive_buffer = Some(100_000))
        .unwrap();
    let mut out = vec![0; 64 << 10];
    let (mut read, server) = (0, ends[SERVER]);
    while read < held
        && let Poll::Ready(n) = net.stacks[SERVER].poll_read(server, Waker::noop(), &mut out)
    {
        read += n.unwrap() as u64;
    }
    let held = unread(&mut net, ends);
    assert!((90_000..=113_000).contains(&held), "{held}");
    assert_eq!(net.stacks[SERVER].counters().segments_refused, 0);
}

#[test]
fn connections_begin_with_the_settings_of_their_listener() {
    let probing = KeepAlive { idle: secs(10), interval: secs(5), count: 3 };
    let mut server = Server::new();
    let listener = server.listener;
    let wanted = Options {
        nodelay: true,
        keepalive: Some(probing),
        user_timeout: Some(secs(7)),
        send_buffer: Some(100_000),
        receive_buffer: Some(16 << 10),
        linger: Some(Duration::ZERO),
    };
    server.stack.set_listener_options(listener, |options| *options = wanted).unwrap();
    assert_eq!(server.stack.listener_options(listener), Ok(wanted));
    server.takes(&segment("S", 5000, SeqNr(0)), &[]);
    let syn_ack = server.sends()[0];
    assert_eq!(syn_ack.window, 16 << 10, "the first window");
    server.receives(".", 5001, syn_ack.seq.add(1));
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(listener, Waker::noop()) else {
        panic!("no connection")
    };
    assert_eq!(server.stack.options(id), Ok(wanted));
    assert_eq!(server.stack.buffer_sizes(id).unwrap().receive, 16 << 10);
    // Each does something.
    assert_eq!(server.silence(10).len(), 1, "a probe");
    server.receives(".", 5001, syn_ack.seq.add(1));
    assert_eq!(fill(&mut server.stack, id), 100_000);
    server.sends();
    server.silence(7);
    assert_eq!(error(&server, id), Some(Error::TimedOut));
    // Others begin as ever.
    let other = server.stack.listen("10.0.0.2:81".parse().unwrap(), 1).unwrap();
    assert_eq!(server.stack.listener_options(other).unwrap().send_buffer, None);
}

#[test]
fn a_connection_that_does_not_linger_is_reset_when_it_is_let_go() {
    for (linger, said) in [(None, "F."), (Some(Duration::ZERO), "R")] {
        let mut server = Server::new();
        let (id, next) = server.serves();
        set(&mut server, id, |options| options.linger = linger);
        server.stack.release(id);
        let sent = server.says();
        assert_eq!((sent.len(), sent[0].0.as_str(), sent[0].1), (1, said, next), "{linger:?}");
        assert_eq!(server.stack.usage().connections, usize::from(linger.is_none()));
    }
}

#[test]
fn one_that_lingers_is_reset_unless_all_is_acknowledged_by_then() {
    for acknowledged in [false, true] {
        let mut server = Server::new();
        let (id, next) = server.serves();
        set(&mut server, id, |options| options.linger = Some(secs(3)));
        write(&mut server.stack, id, b"farewell");
        server.stack.release(id);
        server.says();
        if acknowledged {
            // The text and the FIN: the peer has the time of any orphan to close.
            server.receives(".", 5001, next.add(9));
        }
        server.silence(2);
        assert_eq!(server.stack.usage().connections, 1);
        let sent = server.silence(1);
        assert_eq!(sent.iter().any(|said| said.0.contains('R')), !acknowledged, "{sent:?}");
        assert_eq!(server.stack.usage().connections, usize::from(acknowledged));
    }
}

/// Who wants no bound says so with the largest number there is.
#[test]
fn without_bounds_octets_come_through() {
    let mut server = Server::with(1, |config| {
        config.limits.octets = usize::MAX;
        config.send_buffer = usize::MAX;
    });
    let (id, next) = server.serves();
    for _ in 0..2 {
        assert_eq!(write(&mut server.stack, id, b"hello"), 5);
        assert_eq!(server.sends().len(), 1);
        set(&mut server, id, |options| {
            (options.send_buffer, options.receive_buffer) = (Some(usize::MAX), Some(usize::MAX));
            options.nodelay = true;
        });
        server.sends();
    }
    server.takes(&segment(".", 5001, next.add(10)), b"hello");
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(5)));
    assert_eq!(server.stack.buffer_sizes(id).unwrap().send, usize::MAX);
    assert!(server.stack.listener_buffer_sizes(server.listener).unwrap().send > 1 << 40);
}
