//! The sender, the settings and the state that an input selects.

use unruffled_tcp::{
    Config, Duplicates, Flags, IpVersion, KeepAlive, Pipe, ROWS, Segment, SeqNr, State, Variant,
};
use unruffled_units::Duration;

use super::End;
use crate::input::{Bits, Input};
use crate::numbers::syn_options;

/// Initial sequence numbers that wrap early.
pub(super) const LOCAL_ISN: SeqNr = SeqNr(u32::MAX - 50);
const PEER_ISN: SeqNr = SeqNr(u32::MAX - 150);

/// Returns the name of any row but those that only the simulator can run.
pub(crate) fn row(input: &mut Input<'_>) -> &'static str {
    let row = &ROWS[usize::from(input.byte()) % ROWS.len()];
    if row.is_for_simulation_only() { "unruffled" } else { row.name }
}

/// Returns any sender of the table for real packets, with further parts where they fit.
pub(super) fn variant(input: &mut Input<'_>) -> Variant {
    let row = row(input);
    let mut has = Bits::of(input.byte());
    let mut name = row.to_owned();
    for part in ["+cubic", "+eifel", "+f-rto", "+westwood"] {
        if has.next() {
            name += part;
        }
    }
    Variant::named(&name).or_else(|| Variant::named(row)).expect("a row is a variant")
}

pub(super) fn config(input: &mut Input<'_>) -> Config {
    let mut on = Bits::of(input.byte());
    let timestamps = on.next();
    let nagle = on.next();
    let count_options = on.next();
    let times_out = on.next();
    let delays = on.next();
    let counted = on.next();
    let keeps_alive = on.next();
    let v6 = on.next();
    let ip = if v6 { IpVersion::V6 } else { IpVersion::V4 };
    let keep_alive =
        KeepAlive { idle: Duration::from_secs(20), interval: Duration::from_secs(5), count: 3 };
    Config::simulated().with(|c| {
        c.mss = input.choose(&[1000, 1460, 536, 100, 1, 9000, 65_495]);
        c.receive_buffer = input.choose(&[10_000, 65_535, 4 << 20, 100_000, 1000, 100, 1, 1 << 32]);
        c.initial_receive_buffer = counted.then_some(5000);
        c.window.initial = input.choose(&[10, 1, 2, 4]);
        c.window.max = input.choose(&[None, Some(50), Some(1)]);
        c.rto.min = Duration::from_millis(input.choose(&[1000, 200, 1]));
        c.segments.min_mss = input.choose(&[1, ip.default_mss()]);
        c.challenge_acks = input.choose(&[10, 1000, 0]);
        c.timestamps.paws =
            input.choose(&[Some(Duration::ZERO), None, Some(Duration::from_millis(50))]);
        c.segments.peer_mss = Some(ip.default_mss()).filter(|_| count_options);
        c.delayed_ack = delays.then_some(Duration::from_millis(40));
        c.ns2.duplicates = if counted { Duplicates::Run } else { Duplicates::Sacked };
        c.ns2.pipe = if counted { Pipe::Counted } else { Pipe::SetPipe };
        c.timeouts.give_up = times_out.then_some(Duration::from_secs(30));
        c.timeouts.syn_retries = times_out.then_some(4);
        c.timeouts.keep_alive = keeps_alive.then_some(keep_alive);
        c.isn = LOCAL_ISN.0;
        c.timestamps.offset = u32::MAX - 1_000_100;
        c.timestamps.offer = timestamps;
        c.nagle = nagle;
        c.segments.count_options = count_options;
        c.segments.ip = ip;
    })
}

const fn flags(letters: &[u8]) -> Flags {
    let mut flags = Flags { syn: false, ack: false, fin: false, rst: false, psh: false };
    let mut at = 0;
    while at < letters.len() {
        match letters[at] {
            b'S' => flags.syn = true,
            b'F' => flags.fin = true,
            _ => flags.ack = true,
        }
        at += 1;
    }
    flags
}

/// Leads a new connection into the state that the input selects.
pub(super) fn open(end: &mut End, active: bool, input: &mut Input<'_>) {
    const STATES: [State; 10] = [
        State::Established,
        State::SynReceived,
        State::FinWait1,
        State::FinWait2,
        State::CloseWait,
        State::Closing,
        State::LastAck,
        State::TimeWait,
        State::Listen,
        State::Closed,
    ];
    let goal = input.choose(&STATES);
    end.settle();
    if goal == State::Listen {
        return;
    }
    let crossing = input.byte() % 2 == 1;
    let mut syn = Segment {
        seq: PEER_ISN,
        ack: LOCAL_ISN.add(1),
        flags: if active && !crossing { flags(b"S.") } else { flags(b"S") },
        window: input.choose(&[u16::MAX, 10_000, 500, 0]),
        timestamps: end.honest().timestamps,
        ..Segment::default()
    };
    syn_options(&mut syn, input);
    end.receive(syn);
    end.settle();
    if goal == State::SynReceived {
        return;
    }
    if end.connection().state() == State::SynReceived {
        end.receive_flags(flags(b"."));
    }
    assert_eq!(end.connection().state(), State::Established);
    match goal {
        State::FinWait1 => end.finish(),
        State::FinWait2 | State::TimeWait => {
            end.finish();
            end.settle();
            end.receive_flags(flags(b"."));
        }
        State::Closing => {
            end.finish();
            let una = end.numbers().una;
            end.receive(Segment { ack: una, flags: flags(b"F."), ..end.honest() });
        }
        State::CloseWait | State::LastAck => end.receive_flags(flags(b"F.")),
        State::Closed => end.abort(),
        _ => {}
    }
    if goal == State::TimeWait {
        end.receive_flags(flags(b"F."));
    }
    if goal == State::LastAck {
        end.finish();
    }
    end.settle();
    assert_eq!(end.connection().state(), goal);
}
