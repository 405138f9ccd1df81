//! Options of single connections: each takes effect at once on an open connection.

use std::task::{Poll, Waker};

use crate::net::{Impairments, Net, octets};
use crate::server::{Server, segment};
use unruffled_stack::{ConnectionId, Duration, Error, KeepAlive, Limits, Options, Stack, State};
use unruffled_tcp::{Segment, SeqNr};

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

/// Writes until nothing more is accepted; returns the octets accepted.
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

/// RFC 9293, section 3.7.4. Setting the option releases data that waits.
#[test]
fn with_nodelay_small_segments_are_sent_at_once() {
    let mut server = Server::new();
    let (id, _) = server.accept();
    assert!(!server.stack.options(id).unwrap().nodelay);
    let lens = |sent: Vec<Segment>| sent.iter().map(|segment| segment.len).collect::<Vec<_>>();
    write(&mut server.stack, id, b"one");
    assert_eq!(lens(server.sent_segments()), [3]);
    write(&mut server.stack, id, b"more");
    assert_eq!(lens(server.sent_segments()), [], "it waits for an acknowledgement");
    set(&mut server, id, |options| options.nodelay = true);
    assert_eq!(lens(server.sent_segments()), [4]);
    write(&mut server.stack, id, b"at once");
    assert_eq!(lens(server.sent_segments()), [7]);
    set(&mut server, id, |options| options.nodelay = false);
    write(&mut server.stack, id, b"no more");
    assert_eq!(lens(server.sent_segments()), []);
}

/// RFC 9293, section 3.8.4.
#[test]
fn a_silent_peer_is_probed_while_the_option_is_set() {
    let probing = KeepAlive { idle: secs(10), interval: secs(5), count: 3 };
    let mut server = Server::new();
    let (id, next) = server.accept();
    assert_eq!(server.wait(3600), []);
    set(&mut server, id, |options| options.keepalive = Some(probing));
    assert_eq!(server.sent(), []);
    let probe = (".".to_owned(), next.add(u32::MAX), SeqNr(5001));
    assert_eq!(server.wait(9), []);
    assert_eq!(server.wait(1), std::slice::from_ref(&probe));
    // After an answer, the next probe follows 10 s later.
    assert_eq!(server.answers(".", 5001, next), []);
    assert_eq!(server.wait(9), []);
    // With a shorter time, the silence so far counts.
    set(&mut server, id, |options| {
        options.keepalive = Some(KeepAlive { idle: secs(2), ..probing });
    });
    assert_eq!(server.sent(), []);
    assert_eq!(server.wait(0), std::slice::from_ref(&probe));
    assert_eq!(server.wait(14), [probe.clone(), probe.clone()]);
    assert_eq!(error(&server, id), None);
    server.wait(1);
    assert_eq!(error(&server, id), Some(Error::TimedOut), "three probes without an answer");

    let mut server = Server::new();
    let (id, _) = server.accept();
    set(&mut server, id, |options| options.keepalive = Some(probing));
    assert_eq!(server.sent(), []);
    assert_eq!(server.wait(10).len(), 1);
    set(&mut server, id, |options| options.keepalive = None);
    assert_eq!(server.sent(), []);
    assert_eq!(server.wait(3600), []);
    assert_eq!(state(&server, id), State::Established);
}

/// RFC 9293, section 3.8.3: "closed ... if data is not successfully delivered within the timeout".
#[test]
fn a_connection_ends_when_data_stays_unacknowledged_for_the_user_timeout() {
    // The option is changed before data is sent or while it is unacknowledged: to a shorter time, to
    // a longer one, and to less than has already passed. The columns are seconds: the first timeout,
    // the time from the data to the change, the new timeout, and the time from the data to the end.
    let cases = [
        (None, 0, 5, 5),
        (None, 3, 5, 5),
        (Some(9), 3, 20, 20),
        (Some(4), 0, 9, 9),
        (None, 7, 5, 7),
    ];
    for (first, after, timeout, end) in cases {
        let mut server = Server::new();
        let (id, _) = server.accept();
        assert_eq!(server.stack.options(id).unwrap().user_timeout, Some(secs(300)));
        set(&mut server, id, |options| options.user_timeout = first.map(secs));
        server.wait(1000);
        write(&mut server.stack, id, b"hello?");
        assert_eq!(server.sent_segments().len(), 1);
        server.wait(after);
        set(&mut server, id, |options| options.user_timeout = Some(secs(timeout)));
        assert_eq!(server.sent(), []);
        // If no timeout was set before, the time counts from the change.
        let end = if first.is_none() { (after + timeout).max(end) } else { end };
        let case = format!("{first:?} s, after {after} s {timeout} s");
        server.wait(end - after - 1);
        assert_eq!(error(&server, id), None, "{case}");
        server.wait(1);
        assert_eq!(error(&server, id), Some(Error::TimedOut), "{case}");
        let read = server.stack.poll_read(id, Waker::noop(), &mut [0; 9]);
        assert_eq!(read, Poll::Ready(Err(Error::TimedOut.into())));
    }
}

/// As with Linux's `TCP_USER_TIMEOUT`.
#[test]
fn a_user_timeout_of_zero_restores_the_default_of_the_stack() {
    let mut server = Server::new();
    let (id, _) = server.accept();
    for before in [None, Some(secs(5))] {
        set(&mut server, id, |options| options.user_timeout = before);
        set(&mut server, id, |options| options.user_timeout = Some(secs(0)));
        assert_eq!(server.stack.options(id).unwrap().user_timeout, Some(secs(300)));
    }
    write(&mut server.stack, id, b"hello?");
    server.sent_segments();
    server.wait(299);
    assert_eq!(error(&server, id), None);
    server.wait(1);
    assert_eq!(error(&server, id), Some(Error::TimedOut));
}

/// A peer that answers the probes keeps the connection (RFC 9293, section 3.8.6.1).
#[test]
fn the_user_timeout_applies_to_probes_of_a_closed_window() {
    for answers in [false, true] {
        let mut server = Server::new();
        let (id, next) = server.accept();
        let closed = Segment { window: 0, ..segment(".", 5001, next) };
        server.receive_segment(&closed, &[]);
        set(&mut server, id, |options| options.user_timeout = Some(secs(5)));
        write(&mut server.stack, id, b"hello?");
        assert_eq!(server.sent(), []);
        let mut probes = 0;
        for _ in 0..60 {
            let sent = server.wait(1).len();
            probes += sent;
            if answers && sent > 0 {
                server.receive_segment(&closed, &[]);
                server.sent();
            }
        }
        let ended = if answers { None } else { Some(Error::TimedOut) };
        assert_eq!(error(&server, id), ended);
        assert!(probes > 0);
    }
}

#[test]
fn a_send_buffer_size_takes_effect_at_once() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let [client, server] = net.pair();
    let stack = &mut net.stacks[CLIENT];
    assert_eq!(stack.buffer_sizes(client).unwrap().send, 4 << 20);
    assert_eq!(fill(stack, client), 32 << 10, "before any data has passed through it");
    stack.set_options(client, net.now, |options| options.send_buffer = Some(1_000_000)).unwrap();
    assert_eq!(stack.buffer_sizes(client).unwrap().send, 1_000_000);
    assert_eq!(fill(stack, client), 1_000_000 - (32 << 10));
    // The buffer holds more than its new size: nothing is lost, and nothing is accepted until it
    // holds less.
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
    // After the first 32 KiB, the data was written in pieces of 256 KiB.
    let (first, rest) = read.split_at(32 << 10);
    assert!(first == octets(0, first.len()) && rest.len() == 1_000_000 - first.len());
    for piece in rest.chunks(256 << 10) {
        assert!(piece == octets(0, piece.len()));
    }
    net.run_for(secs(1));
    assert_eq!(fill(&mut net.stacks[CLIENT], client), 5000);
}

#[test]
fn a_larger_buffer_wakes_a_writer_that_waits_for_room() {
    let mut net = Net::new(false, Impairments::default(), 1);
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
fn no_buffer_size_exceeds_the_share_of_memory() {
    let limits = Limits { octets: 8 << 20, ..Limits::default() };
    let mut server = Server::with(1, |config| config.limits = limits);
    let (id, _) = server.accept();
    set(&mut server, id, |options| {
        options.send_buffer = Some(usize::MAX);
        options.receive_buffer = Some(usize::MAX);
    });
    assert_eq!(server.stack.options(id).unwrap().send_buffer, Some(8 << 20));
    let accepted = fill(&mut server.stack, id);
    // A 64th of the memory that is free outside the reserve.
    assert!(accepted > 32 << 10 && accepted <= 7 << 20 >> 6, "{accepted} octets");
    assert!(server.stack.usage().octets < 1 << 20);
}

/// Returns the octets that arrive while the application reads none.
fn unread(net: &mut Net, [client, server]: [ConnectionId; 2]) -> u64 {
    net.run_for_each(secs(20), |net| {
        fill(&mut net.stacks[CLIENT], client);
    });
    net.stacks[SERVER].connection(server).unwrap().readable()
}

#[test]
fn a_receive_buffer_size_takes_effect_at_once_and_stays() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let ends = net.pair();
    let stack = &mut net.stacks[SERVER];
    assert_eq!(stack.buffer_sizes(ends[SERVER]).unwrap().receive, 64 << 10);
    stack.set_options(ends[SERVER], net.now, |o| o.receive_buffer = Some(1 << 20)).unwrap();
    assert_eq!(stack.buffer_sizes(ends[SERVER]).unwrap().receive, 1 << 20);
    let held = unread(&mut net, ends);
    assert!((1 << 20..=9 << 17).contains(&held), "{held}");
    // A smaller size takes effect once the buffer holds less.
    net.stacks[SERVER]
        .set_options(ends[SERVER], net.now, |o| o.receive_buffer = Some(100_000))
        .unwrap();
    let mut out = vec![0; 64 << 10];
    let mut read = 0;
    let server = ends[SERVER];
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
fn connections_start_with_the_settings_of_their_listener() {
    let probing = KeepAlive { idle: secs(10), interval: secs(5), count: 3 };
    let mut server = Server::new();
    let listener = server.listener;
    let settings = Options {
        nodelay: true,
        keepalive: Some(probing),
        user_timeout: Some(secs(7)),
        send_buffer: Some(100_000),
        receive_buffer: Some(16 << 10),
        linger: Some(Duration::ZERO),
    };
    server.stack.set_listener_options(listener, |options| *options = settings).unwrap();
    assert_eq!(server.stack.listener_options(listener), Ok(settings));
    server.receive_segment(&segment("S", 5000, SeqNr(0)), &[]);
    let syn_ack = server.sent_segments()[0];
    assert_eq!(syn_ack.window, 16 << 10, "the first window");
    server.receive(".", 5001, syn_ack.seq.add(1));
    let Poll::Ready(Ok(id)) = server.stack.poll_accept(listener, Waker::noop()) else {
        panic!("no connection")
    };
    assert_eq!(server.stack.options(id), Ok(settings));
    assert_eq!(server.stack.buffer_sizes(id).unwrap().receive, 16 << 10);
    // Each setting has an effect.
    assert_eq!(server.wait(10).len(), 1, "a probe");
    server.receive(".", 5001, syn_ack.seq.add(1));
    assert_eq!(fill(&mut server.stack, id), 100_000);
    server.sent_segments();
    server.wait(7);
    assert_eq!(error(&server, id), Some(Error::TimedOut));
    // Another listener has the defaults.
    let other = server.stack.listen("10.0.0.2:81".parse().unwrap(), 1).unwrap();
    assert_eq!(server.stack.listener_options(other).unwrap().send_buffer, None);
}

#[test]
fn a_released_connection_with_a_linger_time_of_zero_is_reset() {
    for (linger, letters) in [(None, "F."), (Some(Duration::ZERO), "R")] {
        let mut server = Server::new();
        let (id, next) = server.accept();
        set(&mut server, id, |options| options.linger = linger);
        server.stack.release(id);
        let sent = server.sent();
        assert_eq!((sent.len(), sent[0].0.as_str(), sent[0].1), (1, letters, next), "{linger:?}");
        assert_eq!(server.stack.usage().connections, usize::from(linger.is_none()));
    }
}

#[test]
fn a_lingering_connection_is_reset_unless_everything_is_acknowledged_in_time() {
    for acknowledged in [false, true] {
        let mut server = Server::new();
        let (id, next) = server.accept();
        set(&mut server, id, |options| options.linger = Some(secs(3)));
        write(&mut server.stack, id, b"farewell");
        server.stack.release(id);
        server.sent();
        if acknowledged {
            // Data and FIN are acknowledged, so only the timeout of orphaned connections remains.
            server.receive(".", 5001, next.add(9));
        }
        server.wait(2);
        assert_eq!(server.stack.usage().connections, 1);
        let sent = server.wait(1);
        assert_eq!(sent.iter().any(|sent| sent.0.contains('R')), !acknowledged, "{sent:?}");
        assert_eq!(server.stack.usage().connections, usize::from(acknowledged));
    }
}

/// `usize::MAX` means that there is no bound.
#[test]
fn a_stack_without_bounds_carries_data() {
    let mut server = Server::with(1, |config| {
        config.limits.octets = usize::MAX;
        config.send_buffer = usize::MAX;
    });
    let (id, next) = server.accept();
    for _ in 0..2 {
        assert_eq!(write(&mut server.stack, id, b"hello"), 5);
        assert_eq!(server.sent_segments().len(), 1);
        set(&mut server, id, |options| {
            options.send_buffer = Some(usize::MAX);
            options.receive_buffer = Some(usize::MAX);
            options.nodelay = true;
        });
        server.sent_segments();
    }
    server.receive_segment(&segment(".", 5001, next.add(10)), b"hello");
    let mut out = [0; 9];
    assert_eq!(server.stack.poll_read(id, Waker::noop(), &mut out), Poll::Ready(Ok(5)));
    assert_eq!(server.stack.buffer_sizes(id).unwrap().send, usize::MAX);
    assert!(server.stack.listener_buffer_sizes(server.listener).unwrap().send > 1 << 40);
}
