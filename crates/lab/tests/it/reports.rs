//! Public reports of lateness as scenario files: each comes out in kind, and only because of the key that the
//! report is about. `docs/reports.md` has the whole runs.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::compare::compare;

/// The files that the tests below run.
const FILES: [&str; 15] = [
    "cisco-t1-2",
    "cisco-t1-4",
    "coder-13195",
    "firezone-10231",
    "magma-14578",
    "mlvpn-101",
    "mlvpn-121",
    "omr-1359",
    "openvpn-353",
    "ovpn-dco-31",
    "quic-go-5734",
    "quinn-2710",
    "serverfault-287475",
    "trex-813",
    "wireguard-lwip-4",
];

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Returns the mean goodputs of these senders over two seeds, in Mb/s.
fn goodputs<const N: usize>(file: &str, overrides: &[&str], senders: [&str; N]) -> [f64; N] {
    assert!(FILES.contains(&file), "{file} is in the list");
    let path = docs().join("reports").join(file).with_extension("toml");
    let set: Vec<String> = ["seeds=2"].iter().chain(overrides).map(|&s| s.to_owned()).collect();
    let path = path.to_str().expect("UTF-8");
    let scenario = Scenario::load(path, &set).unwrap_or_else(|error| panic!("{error}"));
    let names = senders.map(str::to_owned);
    let variants = scenario.senders(&names, "here").expect("are senders");
    let comparison = compare(&scenario, &variants, never(), || {}).expect("runs");
    let mut means = comparison.variants.iter().map(|runs| {
        runs.rows.iter().map(|row| row.flow.goodput_bps).sum::<f64>() / runs.rows.len() as f64 / 1e6
    });
    std::array::from_fn(|_| means.next().expect("one for each sender"))
}

#[test]
fn every_report_is_run_and_listed_in_the_docs() {
    let page = fs::read_to_string(docs().join("reports.md")).expect("the page");
    let found: BTreeSet<String> = fs::read_dir(docs().join("reports"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned())
        .collect();
    assert_eq!(found, FILES.map(str::to_owned).into());
    for file in FILES {
        assert!(page.contains(&format!("reports/{file}.toml")), "{file}");
    }
}

/// Reported: 26 Mb/s over one line, 10.8 over both.
#[test]
fn mlvpn_121_linux_gets_less_than_one_line_from_two() {
    let long = ["duration=20 s"];
    let [ours, linux, sack] = goodputs("mlvpn-121", &long, ["unruffled", "linux", "sack"]);
    assert!(ours > 45.0 && linux < 26.0 && sack < 2.0, "{ours} {linux} {sack}");
    let steady = ["duration=10 s", "wwan.delayed.fraction=0", "usb.delayed.fraction=0"];
    let [linux] = goodputs("mlvpn-121", &steady, ["linux"]);
    assert!(linux > 40.0, "{linux}");
}

/// Reported: 100 Mb/s by each line, although one has 200.
#[test]
fn mlvpn_101_equal_turns_give_twice_the_slower_line() {
    let senders = ["unruffled", "sack"];
    let short = "duration=5 s";
    let [ours, sack] = goodputs("mlvpn-101", &[short], senders);
    assert!((150.0..200.0).contains(&ours) && (120.0..200.0).contains(&sack), "{ours} {sack}");
    let [ours, sack] = goodputs("mlvpn-101", &[short, "traffic.flow.weights=[2, 1]"], senders);
    assert!(ours > 260.0 && sack > 240.0, "{ours} {sack}");
    // Without the reorder buffer, order matters.
    let [ours, sack] = goodputs("mlvpn-101", &[short, "tun.resequence=false"], senders);
    assert!(ours > 150.0 && sack < 20.0, "{ours} {sack}");
}

/// Reported: 98 MB/s over one cable and 70 over both, with three duplicates; 100 with 127.
#[test]
fn serverfault_287475_three_duplicates_give_less_than_one_cable() {
    let senders = ["unruffled", "linux-reordering+cubic", "sack"];
    let [ours, adapts, sack] = goodputs("serverfault-287475", &["duration=1 s"], senders);
    assert!(ours > 1800.0 && adapts > 1800.0 && sack < 600.0, "{ours} {adapts} {sack}");
    let calm = [
        "duration=1 s",
        "eth2.workers.coalesce=0 s",
        "eth4.workers.coalesce=0 s",
        "eth2.workers.jitter.mean=0 s",
        "eth4.workers.jitter.mean=0 s",
    ];
    let [sack] = goodputs("serverfault-287475", &calm, ["sack"]);
    assert!(sack > 1800.0, "{sack}");
}

/// Reported: better throughput after two of four circuits were shut down.
#[test]
fn cisco_t1_four_circuits_are_hardly_better_than_two_for_three_duplicates() {
    let senders = ["unruffled", "sack"];
    let short = ["duration=30 s"];
    let [ours_2, sack_2] = goodputs("cisco-t1-2", &short, senders);
    let [ours_4, sack_4] = goodputs("cisco-t1-4", &short, senders);
    assert!(ours_4 > 2.2 * ours_2, "{ours_4} {ours_2}");
    assert!(sack_4 < 1.5 * sack_2 && sack_4 < 0.6 * ours_4, "{sack_4} {sack_2} {ours_4}");
}

/// Reported: 110 Mb/s with several threads, 1.1 Gb/s with one. It comes out for three duplicates, and not for
/// Linux.
#[test]
fn firezone_10231_threads_cost_three_duplicates_most_of_the_rate_and_linux_little() {
    let [linux, sack] = goodputs("firezone-10231", &["duration=10 s"], ["linux", "sack"]);
    assert!(linux > 700.0 && sack < 50.0, "{linux} {sack}");
    let one = ["duration=10 s", "wan.workers.count=1"];
    let [sack] = goodputs("firezone-10231", &one, ["sack"]);
    assert!(sack > 300.0, "{sack}");
}

/// Reported: 84 Mb/s with several cores, 1.2 Gb/s with one.
#[test]
fn ovpn_dco_31_preempted_cores_cost_linux_nine_tenths() {
    let senders = ["unruffled", "linux", "sack"];
    let [ours, linux, sack] = goodputs("ovpn-dco-31", &["duration=5 s"], senders);
    assert!(ours > 1200.0 && linux < 300.0 && sack < 60.0, "{ours} {linux} {sack}");
    let [sack] = goodputs("ovpn-dco-31", &["duration=2 s", "tun.workers.by=flow"], ["sack"]);
    assert!(sack > 500.0, "{sack}");
}

/// Reported: a several-fold collapse with 129 packets, and the more the window is raised the less.
#[test]
fn quinn_2710_a_window_of_129_packets_costs_most_of_the_rate() {
    let senders = ["rack+bbr", "linux"];
    let [bbr, linux] = goodputs("quinn-2710", &["duration=10 s"], senders);
    assert!(bbr < 300.0 && linux < 60.0, "{bbr} {linux}");
    let [bbr] = goodputs("quinn-2710", &["duration=10 s", "replay_window=none"], ["rack+bbr"]);
    assert!(bbr > 800.0, "{bbr}");
}

/// Reported: packets dropped as replays once the line is full.
#[test]
fn openvpn_353_the_window_of_64_packets_costs_most_of_the_rate() {
    let senders = ["unruffled", "linux"];
    let [ours, linux] = goodputs("openvpn-353", &["duration=10 s"], senders);
    assert!(ours < 60.0 && linux < 60.0, "{ours} {linux}");
    let wide = ["duration=10 s", "replay_window=4096"];
    let [ours] = goodputs("openvpn-353", &wide, ["unruffled"]);
    assert!(ours > 150.0, "{ours}");
}

/// Reported: packets less than 32 behind are dropped by a window of 4 in place of 32.
#[test]
fn wireguard_lwip_4_a_window_of_4_packets_costs_most_of_the_rate() {
    let senders = ["unruffled", "linux"];
    let [ours, linux] = goodputs("wireguard-lwip-4", &["duration=20 s"], senders);
    assert!(ours < 6.0 && linux < 6.0, "{ours} {linux}");
    let meant = ["duration=20 s", "replay_window=32"];
    let [ours, linux] = goodputs("wireguard-lwip-4", &meant, senders);
    assert!(ours > 18.0 && linux > 15.0, "{ours} {linux}");
}

/// Reported: 1.4 of 3.4 Mb/s with QUIC's fixed threshold, and no collapse of the kernel's TCP.
#[test]
fn quic_go_5734_a_fixed_packet_threshold_collapses_and_linux_does_not() {
    let senders = ["unruffled", "linux", "quic+cubic"];
    let [ours, linux, quic] = goodputs("quic-go-5734", &["duration=30 s"], senders);
    assert!(ours > 3.1 && linux > 2.5 && quic < 1.4, "{ours} {linux} {quic}");
    let order = ["duration=10 s", "delayed.fraction=0"];
    let [quic] = goodputs("quic-go-5734", &order, ["quic+cubic"]);
    assert!(quic > 3.0, "{quic}");
}

/// Reported: two lines are worse than one.
#[test]
fn omr_1359_linux_gets_less_from_two_changing_lines_than_from_one() {
    let senders = ["unruffled", "linux"];
    let long = "duration=60 s";
    let [ours, linux] = goodputs("omr-1359", &[long], senders);
    let one = [long, "traffic.flow.weights=[1, 0]"];
    let [ours_one, linux_one] = goodputs("omr-1359", &one, senders);
    assert!(linux < 0.85 * linux_one, "{linux} {linux_one}");
    assert!(ours > 1.15 * ours_one, "{ours} {ours_one}");
}

/// Reported: 90 % of the packets out of order dropped.
#[test]
fn trex_813_room_for_4_ranges_costs_most_of_the_rate() {
    let [ours] = goodputs("trex-813", &["duration=10 s"], ["unruffled"]);
    let [wide] = goodputs("trex-813", &["duration=10 s", "ranges=none"], ["unruffled"]);
    assert!(ours < 10.0 && wide > 85.0, "{ours} {wide}");
}

/// Reported: a smaller window of gVisor's TCP, whose threshold is three duplicates at first.
#[test]
fn coder_13195_batches_that_overtake_cost_three_duplicates_most_of_the_rate() {
    let senders = ["unruffled", "linux", "sack"];
    let [ours, linux, sack] = goodputs("coder-13195", &["duration=3 s"], senders);
    assert!(ours > 900.0 && linux > 900.0 && sack < 250.0, "{ours} {linux} {sack}");
    let by_flow = ["duration=3 s", "vm.workers.by=flow"];
    let [sack] = goodputs("coder-13195", &by_flow, ["sack"]);
    assert!(sack > 700.0, "{sack}");
}

/// Reported: fragments and packets out of order behind the gateway, and little of the rate.
#[test]
fn magma_14578_fragments_on_several_cores_cost_half_of_the_rate() {
    let senders = ["unruffled", "linux", "sack"];
    let [ours, linux, sack] = goodputs("magma-14578", &["duration=20 s"], senders);
    assert!(ours < 75.0 && linux < 75.0 && sack < 10.0, "{ours} {linux} {sack}");
    let whole = ["duration=10 s", "fragments.max_distance=0"];
    let [ours] = goodputs("magma-14578", &whole, ["unruffled"]);
    assert!(ours > 85.0, "{ours}");
}
