//! 100 MB each way, over both versions of IP, between the kernel and a stack whose link loses,
//! delays, doubles and damages packets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::capture::Capture;
use crate::impaired::{Impaired, Impairments, Tallies};
use crate::lab::{INTERFACE, Lab};
use unruffled_tcp::{Event, Variant};
use unruffled_wire::codec::Malformed;

/// Counts of the engine's events.
#[derive(Clone, Debug, Default)]
struct EventCounts {
    resent: Arc<AtomicU64>,
    reordered: Arc<AtomicU64>,
    doubled: Arc<AtomicU64>,
}

impl EventCounts {
    fn count(&self, event: &Event) {
        let counter = match event {
            Event::Sent { cause: Some(_), .. } => &self.resent,
            Event::Reordered { .. } => &self.reordered,
            Event::Arrived { duplicate: true, .. } => &self.doubled,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs `test` with a stack that sends with `variant` over a link with `impairments`.
fn through(
    impairments: Impairments,
    variant: &'static str,
    test: impl FnOnce(&Lab, &Tallies, &EventCounts) + Send + 'static,
) {
    let tallies = Tallies::default();
    let counted = tallies.clone();
    Lab::behind(
        move |tun| Impaired::new(tun, impairments, &tallies, 1),
        move |config| {
            config.variant = Variant::parse(variant).unwrap();
            // As the kernel does here: times that suit a path of 0.1 ms.
            config.connection.rto.min = unruffled_wire::stack::Duration::from_millis(20);
            config.connection.delayed_ack = Some(unruffled_wire::stack::Duration::from_millis(5));
        },
        move |lab| {
            lab.hasten_kernel();
            let events = EventCounts::default();
            let counts = events.clone();
            let watcher = move |_, _, event: &Event| counts.count(event);
            lab.handle().with(|stack| stack.watch(Some(Box::new(watcher))));
            test(lab, &counted, &events);
        },
    );
}

fn a_hundred_megabytes(lab: &Lab) {
    for v6 in [false, true] {
        lab.both_directions(v6, 100);
    }
}

/// Asserts that something happened often: 400 MB are 290,000 segments, with at least a tenth as
/// many acknowledgements each way.
#[track_caller]
fn assert_many(what: &str, count: u64) {
    println!("{count} {what}");
    assert!(count > 200, "only {count} {what}");
}

fn lose(share: f64, variant: &'static str) {
    let impairments = Impairments { lost: share, ..Impairments::default() };
    through(impairments, variant, |lab, tallies, events| {
        a_hundred_megabytes(lab);
        assert_many("packets of the stack lost", tallies.ours.lost.load(Ordering::Relaxed));
        assert_many("packets of the kernel lost", tallies.kernels.lost.load(Ordering::Relaxed));
        assert_many("retransmissions of the stack", events.resent.load(Ordering::Relaxed));
        assert_many("retransmissions of the kernel", lab.kernel_counter("Tcp", "RetransSegs"));
    });
}

#[test]
fn one_packet_in_a_hundred_is_lost() {
    lose(0.01, "rack");
}

#[test]
fn one_packet_in_twenty_is_lost() {
    lose(0.05, "rack+cubic");
}

#[test]
fn packets_overtake_each_other() {
    let lateness = Duration::from_millis(1);
    let impairments = Impairments { late: 0.2, lateness, ..Impairments::default() };
    through(impairments, "rr-ta", |lab, tallies, events| {
        a_hundred_megabytes(lab);
        assert_many("packets of the stack late", tallies.ours.late.load(Ordering::Relaxed));
        assert_many("packets of the kernel late", tallies.kernels.late.load(Ordering::Relaxed));
        assert_many("reorderings that the stack noticed", events.reordered.load(Ordering::Relaxed));
        let kernels = lab.kernel_counter("TcpExt", "TCPSACKReorder")
            + lab.kernel_counter("TcpExt", "TCPTSReorder");
        assert_many("reorderings that the kernel noticed", kernels);
    });
}

const DOUBLING: Impairments =
    Impairments { doubled: 0.1, lost: 0.0, flipped: 0.0, late: 0.0, lateness: Duration::ZERO };

#[test]
fn packets_arrive_twice() {
    through(DOUBLING, "dsack-r", |lab, tallies, events| {
        a_hundred_megabytes(lab);
        assert_many("packets of the stack doubled", tallies.ours.doubled.load(Ordering::Relaxed));
        assert_many(
            "packets of the kernel doubled",
            tallies.kernels.doubled.load(Ordering::Relaxed),
        );
        assert_many("duplicates that the stack noticed", events.doubled.load(Ordering::Relaxed));
        let counter = |name| lab.kernel_counter("TcpExt", name);
        assert_many("duplicates that the kernel noticed", counter("TCPDSACKOldSent"));
        assert_many("duplicates that the stack reported to the kernel", counter("TCPDSACKRecv"));
    });
}

#[test]
fn every_packet_with_an_inverted_bit_is_dropped_and_sent_again() {
    let impairments = Impairments { flipped: 0.01, ..Impairments::default() };
    through(impairments, "sack", |lab, tallies, _| {
        a_hundred_megabytes(lab);
        assert_many("packets of the stack damaged", tallies.ours.flipped.load(Ordering::Relaxed));
        let kernels = lab.kernel_counter("Tcp", "InCsumErrors");
        assert_many("packets that the kernel dropped by TCP's checksum", kernels);
        let dropped = lab.close(Duration::ZERO).malformed;
        println!("dropped by the stack: {dropped:?}");
        // The kernel also sends a few packets that are not TCP.
        let damaged = tallies.kernels.flipped.load(Ordering::Relaxed);
        let others = dropped.get(Malformed::Protocol);
        let found = dropped.total() - others..=dropped.total();
        assert!(found.contains(&damaged), "{damaged} damaged, {dropped:?}");
        assert_many("packets of the kernel damaged", damaged);
    });
}

#[test]
fn a_capture_shows_negotiated_options_reported_duplicates_and_no_malformed_packet() {
    through(DOUBLING, "dsack-r", |lab, _, _| {
        let capture = Capture::start("doubled", INTERFACE);
        for v6 in [false, true] {
            lab.both_directions(v6, 4);
        }
        let Some(captured) = capture.stop() else { return };
        captured.assert_clean();
        let options = "tcp.options.sack_perm && tcp.options.timestamp && tcp.options.wscale";
        assert_eq!(captured.count(&format!("tcp.flags.syn == 1 && !({options})")), 0);
        for v6 in [false, true] {
            let ip = if v6 { "ipv6" } else { "ip" };
            for from in [lab.kernel(v6), lab.ours(v6)] {
                let count = |what: &str| captured.count(&format!("{ip}.src == {from} && {what}"));
                assert!(count("tcp.flags.syn == 1 && tcp.flags.ack == 0") > 0, "SYN of {from}");
                assert!(count("tcp.flags.syn == 1 && tcp.flags.ack == 1") > 0, "answer of {from}");
                let reported = count("tcp.options.sack.dsack_le");
                println!("{reported} duplicates reported by {from}");
                assert!(reported > 50, "{reported} duplicates reported by {from}");
            }
        }
    });
}
