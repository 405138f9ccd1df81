//! Verdicts on watches that are made by hand. The figures are those of real watches of 10 s, rounded.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use proptest::prelude::*;
use unruffled_doctor::fix::{Outcome, compare};
use unruffled_doctor::{
    Counters, Doubt, Flow, Overall, Remedy, Report, Role, Snapshot, Socket, Sureness, Surroundings,
    Tally, TcpInfo, Tunnel, Verdict, Watch, flows,
};

/// Inode of the network namespace of most connections.
const HERE: u64 = 1;

/// Time between two snapshots.
const STEP: Duration = Duration::from_millis(500);

/// Octets of a full segment.
const MSS: u32 = 1448;

/// A connection whose counters grow by the same amount in each second.
#[derive(Clone, Debug)]
struct Connection {
    namespace: u64,
    local: SocketAddr,
    peer: SocketAddr,
    control: &'static str,
    cgroup: u64,
    rtt_ms: u64,
    /// Segments sent per second.
    out: f64,
    retransmitted: f64,
    /// Duplicates reported per second.
    duplicates: f64,
    reordered: f64,
    /// Segments received per second.
    arrived: f64,
    /// Of these, segments that had arrived before.
    twice: f64,
    out_of_order: f64,
    /// Rates of odd and even steps, relative to the mean.
    swing: [f64; 2],
    is_backlogged: bool,
    /// Seconds of the watch in which it exists.
    life: RangeInclusive<f64>,
}

fn address(text: &str) -> SocketAddr {
    text.parse().expect("is an address")
}

fn sender(port: u16) -> Connection {
    Connection {
        namespace: HERE,
        local: SocketAddr::new(address("192.0.2.1:1").ip(), port),
        peer: address("198.51.100.7:5201"),
        control: "cubic",
        cgroup: 1,
        rtt_ms: 100,
        out: 800.0,
        retransmitted: 0.0,
        duplicates: 0.0,
        reordered: 0.0,
        arrived: 0.0,
        twice: 0.0,
        out_of_order: 0.0,
        swing: [1.0, 1.0],
        is_backlogged: true,
        life: 0.0..=1e9,
    }
}

/// Every second packet 200 ms late: 0.5 of 10 Mb/s.
fn half_late(port: u16) -> Connection {
    Connection {
        rtt_ms: 200,
        out: 45.0,
        retransmitted: 5.0,
        duplicates: 4.9,
        reordered: 20.0,
        swing: [0.6, 1.4],
        ..sender(port)
    }
}

fn receiver(port: u16) -> Connection {
    Connection { out: 0.0, arrived: 800.0, ..sender(port) }
}

/// The receiver of [`half_late`]: 48 of 437 segments arrive twice.
fn half_late_receiver(port: u16) -> Connection {
    Connection {
        arrived: 43.7,
        twice: 4.8,
        out_of_order: 20.0,
        rtt_ms: 125,
        swing: [0.6, 1.4],
        ..receiver(port)
    }
}

impl Connection {
    /// Returns the socket `at` seconds after the start, after so many steps.
    fn socket(&self, at: f64, steps: u32) -> Socket {
        let count = |rate: f64| (rate * at).round() as u32;
        let swung = |rate: f64| {
            let pairs = f64::from(steps / 2);
            let odd = f64::from(steps % 2) * self.swing[0] / 2.0;
            (rate * (pairs * (self.swing[0] + self.swing[1]) / 2.0 + odd)).round() as u32
        };
        let info = TcpInfo {
            mss: MSS,
            received_mss: MSS,
            unacked: 8,
            rtt: Duration::from_millis(self.rtt_ms),
            receiver_rtt: Duration::from_millis(self.rtt_ms),
            cwnd: 10,
            retransmitted: count(self.retransmitted),
            bytes_acked: u64::from(MSS) * u64::from(count(self.out - self.retransmitted)),
            bytes_received: u64::from(MSS) * u64::from(swung(self.arrived) - count(self.twice)),
            unsent: if self.is_backlogged { 100_000 } else { 0 },
            data_segments_in: swung(self.arrived),
            data_segments_out: count(self.out),
            delivered: swung(self.out),
            duplicates_reported: count(self.duplicates),
            reordered: count(self.reordered),
            out_of_order_in: count(self.out_of_order),
            ..TcpInfo::default()
        };
        Socket {
            namespace: self.namespace,
            cookie: u64::from(self.local.port()),
            local: self.local,
            peer: self.peer,
            inode: u32::from(self.local.port()),
            cgroup: Some(self.cgroup),
            control: self.control.to_owned(),
            queued: 0,
            send_buffer: 200_000,
            info,
        }
    }
}

/// Watches the connections for 10 s. The namespace counts what they count, and `unseen` retransmissions of
/// other connections.
fn watch(connections: &[Connection], unseen: u64) -> Watch {
    let mut watch = Watch::default();
    for step in 0..=20 {
        let at = STEP * step;
        let seconds = at.as_secs_f64();
        let alive = connections.iter().filter(|c| c.life.contains(&seconds));
        let sum = |rate: fn(&Connection) -> f64| -> u64 {
            connections.iter().map(|c| (rate(c) * seconds).round() as u64).sum()
        };
        let counters = Counters {
            opened: 0,
            retransmitted: sum(|c| c.retransmitted) + unseen * u64::from(step) / 20,
            duplicates_reported: sum(|c| c.duplicates),
            duplicates_in: sum(|c| c.twice),
            replay_drops: 0,
        };
        watch.add(&Snapshot {
            at,
            sockets: alive.map(|c| c.socket(seconds, step)).collect(),
            namespaces: BTreeMap::from([(HERE, counters)]),
            closed: 0,
        });
    }
    watch
}

fn around() -> Surroundings {
    Surroundings { sees_all: true, own: HERE, ..Surroundings::default() }
}

fn report(connections: &[Connection]) -> Report {
    report_of(&watch(connections, 0), &around())
}

fn report_of(watch: &Watch, around: &Surroundings) -> Report {
    let (flows, tally) = flows(watch);
    Report::new(watch, flows, tally, around)
}

fn verdict(connection: Connection) -> Verdict {
    let (flows, _) = flows(&watch(&[connection], 0));
    let [flow] = &flows[..] else { panic!("one flow: {flows:?}") };
    flow.verdict
}

#[test]
fn a_flow_has_the_counts_of_the_watch() {
    let (flows, tally) = flows(&watch(&[half_late(1)], 0));
    let [flow] = &flows[..] else { panic!("one flow: {flows:?}") };
    assert_eq!((flow.segments, flow.retransmitted, flow.spurious), (450, 50, 49));
    assert_eq!((flow.reordered, flow.role, flow.time.as_secs()), (200, Role::Sender, 10));
    // 40 segments of 1448 octets a second.
    assert_eq!(flow.rate_bps, 463_360.0);
    // 45 segments a second, 200 ms.
    assert!((flow.window - 9.0).abs() < 1e-9, "{}", flow.window);
    assert_eq!(flow.active, 1.0);
    assert_eq!(tally, Tally { connections: 1, local: 0, quiet: 0 });
}

/// 49 of 450 segments are spurious: Reno would have a window of sqrt(1.5 / 0.109) = 3.7, and 9.0 is 2.4 times
/// that.
#[test]
fn spurious_retransmissions_that_explain_the_window_slow_a_sender() {
    assert_eq!(verdict(half_late(1)), Verdict::SlowedByReordering);
    let bbr = Connection { control: "bbr", retransmitted: 18.0, out: 50.0, ..half_late(1) };
    assert_eq!(verdict(bbr), Verdict::SlowedByReordering);
    let steady = Connection { swing: [0.98, 1.02], ..half_late(1) };
    assert_eq!(verdict(steady), Verdict::SlowedByReordering);
}

/// CUBIC on a bond: 16,000 packets overtaken in 10 s, 10 retransmissions, all spurious, the lines full.
#[test]
fn a_sender_that_fills_the_path_copes() {
    let bond = Connection {
        out: 4800.0,
        retransmitted: 1.0,
        duplicates: 1.0,
        reordered: 1600.0,
        rtt_ms: 60,
        ..sender(1)
    };
    assert_eq!(verdict(bond), Verdict::Copes);
}

/// BBR with 5 % late: 4 % of the segments spurious at 9 of 10 Mb/s. The window of 89 is 15 times Reno's.
#[test]
fn a_sender_that_ignores_losses_copes() {
    let few = Connection {
        control: "bbr",
        retransmitted: 56.0,
        duplicates: 31.0,
        reordered: 1.2,
        out: 740.0,
        rtt_ms: 120,
        swing: [0.97, 1.03],
        ..sender(1)
    };
    assert_eq!(verdict(few), Verdict::Copes);
}

/// 1 % lost: 14 losses of 1400 segments explain the window of 14.
#[test]
fn losses_in_order_are_not_reordering() {
    let lossy = Connection { out: 140.0, retransmitted: 1.4, swing: [0.6, 1.4], ..sender(1) };
    assert_eq!(verdict(lossy), Verdict::SlowedByLosses);
}

#[test]
fn losses_of_a_full_queue_are_healthy() {
    let full = Connection { out: 880.0, retransmitted: 16.0, rtt_ms: 130, ..sender(1) };
    assert_eq!(verdict(full), Verdict::Healthy);
    assert_eq!(verdict(sender(1)), Verdict::Healthy);
}

#[test]
fn losses_beside_overtaken_packets_are_late_losses() {
    let swing = [0.6, 1.4];
    let late = Connection { out: 140.0, retransmitted: 1.4, reordered: 12.0, swing, ..sender(1) };
    assert_eq!(verdict(late.clone()), Verdict::SlowedByLateLosses);
    // Without a tunnel in sight it is a hint, and with one a finding.
    let watch = watch(&[late], 0);
    let hint = report_of(&watch, &around());
    assert_eq!(hint.verdict, Overall::Healthy);
    assert_eq!(hint.plan, [Remedy::RaiseReplayWindow { namespace: HERE, tunnel: None }]);
    assert!(hint.doubts.contains(&Doubt::NoDuplicatesReported { connections: 1 }));
    let openvpn = Tunnel { device: "tun0".to_owned(), kind: "tun".to_owned() };
    let mut around = around();
    around.tunnels.insert((HERE, address("198.51.100.7:1").ip()), openvpn.clone());
    let finding = report_of(&watch, &around);
    assert_eq!((finding.verdict, finding.suffering), (Overall::Suffers, 1));
    assert_eq!(finding.sureness, Sureness::Low);
    let tunnel = Some(openvpn);
    assert_eq!(finding.plan, [Remedy::RaiseReplayWindow { namespace: HERE, tunnel }]);
}

/// The round-trip time doubles as a queue fills.
#[test]
fn losses_of_a_queue_beside_overtaken_packets_are_congestion() {
    let swing = [0.6, 1.4];
    let radio = Connection { out: 140.0, retransmitted: 1.4, reordered: 12.0, swing, ..sender(1) };
    let mut watch = watch(std::slice::from_ref(&radio), 0);
    let mut socket = radio.socket(10.5, 21);
    socket.info.rtt = Duration::from_millis(200);
    let at = Duration::from_millis(10_500);
    watch.add(&Snapshot { at, sockets: vec![socket], ..Snapshot::default() });
    assert_eq!(flows(&watch).0[0].rtt_ratio, 2.0);
    assert_eq!(flows(&watch).0[0].verdict, Verdict::SlowedByLosses);
}

#[test]
fn an_application_that_writes_little_is_the_limit() {
    let little = Connection { is_backlogged: false, ..half_late(1) };
    assert_eq!(verdict(little), Verdict::ApplicationLimited);
}

/// Duplicates without retransmissions are copies that the network has made.
#[test]
fn duplicated_packets_are_not_spurious_retransmissions() {
    let doubled = Connection { duplicates: 40.0, reordered: 5.0, swing: [0.6, 1.4], ..sender(1) };
    assert_eq!(verdict(doubled), Verdict::Copes);
}

/// Without timestamps, a packet that is sent again before it arrives does not count as overtaken.
#[test]
fn many_spurious_retransmissions_show_reordering_by_themselves() {
    let unseen = Connection { reordered: 0.0, ..half_late(1) };
    assert_eq!(verdict(unseen), Verdict::SlowedByReordering);
    let few = Connection { reordered: 0.0, duplicates: 1.0, ..half_late(1) };
    assert_ne!(verdict(few), Verdict::SlowedByReordering);
}

#[test]
fn a_receiver_whose_sender_resends_what_arrived_is_slowed() {
    assert_eq!(verdict(half_late_receiver(1)), Verdict::SlowedByReordering);
    let report = report(&[half_late_receiver(1)]);
    assert_eq!(report.plan, [Remedy::Resequence { namespace: HERE }]);
    assert_eq!(report.flows[0].spurious, 48);
    // 1 % lost.
    let swing = [0.6, 1.4];
    let lossy = Connection { arrived: 140.0, out_of_order: 15.0, swing, ..receiver(1) };
    assert_eq!(verdict(lossy), Verdict::Healthy);
}

/// The namespace counts 60 duplicates, and two connections received 40 and 20 segments too many.
#[test]
fn duplicates_are_attributed_by_the_octets_received_twice() {
    let part =
        |port, twice| Connection { arrived: 50.0, twice, out_of_order: 10.0, ..receiver(port) };
    let (flows, _) = flows(&watch(&[part(1, 4.0), part(2, 2.0), receiver(3)], 0));
    let spurious: Vec<(u16, u64)> = flows.iter().map(|f| (f.local.port(), f.spurious)).collect();
    assert_eq!(spurious, [(1, 40), (2, 20), (3, 0)]);
}

#[test]
fn two_of_ten_connections_suffer() {
    let mut all: Vec<Connection> = (1..=8).map(sender).collect();
    all.extend([half_late(9), half_late(10)]);
    let report = report(&all);
    assert_eq!((report.verdict, report.suffering), (Overall::Suffers, 2));
    assert_eq!(report.sureness, Sureness::High);
    let [group] = &report.groups[..] else { panic!("one destination: {:?}", report.groups) };
    assert_eq!((group.connections, group.slowed_by_reordering), (10, 2));
    assert_eq!((group.network.to_string(), group.prefix), ("198.51.100.0".to_owned(), 24));
    assert_eq!((group.retransmitted, group.spurious), (100, 98));
    assert_eq!(report.plan, [Remedy::Attach { namespace: HERE, cgroup: None, bbr: false }]);
    let text = report.text(&around());
    let headline = "Reordering slows 2 of 10 connections that carried data in 10 s.\n";
    assert!(text.starts_with(headline), "{text}");
    assert!(text.contains("\n  sudo unruffled attach --default\n"), "{text}");
    assert!(text.contains("100 of 64900 segments retransmitted, 98 of them spuriously"), "{text}");
}

#[test]
fn connections_of_one_cgroup_are_attached_by_that_cgroup() {
    let mut around = around();
    around.cgroups.insert(7, "/sys/fs/cgroup/backup".to_owned());
    let in_cgroup = |port, cgroup| Connection { cgroup, control: "bbr", ..half_late(port) };
    let plan = |connections: &[Connection]| -> Vec<String> {
        let report = report_of(&watch(connections, 0), &around);
        report.plan.iter().filter_map(|remedy| remedy.command(&around)).collect()
    };
    // A connection that does not suffer may be elsewhere.
    let one = plan(&[in_cgroup(1, 7), in_cgroup(2, 7), sender(3)]);
    assert_eq!(one, ["sudo unruffled attach --cgroup '/sys/fs/cgroup/backup' --growth bbr"]);
    let two = plan(&[in_cgroup(1, 7), in_cgroup(2, 1)]);
    assert_eq!(two, ["sudo unruffled attach --default --growth bbr"]);
}

#[test]
fn a_connection_under_unruffled_does_not_need_attach() {
    let plan = report(&[Connection { control: "unruffled", ..half_late(1) }]).plan;
    assert_eq!(plan, [Remedy::InspectStatus { namespace: HERE }]);
}

#[test]
fn a_connection_with_both_ends_on_this_machine_counts_once() {
    let out = half_late(1);
    let back =
        Connection { namespace: 2, local: out.peer, peer: out.local, ..half_late_receiver(5201) };
    let mut watch = Watch::default();
    for step in 0..=20 {
        let at = STEP * step;
        let seconds = at.as_secs_f64();
        let twice = (4.8 * seconds).round() as u64;
        let counters = Counters { duplicates_in: twice, ..Counters::default() };
        watch.add(&Snapshot {
            at,
            sockets: vec![out.socket(seconds, step), back.socket(seconds, step)],
            namespaces: BTreeMap::from([(HERE, Counters::default()), (2, counters)]),
            closed: 0,
        });
    }
    let report = report_of(&watch, &around());
    assert_eq!(report.flows.iter().filter(|flow| flow.verdict.suffers()).count(), 2);
    assert_eq!((report.suffering, report.connections), (1, 1));
    assert_eq!(report.plan, [Remedy::Attach { namespace: HERE, cgroup: None, bbr: false }]);
}

#[test]
fn nothing_and_little_and_short_are_not_known() {
    let nothing = report(&[]);
    assert_eq!((nothing.verdict, nothing.sureness), (Overall::Unknown, Sureness::Low));
    assert_eq!(nothing.doubts, [Doubt::NothingSeen]);
    let quiet = report(&[Connection { out: 2.0, ..sender(1) }]);
    assert_eq!(quiet.doubts, [Doubt::NothingSeen, Doubt::Quiet { connections: 1 }]);
    let short = report(&[Connection { life: 4.0..=5.2, ..half_late(1) }]);
    assert_eq!(short.verdict, Overall::Unknown);
    assert!(short.doubts.contains(&Doubt::Short { connections: 1 }), "{:?}", short.doubts);
    let text = quiet.text(&around());
    assert!(text.starts_with("Not known: no connection carried enough data"), "{text}");
}

#[test]
fn retransmissions_of_unseen_connections_are_a_doubt() {
    let report = report_of(&watch(&[sender(1), half_late(2)], 30), &around());
    assert_eq!(report.doubts, [Doubt::Unseen { retransmitted: 30, spurious: 0 }]);
    assert_eq!(report.sureness, Sureness::Medium);
}

/// The counters of a new connection began at zero, within the watch.
#[test]
fn a_connection_that_begins_within_the_watch_has_all_its_counts() {
    let watch = watch(&[Connection { life: 4.0..=9.0, ..half_late(1) }], 0);
    let (flows, _) = flows(&watch);
    assert_eq!((flows[0].segments, flows[0].spurious), (405, 44));
    assert_eq!(flows[0].time, Duration::from_millis(5_500));
}

#[test]
fn connections_within_the_machine_count_only_if_there_are_no_others() {
    let local = |port| Connection { peer: address("127.0.0.1:80"), ..half_late(port) };
    let both = report(&[local(1), sender(2)]);
    assert_eq!((both.verdict, both.tally.local, both.flows.len()), (Overall::Healthy, 1, 1));
    assert!(both.text(&around()).contains("1 connection within this machine left out"));
    let alone = report(&[local(1)]);
    assert_eq!((alone.verdict, alone.tally.local), (Overall::Suffers, 0));
}

#[test]
fn connections_that_are_not_visible_are_a_doubt() {
    let around = Surroundings { sees_all: false, ..around() };
    let report = report_of(&watch(&[sender(1)], 0), &around);
    assert_eq!(report.doubts, [Doubt::OwnNamespaceOnly]);
}

/// The last step is 15 times as long as the others.
#[test]
fn a_stalled_watch_is_a_doubt() {
    let mut stalled = Watch::default();
    for (step, at) in [0, 500, 1000, 1500, 9000].into_iter().enumerate() {
        let socket = sender(1).socket(at as f64 / 1e3, step as u32);
        let at = Duration::from_millis(at);
        stalled.add(&Snapshot { at, sockets: vec![socket], ..Snapshot::default() });
    }
    let report = report_of(&stalled, &around());
    assert!(report.doubts.contains(&Doubt::Stalled), "{:?}", report.doubts);
    assert_eq!(report.verdict, Overall::Unknown);
}

fn any_info() -> impl Strategy<Value = TcpInfo> {
    let parts = (any::<[u32; 12]>(), any::<[u64; 3]>(), any::<bool>());
    parts.prop_map(|(small, large, flag)| TcpInfo {
        has_timestamps: flag,
        mss: small[0],
        received_mss: small[1],
        unacked: small[2],
        rtt: Duration::from_micros(large[0] >> 20),
        receiver_rtt: Duration::from_micros(u64::from(small[3])),
        retransmitted: small[4],
        bytes_acked: large[1],
        bytes_received: large[2],
        unsent: small[5],
        data_segments_in: small[6],
        data_segments_out: small[7],
        delivered: small[8],
        duplicates_reported: small[9],
        reordered: small[10],
        out_of_order_in: small[11],
        timeouts: flag.then_some(small[0]),
        ..TcpInfo::default()
    })
}

proptest! {
    /// Counters that run backwards, vanish and overflow.
    #[test]
    fn any_snapshots_give_a_report(
        infos in prop::collection::vec((any_info(), 0..4_u16, 0..3_u64), 0..40),
        counters in prop::collection::vec(any::<[u64; 5]>(), 0..40),
    ) {
        let mut watch = Watch::default();
        for (step, (info, port, namespace)) in (0..).zip(infos) {
            let mut socket = sender(port).socket(1.0, 2);
            socket.info = info;
            socket.namespace = namespace;
            let values = counters.get(step as usize).copied().unwrap_or_default();
            let counters = Counters {
                opened: values[0],
                retransmitted: values[1],
                duplicates_reported: values[2],
                duplicates_in: values[3],
                replay_drops: values[4],
            };
            let namespaces = BTreeMap::from([(namespace, counters)]);
            watch.add(&Snapshot { at: STEP * step, sockets: vec![socket], namespaces, closed: 0 });
        }
        let report = report_of(&watch, &around());
        prop_assert!(report.text(&around()).ends_with('\n'));
        prop_assert_eq!(report.verdict == Overall::Suffers, report.suffering > 0);
        let is_sane =
            |flow: &Flow| flow.window.is_finite() && (0.0..=1.0).contains(&flow.active);
        prop_assert!(report.flows.iter().all(is_sane));
    }

    /// A sender that suffers also does with more overtaken packets, all else equal.
    #[test]
    fn more_overtaken_packets_never_lower_the_verdict(
        duplicates in 0.0..20.0_f64,
        out in 10.0..2000.0_f64,
        rtt_ms in 1..500_u64,
        reordered in 0.0..50.0_f64,
        more in 0.0..50.0_f64,
        low in 0.2..1.0_f64,
    ) {
        let connection = |reordered| Connection {
            retransmitted: duplicates + 0.1,
            duplicates,
            out: out + duplicates + 0.1,
            rtt_ms,
            reordered,
            swing: [low, 2.0 - low],
            ..sender(1)
        };
        let before = verdict(connection(reordered)).suffers();
        let after = verdict(connection(reordered + more)).suffers();
        prop_assert!(!before || after);
    }

    /// Losses alone never give an alarm.
    #[test]
    fn a_path_without_duplicates_never_suffers(
        out in 10.0..5000.0_f64,
        lost in 0.0..0.2_f64,
        rtt_ms in 1..500_u64,
        low in 0.0..1.0_f64,
        reordered in 0.0..100.0_f64,
    ) {
        let swing = [low, 2.0 - low];
        let retransmitted = out * lost;
        let connection = Connection { out, retransmitted, rtt_ms, swing, reordered, ..sender(1) };
        prop_assert!(!verdict(connection).suffers());
    }
}

/// Connections 1 and 2 had 0.46 Mb/s and have 4.6 and 9.3; connection 3 was left alone.
#[test]
fn a_trial_helps_if_the_rates_grow_beside_those_left_alone() {
    let before = flows(&watch(&[half_late(1), half_late(2), sender(3)], 0)).0;
    let attached = |port, out| Connection { control: "unruffled", out, ..sender(port) };
    let after = |left_alone| {
        let other = Connection { out: left_alone, ..sender(3) };
        flows(&watch(&[attached(1, 400.0), attached(2, 800.0), other], 0)).0
    };
    let same = compare(&before, &after(800.0));
    assert_eq!((same.outcome, same.connections, same.left_alone), (Outcome::Helped, 2, 1));
    // Of 40 and 40 segments a second.
    assert_eq!((same.gain, same.gain_left_alone), (Some(10.0), Some(1.0)));
    // The path has become ten times as fast for all.
    let all = compare(&before, &after(8000.0));
    assert_eq!((all.outcome, all.gain_left_alone), (Outcome::NoHelp, Some(10.0)));
}

#[test]
fn a_trial_without_connections_that_have_it_is_not_measured() {
    let before = flows(&watch(&[half_late(1), sender(2)], 0)).0;
    let comparison = compare(&before, &before);
    assert_eq!(comparison.outcome, Outcome::NotMeasured);
    // A connection that did not suffer shows nothing.
    let after = flows(&watch(&[Connection { control: "unruffled", ..sender(2) }], 0)).0;
    assert_eq!(compare(&before, &after).outcome, Outcome::NotMeasured);
}

/// A connection that began after `attach` is compared with the slow ones to the same destination.
#[test]
fn a_new_connection_is_compared_with_its_destination() {
    let before = flows(&watch(&[half_late(1)], 0)).0;
    let new = Connection { control: "unruffled_bbr", out: 60.0, ..sender(7) };
    let comparison = compare(&before, &flows(&watch(std::slice::from_ref(&new), 0)).0);
    assert_eq!((comparison.outcome, comparison.gain), (Outcome::Helped, Some(1.5)));
    let elsewhere = Connection { peer: address("203.0.113.1:80"), ..new };
    let comparison = compare(&before, &flows(&watch(&[elsewhere], 0)).0);
    assert_eq!(comparison.outcome, Outcome::NotMeasured);
}
