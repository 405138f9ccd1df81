//! Random segments and calls in every state: nothing panics, and the state of the connection stays
//! consistent.

use crate::wire::{OURS, THEIRS, variant};
use proptest::prelude::*;
use unruffled_tcp::{
    Config, Connection, Ecn, EcnMode, Flags, KeepAlive, Packet, SackBlocks, Segment, SeqNr, State,
    Timestamps,
};
use unruffled_units::{Duration, Instant};

#[derive(Clone, Debug)]
enum Step {
    Arrives(Segment),
    Timer,
    Wait(u64),
    Write(u64),
    Read(u64),
    Finish,
    Abort,
    TooBig(u32, u32),
}

/// Returns a number near the beginning of a stream, or any number.
fn near(origin: SeqNr) -> impl Strategy<Value = SeqNr> {
    prop_oneof![
        2 => Just(origin.add(1)),
        4 => (0..20_u32).prop_map(move |n| origin.add(1 + n * 500)),
        4 => (-3000..20_000_i32).prop_map(move |n| origin.add(n as u32)),
        1 => any::<u32>().prop_map(SeqNr),
    ]
}

fn flags() -> impl Strategy<Value = Flags> {
    let rare = || prop::bool::weighted(0.1);
    (rare(), prop::bool::weighted(0.9), rare(), prop::bool::weighted(0.05), any::<bool>())
        .prop_map(|(syn, ack, fin, rst, psh)| Flags { syn, ack, fin, rst, psh })
}

fn ecn() -> impl Strategy<Value = Ecn> {
    let field = prop::sample::select(vec![Ecn::NONE, Ecn::ECT_0, Ecn::ECT_1, Ecn::CE]);
    (field, prop::bool::weighted(0.3), prop::bool::weighted(0.3)).prop_map(|(field, ece, cwr)| {
        let ece = if ece { Ecn::ECE } else { Ecn::NONE };
        let cwr = if cwr { Ecn::CWR } else { Ecn::NONE };
        field | ece | cwr
    })
}

fn segment() -> impl Strategy<Value = Segment> {
    let len = prop_oneof![Just(0), Just(500), 0..3000_u32, any::<u32>()];
    let window = prop_oneof![Just(0), 0..3000_u16, any::<u16>()];
    let sack = prop::collection::vec((near(OURS), near(OURS)), 0..4);
    let timestamps = prop::option::weighted(0.8, (0..3000_u32, any::<u32>()));
    let syn_options =
        (prop::option::of(any::<u16>()), prop::option::of(any::<u8>()), any::<bool>(), ecn());
    (near(THEIRS), near(OURS), len, flags(), window, sack, timestamps, syn_options).prop_map(
        |(seq, ack, len, flags, window, blocks, timestamps, options)| {
            let mut sack = SackBlocks::default();
            for (left, right) in blocks {
                sack.push(left, right);
            }
            let (mss, window_scale, sack_permitted, ecn) = options;
            let timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
            Segment {
                seq,
                ack,
                len,
                flags,
                ecn,
                window,
                mss,
                window_scale,
                sack_permitted,
                sack,
                timestamps,
                rtx: false,
                packet: Packet::NONE,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => segment().prop_map(Step::Arrives),
        3 => Just(Step::Timer),
        2 => (0..5000_u64).prop_map(Step::Wait),
        3 => prop_oneof![0..5000_u64, Just(u64::MAX)].prop_map(Step::Write),
        3 => prop_oneof![0..5000_u64, Just(u64::MAX)].prop_map(Step::Read),
        1 => Just(Step::Finish),
        1 => prop::bool::weighted(0.1).prop_map(|yes| if yes { Step::Abort } else { Step::Timer }),
        1 => (0..2000_u32, 0..5000_u32).prop_map(|(mtu, quoted)| Step::TooBig(mtu, quoted)),
    ]
}

fn any_config() -> impl Strategy<Value = Config> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let ecn = prop::sample::select(vec![EcnMode::Off, EcnMode::Accept, EcnMode::Request]);
    (switches, 1..200_000_u64, 1..1500_u32, ecn).prop_map(
        |((timestamps, nagle, count_options, limits, delay), receive_buffer, mss, ecn)| {
            Config::simulated().with(|c| {
                c.mss = mss;
                c.segments.count_options = count_options;
                c.receive_buffer = receive_buffer;
                c.initial_receive_buffer = limits.then_some(receive_buffer / 4);
                c.timestamps.offer = timestamps;
                c.nagle = nagle;
                c.ecn = ecn;
                c.timestamps.paws = timestamps.then_some(Duration::ZERO);
                c.isn = OURS.0;
                c.timeouts.give_up = limits.then_some(Duration::from_secs(30));
                c.timeouts.syn_retries = limits.then_some(4);
                c.delayed_ack = delay.then_some(Duration::from_millis(40));
                c.timeouts.keep_alive = limits.then_some(KeepAlive {
                    idle: Duration::from_secs(20),
                    interval: Duration::from_secs(5),
                    count: 3,
                });
                c.segments.min_mss = 1;
            })
        },
    )
}

/// Checks what is sent, and the state of the connection.
struct Checker {
    buffer: u64,
    /// Whether this test has played the handshake.
    opened: bool,
    /// Whether the peer's SYN offers window scaling.
    scales: bool,
    scale: u8,
    synchronised: bool,
    edge: Option<SeqNr>,
}

impl Checker {
    fn sent(&mut self, segment: &Segment) {
        let data = segment.len > 0 && !segment.flags.syn && !segment.flags.rst;
        assert!(data || segment.ecn == segment.ecn.without_data() || segment.flags.syn);
        assert!(data || !segment.ecn.is_ect(), "{segment:?}");
        if segment.flags.syn {
            self.scale = segment.window_scale.filter(|_| self.scales).unwrap_or(0);
            self.edge = None;
            return;
        }
        // The scale of an attempt that this test did not open is unknown.
        if !segment.flags.ack || segment.flags.rst || !self.opened {
            return;
        }
        let unit = 1_i32 << self.scale;
        let edge = segment.ack.add(u32::from(segment.window) << self.scale);
        if let Some(before) = self.edge.replace(edge) {
            assert!(edge.distance(before) > -unit.max(2), "the window's edge moves back");
        }
    }

    fn check(&mut self, connection: &Connection) {
        let window = connection.window();
        assert!(window.cwnd >= 1.0 && window.cwnd.is_finite(), "cwnd {}", window.cwnd);
        assert!(connection.readable() <= self.buffer + self.buffer / 8 + (1 << 15));
        assert!(connection.unacknowledged_from() <= connection.acknowledged());
        assert!(connection.in_flight() < 1 << 31);
        assert!(connection.max_payload() > 0);
        if connection.state() == State::Closed {
            assert_eq!(connection.poll_timeout(), None);
        }
        self.synchronised |= connection.state().is_synchronised();
        assert!(
            !self.synchronised || !matches!(connection.state(), State::Listen | State::SynSent),
            "there is no way back"
        );
    }
}

fn run(
    connection: &mut Connection,
    config: &Config,
    (opened, scales): (bool, bool),
    steps: &[Step],
) {
    let mut now = Instant::from_millis(1_000_000);
    let mut checker = Checker {
        buffer: config.receive_buffer,
        opened,
        scales,
        scale: 0,
        synchronised: false,
        edge: None,
    };
    for step in steps {
        match *step {
            Step::Arrives(segment) => connection.handle_segment(&segment, now, &mut ()),
            Step::Timer => {
                if let Some(due) = connection.poll_timeout() {
                    now = now.max(due);
                    connection.handle_timeout(now, &mut ());
                }
            }
            Step::Wait(ms) => {
                now += Duration::from_millis(ms);
                connection.handle_timeout(now, &mut ());
            }
            Step::Write(octets) => connection.write(octets),
            Step::Read(octets) => connection.read(octets),
            Step::Finish => connection.finish(),
            Step::Abort => connection.abort(),
            Step::TooBig(mtu, quoted) => {
                connection.handle_packet_too_big(mtu, OURS.add(quoted), now, &mut ());
            }
        }
        let mut count = 0;
        while let Some(segment) = connection.poll_transmit(now, &mut ()) {
            checker.sent(&segment);
            count += 1;
            assert!(count < 200_000, "it sends without end");
        }
        checker.check(connection);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_segment_does_harm(
        config in any_config(),
        active in any::<bool>(),
        opened in prop::bool::weighted(0.8),
        scales in any::<bool>(),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut connection = if active {
            Connection::connect(config.clone(), &variant())
        } else {
            Connection::listen(config.clone(), &variant())
        };
        let mut all = Vec::new();
        if opened {
            let timestamps = Some(Timestamps { value: 0, echo: 0 });
            let syn = Segment {
                seq: THEIRS,
                ack: OURS.add(1),
                flags: Flags { syn: true, ack: active, ..Flags::default() },
                window: 20_000,
                window_scale: scales.then_some(2),
                sack_permitted: true,
                timestamps,
                ..Segment::default()
            };
            let flags = Flags { ack: true, ..Flags::default() };
            all.push(Step::Write(0));
            all.push(Step::Arrives(syn));
            all.push(Step::Arrives(Segment { seq: THEIRS.add(1), flags, mss: None, ..syn }));
        }
        all.extend(steps);
        run(&mut connection, &config, (opened, scales), &all);
    }
}
