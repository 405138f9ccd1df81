//! Transfers between two stacks over a link that delays, loses and reorders packets.

use std::net::SocketAddr;
use std::task::{Poll, Waker};

use crate::net::{Impairments, Net, octets};
use unruffled_stack::{ConnectionId, Duration, Options, StackError, State};

fn waker() -> &'static Waker {
    Waker::noop()
}

const SERVER: usize = 1;
const CLIENT: usize = 0;

fn server(net: &Net) -> SocketAddr {
    SocketAddr::new(net.address(SERVER), 80)
}

/// Connects the first stack to the second; returns the two ends of the connection.
fn connected(net: &mut Net) -> (ConnectionId, ConnectionId) {
    let listener = net.stacks[SERVER].listen(server(net), 8).unwrap();
    let to = server(net);
    let client = net.connect(CLIENT, to);
    let mut accepted = None;
    net.run_until(Duration::from_secs(30), |net| {
        if let Poll::Ready(id) = net.stacks[SERVER].poll_accept(listener, waker()) {
            accepted = Some(id.unwrap());
        }
        accepted.is_some()
    });
    (client, accepted.unwrap())
}

/// Sends `total` octets from one end to the other, and checks each of them.
fn transfer(net: &mut Net, from: (usize, ConnectionId), to: (usize, ConnectionId), total: u64) {
    let mut written = 0;
    let mut read = 0;
    let mut ended = false;
    let mut buffer = vec![0; 64 << 10];
    net.run_until(Duration::from_secs(600), |net| {
        while written < total {
            let data = octets(written, buffer.len().min((total - written) as usize));
            match net.stacks[from.0].poll_write(from.1, waker(), &data) {
                Poll::Ready(n) => written += n.unwrap() as u64,
                Poll::Pending => break,
            }
            if written == total {
                net.stacks[from.0].finish(from.1);
            }
        }
        while let Poll::Ready(n) = net.stacks[to.0].poll_read(to.1, waker(), &mut buffer) {
            let n = n.unwrap();
            if n == 0 {
                ended = true;
                break;
            }
            assert!(buffer[..n] == octets(read, n), "octets {read} and following differ");
            read += n as u64;
        }
        ended
    });
    assert_eq!((read, ended), (total, true));
}

#[test]
fn ten_megabytes_cross_a_link_that_loses_and_reorders() {
    for (v6, offload) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut net = Net::new(v6, Impairments { loss: 0.01, late: 0.1 }, 7);
        net.offload = offload;
        let (client, accepted) = connected(&mut net);
        transfer(&mut net, (CLIENT, client), (SERVER, accepted), 10 << 20);
        net.stacks[SERVER].finish(accepted);
        net.release(CLIENT, client);
        net.release(SERVER, accepted);
        net.run_for(Duration::from_secs(300));
        assert_eq!(net.joined > 100, offload, "{} packets joined", net.joined);
        for stack in &net.stacks {
            assert_eq!(stack.usage().connections, 0, "all connections are removed");
            assert_eq!(stack.counters().malformed.total(), 0);
        }
    }
}

#[test]
fn both_directions_of_a_connection_carry_data() {
    let mut net = Net::new(false, Impairments { loss: 0.005, late: 0.05 }, 3);
    let (client, accepted) = connected(&mut net);
    transfer(&mut net, (CLIENT, client), (SERVER, accepted), 1 << 20);
    // The connection is half-closed; the other direction continues.
    transfer(&mut net, (SERVER, accepted), (CLIENT, client), 1 << 20);
    assert_eq!(net.stacks[SERVER].connection(accepted).unwrap().error(), None);
}

#[test]
fn a_reader_that_pauses_stops_the_writer_and_nothing_is_lost() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let (client, accepted) = connected(&mut net);
    let data = octets(0, 32 << 20);
    let mut written = 0;
    let mut read = 0;
    let mut out = vec![0; 1 << 20];
    // Buffers grow with what goes through them, so the reader pauses once early and once late.
    for (before_pause, holds) in [(0, 32 << 10..=65 << 10), (4 << 20, 6 << 20..=7 << 20)] {
        net.run_for_each(Duration::from_secs(20), |net| {
            let rest = &data[written..];
            if let Poll::Ready(n) = net.stacks[CLIENT].poll_write(client, waker(), rest) {
                written += n.unwrap();
            }
            while read < before_pause
                && let Poll::Ready(n) = net.stacks[SERVER].poll_read(accepted, waker(), &mut out)
            {
                let n = n.unwrap();
                assert!(out[..n] == data[read..read + n]);
                read += n;
            }
        });
        let held = net.stacks[SERVER].connection(accepted).unwrap().readable();
        assert!(holds.contains(&held), "the window is full and closed: {held}");
        let max = read + 2 * *holds.end() as usize + (1 << 20);
        assert!(written <= max, "{written} octets accepted from the writer");
    }
    net.run_until(Duration::from_secs(20), |net| {
        while let Poll::Ready(n) = net.stacks[SERVER].poll_read(accepted, waker(), &mut out) {
            let n = n.unwrap();
            assert!(out[..n] == data[read..read + n]);
            read += n;
        }
        read == written
    });
    assert_eq!(read, written);
}

#[test]
fn a_port_without_a_listener_refuses() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let to = server(&net);
    let client = net.connect(CLIENT, to);
    net.run_for(Duration::from_secs(1));
    let refused = net.stacks[CLIENT].poll_connected(client, waker());
    let Poll::Ready(Err(StackError::Connection(error))) = refused else { panic!("{refused:?}") };
    assert_eq!(error, unruffled_tcp::Error::Refused);
    assert_eq!(net.stacks[SERVER].counters().stray, 1);
    net.release(CLIENT, client);
    net.run_for(Duration::from_secs(1));
    assert_eq!(net.stacks[CLIENT].usage().connections, 0);
}

#[test]
fn a_full_backlog_drops_the_syn_and_lets_it_in_later() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let to = server(&net);
    let listener = net.stacks[SERVER].listen(to, 2).unwrap();
    let mut clients: Vec<_> = (0..2).map(|_| net.connect(CLIENT, to)).collect();
    net.run_for(Duration::from_millis(500));
    clients.push(net.connect(CLIENT, to));
    net.run_for(Duration::from_millis(500));
    assert_eq!(net.stacks[SERVER].counters().overflowed, 1);
    assert!(net.stacks[CLIENT].poll_connected(clients[2], waker()).is_pending());
    assert!(net.stacks[SERVER].poll_accept(listener, waker()).is_ready());
    net.run_for(Duration::from_secs(2));
    assert!(net.stacks[CLIENT].poll_connected(clients[2], waker()).is_ready());
}

#[test]
fn an_abort_resets_the_peer() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let (client, accepted) = connected(&mut net);
    net.stacks[CLIENT].abort(client);
    net.run_for(Duration::from_secs(1));
    let mut out = [0; 10];
    let read = net.stacks[SERVER].poll_read(accepted, waker(), &mut out);
    assert_eq!(read, Poll::Ready(Err(unruffled_tcp::Error::Reset.into())));
}

#[test]
fn unread_data_at_the_release_resets_the_writer() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let (client, accepted) = connected(&mut net);
    let _ = net.stacks[CLIENT].poll_write(client, waker(), b"never read");
    net.run_for(Duration::from_secs(1));
    net.release(SERVER, accepted);
    net.run_for(Duration::from_secs(1));
    assert_eq!(
        net.stacks[CLIENT].poll_acknowledged(client, waker()),
        Poll::Ready(Err(unruffled_tcp::Error::Reset.into()))
    );
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let (client, _) = connected(&mut net);
    net.cut = true;
    let _ = net.stacks[CLIENT].poll_write(client, waker(), b"hello?");
    net.run_for(Duration::from_secs(3600));
    let result = net.stacks[CLIENT].poll_acknowledged(client, waker());
    assert_eq!(result, Poll::Ready(Err(unruffled_tcp::Error::TimedOut.into())));
}

#[test]
fn an_orphan_whose_peer_never_closes_is_given_up() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let (client, accepted) = connected(&mut net);
    net.release(CLIENT, client);
    net.run_for(Duration::from_secs(30));
    assert_eq!(net.stacks[CLIENT].connection(client).unwrap().state(), State::FinWait2);
    net.run_for(Duration::from_secs(60));
    assert_eq!(net.stacks[CLIENT].usage().connections, 0);
    assert!(net.stacks[SERVER].connection(accepted).unwrap().error().is_some());
}

#[test]
fn a_thousand_connections_one_after_another_leave_nothing_behind() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let to = server(&net);
    let listener = net.stacks[SERVER].listen(to, 2).unwrap();
    for round in 0..1000 {
        let client = net.connect(CLIENT, to);
        let mut accepted = None;
        net.run_until(Duration::from_secs(9), |net| {
            if let Poll::Ready(id) = net.stacks[SERVER].poll_accept(listener, waker()) {
                accepted = Some(id.unwrap());
            }
            accepted.is_some()
        });
        let accepted = accepted.unwrap_or_else(|| panic!("round {round}"));
        transfer(&mut net, (CLIENT, client), (SERVER, accepted), 3000);
        net.release(CLIENT, client);
        net.release(SERVER, accepted);
    }
    net.run_for(Duration::from_secs(300));
    for stack in &mut net.stacks {
        assert_eq!(stack.usage().connections, 0);
        assert_eq!(stack.poll_timeout(), None);
    }
}

/// Maximum number of octets that one call copies.
const MAX_COPY: usize = 256 << 10;

#[test]
fn one_call_copies_at_most_256_kib() {
    let mut net = Net::new(false, Impairments::default(), 1);
    let [client, server] = net.pair();
    for (stack, id) in [(0, client), (1, server)] {
        let now = net.now;
        let large = |options: &mut Options| {
            options.send_buffer = Some(4 << 20);
            options.receive_buffer = Some(4 << 20);
        };
        net.stacks[stack].set_options(id, now, large).unwrap();
    }
    let data = octets(0, 4 << 20);
    let mut written = 0;
    while let Poll::Ready(n) = net.stacks[0].poll_write(client, Waker::noop(), &data[written..]) {
        let n = n.unwrap();
        assert!((1..=MAX_COPY).contains(&n), "{n} octets written by one call");
        written += n;
        if written == data.len() {
            break;
        }
    }
    assert!(written >= 2 << 20, "the buffer accepted {written}");
    // All of it waits at the other end.
    net.run_until(Duration::from_secs(60), |net| {
        net.stacks[1].info(server).unwrap().octets.unread == written as u64
    });
    let mut read = 0;
    let mut out = vec![0; 4 << 20];
    while read < written {
        let Poll::Ready(n) = net.stacks[1].poll_read(server, Waker::noop(), &mut out) else {
            panic!("everything has arrived");
        };
        let n = n.unwrap();
        assert!((1..=MAX_COPY).contains(&n), "{n} octets read by one call");
        assert_eq!(out[..n], data[read..read + n]);
        read += n;
    }
}
