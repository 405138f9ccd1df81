//! What a receiver reports of packet numbers, and what it discards.

use super::*;
use crate::SeqNr;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn receiver(change: impl FnOnce(&mut ReceiverConfig)) -> Packets {
    let mut rules = ReceiverConfig { packets: true, ..ReceiverConfig::default() };
    change(&mut rules);
    Packets::of(rules).expect("packet numbers")
}

/// Delivers packets with data. Returns those that were discarded.
fn arrive(packets: &mut Packets, numbers: impl IntoIterator<Item = u32>) -> Vec<u32> {
    numbers.into_iter().filter(|&number| !packets.arrive(number, true, at(1))).collect()
}

/// Returns the ranges of an acknowledgement, with their last numbers.
fn report(packets: &mut Packets) -> Vec<(u32, u32)> {
    let mut ranges = Vec::new();
    packets.report(SLOTS, |left, right| ranges.push((left, right - 1)));
    ranges
}

fn acknowledges(packets: &mut Packets, number: u32) {
    packets.on_acknowledged(&[SackBlock { left: SeqNr(number), right: SeqNr(number + 1) }]);
}

#[test]
fn an_acknowledgement_reports_the_newest_range_and_what_is_new() {
    let mut packets = receiver(|_| {});
    arrive(&mut packets, [1, 2, 3, 6, 7]);
    assert_eq!(report(&mut packets), [(6, 7), (1, 3)]);
    arrive(&mut packets, [10, 5]);
    // 10 is the newest range, and 5 has joined 6 and 7.
    assert_eq!(report(&mut packets), [(10, 10), (5, 7)]);
    arrive(&mut packets, [4]);
    assert_eq!(report(&mut packets), [(10, 10), (1, 7)]);
    arrive(&mut packets, [12]);
    assert_eq!(report(&mut packets), [(12, 12), (1, 7), (10, 10)], "those before are repeated");
}

#[test]
fn a_packet_out_of_order_is_told_from_one_in_order() {
    let mut packets = receiver(|_| {});
    let mut in_order = |number| {
        packets.arrive(number, true, at(1));
        packets.in_order()
    };
    assert_eq!([1, 2, 4, 5, 3, 6].map(&mut in_order), [true, true, false, true, false, true]);
}

#[test]
fn a_packet_that_has_arrived_is_discarded() {
    let mut packets = receiver(|_| {});
    assert_eq!(arrive(&mut packets, [1, 2, 2, 4, 1, 3, 3]), [2, 1, 3]);
}

#[test]
fn a_packet_more_than_the_filter_behind_the_newest_is_discarded() {
    let mut packets = receiver(|rules| rules.duplicate_filter = Some(127));
    arrive(&mut packets, [200]);
    // 200 − 127 = 73 is the oldest that passes the filter.
    assert_eq!(arrive(&mut packets, [72, 73, 199]), [72]);
    arrive(&mut packets, [201]);
    assert_eq!(arrive(&mut packets, [73, 74]), [73]);
}

#[test]
fn the_oldest_range_is_forgotten_and_its_packets_are_taken_and_not_reported() {
    let mut packets = receiver(|rules| rules.kept_ranges = Some(2));
    arrive(&mut packets, [1, 3, 5]);
    assert_eq!(report(&mut packets), [(5, 5), (3, 3)]);
    assert_eq!(arrive(&mut packets, [1]), [], "it is taken, as quic-go takes it");
    assert_eq!(report(&mut packets), [(5, 5), (3, 3)]);
}

#[test]
fn only_the_newest_ranges_are_reported_and_older_ones_when_holes_close() {
    let mut packets = receiver(|rules| rules.reported_ranges = Some(2));
    arrive(&mut packets, [10, 12, 14]);
    assert_eq!(report(&mut packets), [(14, 14), (12, 12)]);
    assert!(!packets.has_report(), "10 is the third range from the top");
    arrive(&mut packets, [13]);
    assert_eq!(report(&mut packets), [(12, 14), (10, 10)]);
}

#[test]
fn what_does_not_fit_into_an_acknowledgement_stays_due() {
    let mut packets = receiver(|_| {});
    arrive(&mut packets, [1, 3, 5, 7, 9]);
    let mut ranges = 0;
    assert!(!packets.report(SLOTS, |_, _| ranges += 1));
    assert_eq!((ranges, packets.has_report()), (4, true));
    assert!(packets.report(SLOTS, |_, _| {}));
}

/// One acknowledgement in three asks to be acknowledged. The second ping reported up to packet 9.
#[test]
fn what_is_older_than_an_acknowledged_acknowledgement_is_discarded() {
    let mut packets = receiver(|rules| rules.acknowledged_ack = Some(3));
    let ping =
        |packets: &mut Packets, number| packets.acknowledgement(Packet::new(number)).is_ping();
    arrive(&mut packets, [1, 2, 5]);
    assert_eq!([1, 2, 3].map(|n| ping(&mut packets, n)), [false, false, true]);
    arrive(&mut packets, [6, 9]);
    assert_eq!([4, 5, 6].map(|n| ping(&mut packets, n)), [false, false, true]);
    acknowledges(&mut packets, 2);
    assert_eq!(arrive(&mut packets, [3]), [], "2 did not ask");
    acknowledges(&mut packets, 3);
    assert_eq!(arrive(&mut packets, [4, 7]), [4], "3 reported up to 5");
    acknowledges(&mut packets, 6);
    assert_eq!(arrive(&mut packets, [8, 10]), [8]);
    assert_eq!(report(&mut packets).first(), Some(&(10, 10)));
}

/// As ngtcp2: the ranges that an acknowledged acknowledgement reported are gone, and late packets are not
/// discarded.
#[test]
fn what_an_acknowledged_acknowledgement_reported_may_only_be_forgotten() {
    let mut packets = receiver(|rules| {
        rules.acknowledged_ack = Some(1);
        rules.discards_acknowledged = false;
    });
    arrive(&mut packets, [1, 2, 5]);
    assert!(packets.acknowledgement(Packet::new(1)).is_ping());
    arrive(&mut packets, [6]);
    acknowledges(&mut packets, 1);
    assert_eq!(report(&mut packets), [(6, 6)], "5 and those before are forgotten");
    assert_eq!(arrive(&mut packets, [4]), [], "it is late");
    assert_eq!(report(&mut packets), [(6, 6), (4, 4)]);
}

/// 3 is an acknowledgement without data. Its successor is out of order for a stack that compares with the
/// newest packet that had to be acknowledged.
#[test]
fn order_may_count_packets_that_had_to_be_acknowledged_only() {
    for (of_answered, expected) in [(false, true), (true, false)] {
        let mut packets = receiver(|rules| rules.order_of_answered = of_answered);
        arrive(&mut packets, [1, 2]);
        packets.arrive(3, false, at(1));
        packets.arrive(4, true, at(1));
        assert_eq!(packets.in_order(), expected);
        packets.arrive(5, true, at(1));
        assert!(packets.in_order());
    }
}

#[test]
fn the_delay_counts_from_the_newest_packet() {
    let mut packets = receiver(|_| {});
    packets.arrive(5, true, at(10));
    packets.arrive(4, true, at(30));
    assert_eq!(packets.ack_delay(at(34)), Duration::from_millis(24));
}
