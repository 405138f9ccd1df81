//! Settings of a connection, at its start and during its life.

use crate::wire::{End, OURS, config, ms};
use unruffled_tcp::control::{CongestionControl, Flow, Window};
use unruffled_tcp::{Config, Connection, Error, Ignored, IpVersion, Variable, Variant};
use unruffled_units::Instant;

/// RFC 7323, section 5: on the wire, timestamps identify old duplicates.
#[test]
fn with_wire_settings_older_timestamps_are_rejected() {
    let config = Config { isn: OURS.0, ..Config::wire(IpVersion::V4) };
    let mut t = End::connected(config, "S. 0 a1 w10000 mss1000 sackok ts100:1000000");
    t.gets("P. 1:101 a1 ts99:1000000").sends(". 1 a1").ignores(Ignored::OldTimestamp);
    t.gets("P. 1:101 a1 ts100:1000000").accepts();
    assert_eq!(t.connection.received(), 100);
}

/// The timeout counts from when the segment was sent, not from when it is set.
#[test]
fn a_shorter_user_timeout_counts_from_the_beginning_of_the_wait() {
    let mut t = End::established(config().with(|c| c.timeouts.give_up = Some(ms(10_000))));
    t.writes(100).sends("P. 1:101 a1").at(100);
    t.connection.set_give_up(Some(ms(500)), Instant::from_millis(1_000_100));
    t.timer_at(500).timer().sends("").failed(Error::TimedOut);
}

/// 1 MiB takes a shift of 5: 65,535 units of 16 octets are 16 octets less.
#[test]
fn the_window_scale_is_that_of_the_syn() {
    let mut t = End::listen(Config { receive_buffer: 1 << 20, ..config() });
    t.gets("S 0 w5000 mss900 ws3 sackok").sends("S. 0 a1 ws5").gets(". 1 a1").sends("");
    assert_eq!((t.connection.receive_scale(), t.connection.send_scale()), (5, 3));
    let mut t = End::listen(Config { receive_buffer: 1 << 20, ..config() });
    t.gets("S 0 w5000 mss900 sackok").sends("S. 0 a1").gets(". 1 a1").sends("");
    assert_eq!((t.connection.receive_scale(), t.connection.send_scale()), (0, 0));
}

/// RFC 9293, section 3.8.6.2.2: a window that opens far is advertised at once.
#[test]
fn a_larger_receive_buffer_is_advertised() {
    let config =
        Config { receive_buffer: 1 << 20, initial_receive_buffer: Some(64 << 10), ..config() };
    let mut t = End::listen(config);
    t.gets("S 0 w5000 mss900 ws3 sackok").sends("S. 0 a1 w65535 ws5").gets(". 1 a1");
    t.connection.set_receive_buffer(500_000);
    // 500,000/32
    t.reads(0).sends(". 1 a1 w15625");
    assert_eq!(t.connection.receive_buffer(), 500_000);
}

/// A control that does not change the window.
#[derive(Debug)]
struct Constant;

impl CongestionControl for Constant {
    fn about(&self) -> std::borrow::Cow<'static, str> {
        "constant".into()
    }

    fn grow(&mut self, _window: &mut Window, _acked: u32, _counted: u32, _flow: &Flow) {}

    fn on_loss(&mut self, window: &Window, _timeout: bool, _flow: &Flow) -> f64 {
        window.cwnd
    }

    fn variables(&self, show: &mut dyn FnMut(Variable)) {
        show(Variable::segments("constant_at", 7.0));
    }
}

#[test]
fn a_control_from_outside_shows_its_variables() {
    let variant = Variant::sack();
    let variant =
        variant.with_control("constant", || Box::new(Constant)).expect("composed of parts");
    let connection = Connection::connect(Config::simulated(), &variant);
    assert_eq!(connection.variable("constant_at", Instant::ZERO), Some(7.0));
    assert_eq!(connection.variable("dupthresh", Instant::ZERO), Some(3.0));
    assert_eq!(connection.variable("fa_ratio", Instant::ZERO), None);
}

#[test]
fn parts_are_described_with_their_settings() {
    for (name, parameter, value, usual, set) in [
        ("ba-inc", "window_share", "0.5", "at most 0.9 cwnd", "at most 0.5 cwnd"),
        (
            "ba-ewma",
            "samples",
            "false-fast-retransmit",
            "over all",
            "of spurious fast retransmits,",
        ),
        ("ncr-careful", "lt_f", "0.8", "dupthresh 2/3 of", "dupthresh 0.8 of"),
        ("ncr-aggressive", "lt_f", "0.8", "dupthresh 1/2 of", "dupthresh 0.8 of"),
        ("avg-dev", "samples", "all", "of spurious fast retransmits'", "of all reordering lengths"),
    ] {
        let mut variant = Variant::named(name).expect("a sender");
        let text = |variant: &Variant| format!("{:?}", variant.parts());
        assert!(text(&variant).contains(usual), "{}", text(&variant));
        variant.set(parameter, value).expect("within its range");
        assert!(text(&variant).contains(set) && !text(&variant).contains(usual), "{name}");
    }
}
