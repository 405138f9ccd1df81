//! 100 MB each way, over both versions of IP, between the kernel and a stack whose link loses, delays,
//! doubles and spoils packets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::capture::Capture;
use crate::impaired::{Impaired, Tallies, Trouble};
use crate::lab::{INTERFACE, Lab};
use unruffled_tcp::{Event, Variant};
use unruffled_wire::codec::Malformed;

/// What our engine noticed.
#[derive(Clone, Debug, Default)]
struct Noticed {
    resent: Arc<AtomicU64>,
    reordered: Arc<AtomicU64>,
    doubled: Arc<AtomicU64>,
}

impl Noticed {
    fn hear(&self, event: &Event) {
        let counter = match event {
            Event::Sent { cause: Some(_), .. } => &self.resent,
            Event::Reordered { .. } => &self.reordered,
            Event::Arrived { duplicate: true, .. } => &self.doubled,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Lets `variant` send through `trouble`.
fn through(
    trouble: Trouble,
    variant: &'static str,
    test: impl FnOnce(&Lab, &Tallies, &Noticed) + Send + 'static,
) {
    let tallies = Tallies::default();
    let counted = tallies.clone();
    Lab::behind(
        move |tun| Impaired::new(tun, trouble, &tallies, 1),
        move |config| {
            config.variant = Variant::parse(variant).unwrap();
            // As the kernel does here: what makes sense on a path of 0.1 ms.
            config.connection.rto.min = unruffled_units::Duration::from_millis(20);
            config.connection.delayed_ack = Some(unruffled_units::Duration::from_millis(5));
        },
        move |lab| {
            lab.hasten_kernel();
            let noticed = Noticed::default();
            let hearing = noticed.clone();
            let hear = move |_, _, event: &Event| hearing.hear(event);
            lab.handle().with(|stack| stack.watch(Some(Box::new(hear))));
            test(lab, &counted, &noticed);
        },
    );
}

fn a_hundred_megabytes(lab: &Lab) {
    for v6 in [false, true] {
        lab.both_directions(v6, 100);
    }
}

/// 400 MB are 290,000 segments, and at least a tenth as many acknowledgements each way.
#[track_caller]
fn assert_many(what: &str, count: u64) {
    println!("{count} {what}");
    assert!(count > 200, "only {count} {what}");
}

fn lose(share: f64, variant: &'static str) {
    let trouble = Trouble { lost: share, ..Trouble::default() };
    through(trouble, variant, |lab, tallies, noticed| {
        a_hundred_megabytes(lab);
        assert_many("of our packets lost", tallies.ours.lost.load(Ordering::Relaxed));
        assert_many("of the kernel's packets lost", tallies.kernels.lost.load(Ordering::Relaxed));
        assert_many("retransmissions of ours", noticed.resent.load(Ordering::Relaxed));
        assert_many("retransmissions of the kernel's", lab.kernel_counter("Tcp", "RetransSegs"));
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
    let trouble = Trouble { late: 0.2, lateness, ..Trouble::default() };
    through(trouble, "rr-ta", |lab, tallies, noticed| {
        a_hundred_megabytes(lab);
        assert_many("of our packets late", tallies.ours.late.load(Ordering::Relaxed));
        assert_many("of the kernel's packets late", tallies.kernels.late.load(Ordering::Relaxed));
        assert_many("reorderings of ours", noticed.reordered.load(Ordering::Relaxed));
        let kernels = lab.kernel_counter("TcpExt", "TCPSACKReorder")
            + lab.kernel_counter("TcpExt", "TCPTSReorder");
        assert_many("reorderings of the kernel's", kernels);
    });
}

const DOUBLING: Trouble =
    Trouble { doubled: 0.1, lost: 0.0, flipped: 0.0, late: 0.0, lateness: Duration::ZERO };

#[test]
fn packets_come_twice() {
    through(DOUBLING, "dsack-r", |lab, tallies, noticed| {
        a_hundred_megabytes(lab);
        assert_many("of our packets doubled", tallies.ours.doubled.load(Ordering::Relaxed));
        assert_many("of the kernel's doubled", tallies.kernels.doubled.load(Ordering::Relaxed));
        assert_many("duplicates that we noticed", noticed.doubled.load(Ordering::Relaxed));
        let told = |name| lab.kernel_counter("TcpExt", name);
        assert_many("duplicates that the kernel noticed", told("TCPDSACKOldSent"));
        assert_many("of them that it heard from us", told("TCPDSACKRecv"));
    });
}

#[test]
fn every_flipped_bit_is_found_and_the_packet_sent_again() {
    let trouble = Trouble { flipped: 0.01, ..Trouble::default() };
    through(trouble, "sack", |lab, tallies, _| {
        a_hundred_megabytes(lab);
        assert_many("of our packets spoilt", tallies.ours.flipped.load(Ordering::Relaxed));
        let kernels = lab.kernel_counter("Tcp", "InCsumErrors");
        assert_many("that the kernel found by TCP's checksum", kernels);
        let dropped = lab.close(Duration::ZERO).malformed;
        println!("dropped by us: {dropped:?}");
        // The kernel sends a few packets that are not TCP's.
        let spoilt = tallies.kernels.flipped.load(Ordering::Relaxed);
        let others = dropped.get(Malformed::Protocol);
        let found = dropped.total() - others..=dropped.total();
        assert!(found.contains(&spoilt), "{spoilt} spoilt, {dropped:?}");
        assert_many("of the kernel's packets spoilt", spoilt);
    });
}

#[test]
fn a_capture_shows_what_was_agreed_on_and_duplicates_reported_and_nothing_malformed() {
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
