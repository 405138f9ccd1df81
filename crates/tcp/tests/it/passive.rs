//! Operations of a driver without a connection agree with those of a connection.

use unruffled_tcp::{
    Config, Connection, Flags, IpVersion, Segment, SeqNr, State, Timestamps, Variant, Verdict,
    syn_ack,
};
use unruffled_units::{Duration, Instant};

const ACK: Flags = Flags { syn: false, ack: true, fin: false, rst: false, psh: false };

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn stamp(value: u32) -> Option<Timestamps> {
    Some(Timestamps { value, echo: 0 })
}

fn syn(timestamps: Option<Timestamps>, window_scale: Option<u8>, sack: bool) -> Segment {
    Segment {
        seq: SeqNr(u32::MAX),
        flags: Flags { syn: true, ..Flags::default() },
        window: 5000,
        mss: Some(1200),
        window_scale,
        sack_permitted: sack,
        timestamps,
        ..Segment::default()
    }
}

fn config() -> Config {
    Config::wire(IpVersion::V4).with(|c| {
        c.isn = 77;
        c.timestamps.offset = 5;
    })
}

#[test]
fn the_syn_ack_equals_that_of_a_connection() {
    for variant in ["sack", "rr-ta", "newreno", "eifel"].iter().filter_map(|v| Variant::named(v)) {
        for config in [config(), config().with(|c| c.timestamps.offer = false)] {
            for syn in [syn(None, None, false), syn(stamp(9), Some(3), true)] {
                let mut connection = Connection::listen(config.clone(), &variant);
                connection.handle_segment(&syn, ms(1000), &mut ());
                let sent = connection.poll_transmit(ms(1000), &mut ());
                assert_eq!(sent, Some(syn_ack(&config, &variant, &syn, ms(1000))));
            }
        }
    }
}

#[test]
fn the_acknowledgement_makes_the_connection_and_gives_the_round_trip_time() {
    let variant = Variant::sack();
    let syn = syn(stamp(9), Some(3), true);
    let ack = Segment {
        seq: SeqNr(0),
        ack: SeqNr(78),
        flags: ACK,
        window: 100,
        timestamps: stamp(10),
        ..Segment::default()
    };
    for (answered, retries) in [(Some(ms(1000)), 0), (None, 1), (None, 0)] {
        let mut accepted =
            Connection::accept(config(), &variant, &syn, answered, retries, ms(1030));
        assert_eq!(accepted.poll_transmit(ms(1030), &mut ()), None, "the SYN-ACK was sent");
        accepted.handle_segment(&ack, ms(1030), &mut ());
        assert_eq!(accepted.state(), State::Established);
        assert_eq!(accepted.srtt(), answered.map(|_| Duration::from_millis(30)));
        assert_eq!(accepted.max_payload(), 1188);
    }
}

/// Returns the end that closed first, in TIME-WAIT since 1100 ms.
fn waiting() -> Connection {
    waiting_after(config(), stamp(9))
}

/// Returns the same after a SYN with these timestamps.
fn waiting_after(config: Config, stamps: Option<Timestamps>) -> Connection {
    let variant = Variant::sack();
    let mut c = Connection::accept(config, &variant, &syn(stamps, None, true), None, 0, ms(1000));
    let segment = |fin, ack| Segment {
        seq: SeqNr(0),
        ack: SeqNr(ack),
        flags: Flags { fin, ..ACK },
        window: 100,
        timestamps: stamp(10),
        ..Segment::default()
    };
    c.handle_segment(&segment(false, 78), ms(1000), &mut ());
    c.finish();
    assert!(c.poll_transmit(ms(1000), &mut ()).is_some_and(|s| s.flags.fin));
    c.handle_segment(&segment(true, 79), ms(1100), &mut ());
    assert!(c.poll_transmit(ms(1100), &mut ()).is_some());
    assert_eq!(c.state(), State::TimeWait);
    c
}

#[test]
fn time_wait_answers_an_old_fin_and_restarts() {
    let mut kept = waiting().time_wait().expect("TIME-WAIT");
    assert_eq!(kept.until(), ms(1100) + Duration::from_secs(240));
    let fin = Segment {
        seq: SeqNr(0),
        ack: SeqNr(79),
        flags: Flags { fin: true, ..ACK },
        timestamps: stamp(10),
        ..Segment::default()
    };
    let Verdict::Answer(answer) = kept.handle_segment(&fin, ms(2000)) else { panic!() };
    assert_eq!((answer.seq, answer.ack, answer.flags), (SeqNr(79), SeqNr(1), ACK));
    assert_eq!(answer.timestamps, Some(Timestamps { value: 2005, echo: 10 }));
    assert_eq!(kept.until(), ms(2000) + Duration::from_secs(240));
}

#[test]
fn only_the_exact_reset_ends_time_wait() {
    let mut kept = waiting().time_wait().expect("TIME-WAIT");
    let reset = |seq| Segment {
        seq: SeqNr(seq),
        flags: Flags { rst: true, ..Flags::default() },
        ..Segment::default()
    };
    assert_eq!(kept.handle_segment(&reset(2), ms(2000)), Verdict::Drop);
    assert_eq!(kept.handle_segment(&reset(1), ms(2000)), Verdict::End);
}

/// RFC 6191, section 2: SYNs to which an old connection without timestamps gives way.
#[test]
fn timestamps_are_new_if_the_old_connection_had_none() {
    let again = |seq, stamps| Segment { seq: SeqNr(seq), ..syn(stamps, None, true) };
    let without = config().with(|c| c.timestamps.offer = false);
    for (config, new) in [(config(), true), (without, false)] {
        let connection = waiting_after(config, None);
        let kept = connection.time_wait().expect("TIME-WAIT");
        for (seq, stamps, gives_way) in [
            (u32::MAX, stamp(1), new),
            (2, stamp(1), true),
            (u32::MAX, None, false),
            (2, None, true),
        ] {
            let syn = again(seq, stamps);
            assert_eq!(kept.gives_way_to(&syn), gives_way, "{syn:?}");
            assert_eq!(connection.gives_way_to(&syn), gives_way, "{syn:?}");
        }
    }
}

#[test]
fn time_wait_gives_way_to_later_syns_and_names_an_isn_beyond_its_numbers() {
    let kept = waiting().time_wait().expect("TIME-WAIT");
    let again = |seq, value| Segment { seq: SeqNr(seq), ..syn(stamp(value), None, true) };
    assert!(kept.gives_way_to(&again(2, 10)));
    assert!(kept.gives_way_to(&again(u32::MAX, 11)));
    assert!(!kept.gives_way_to(&again(u32::MAX, 10)));
    assert!(!kept.gives_way_to(&again(2, 9)), "an old SYN, whatever its number");
    let bare = |seq| Segment { seq: SeqNr(seq), ..syn(None, None, true) };
    assert!(kept.gives_way_to(&bare(2)) && !kept.gives_way_to(&bare(1)));
    assert_eq!(kept.next_isn(), 79 + 65_537);
    assert!(!kept.reusable(ms(2000)));
    assert!(kept.reusable(ms(2101)));
}
