//! Rows, traces and recordings of races.

use std::time::{Duration, Instant};

use unruffled_lab::Scenario;
use unruffled_lab::record::RunRow;
use unruffled_race::{
    Competitor, Course, Error, Finished, Length, Recording, Resequence, ResequencerPlace, field,
};

/// Returns a path that is fast enough for short tests, with some keys changed.
fn scenario(changes: &[&str]) -> Scenario {
    path(&[&["bottleneck.queue=100"], changes].concat())
}

/// Returns the path of [`scenario`] with the queue of the file, and some keys changed.
fn path(changes: &[&str]) -> Scenario {
    let quick = ["bottleneck.rate=50Mbit/s", "bottleneck.delay=5ms"];
    let changes: Vec<String> =
        quick.iter().chain(changes).map(|&change| change.to_owned()).collect();
    Scenario::load("in-order", &changes).expect("a scenario")
}

fn ours(scenario: &Scenario, names: &[&str]) -> Vec<Competitor> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let variants = scenario.senders(&names, "test").expect("variants");
    variants.into_iter().map(|v| Competitor::Ours(Box::new(v))).collect()
}

fn kernels(names: &[&str]) -> Vec<Competitor> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    Competitor::kernels(&names).expect("every kernel has these")
}

fn course<'a>(scenario: &'a Scenario, competitors: &'a [Competitor]) -> Course<'a> {
    Course {
        scenario,
        competitors,
        length: Length::Bytes(2_000_000),
        seeds: 1,
        together: false,
        reverse: false,
        sysctls: &[],
        resequence: None,
    }
}

/// Runs the race; returns `None` without the required privileges.
fn run(course: &Course<'_>) -> Option<Finished> {
    record(course, None)
}

fn record(
    course: &Course<'_>,
    recording: Option<&mut Recording<&mut Vec<u8>>>,
) -> Option<Finished> {
    match course.run(recording, |_| ()) {
        Err(Error::Net(lack)) if lack.is_lack() => {
            eprintln!("skipped: {lack}");
            None
        }
        finished => Some(finished.expect("a race")),
    }
}

/// Returns the single row of each competitor.
fn rows(finished: &Finished) -> Vec<&RunRow> {
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    finished.comparison.variants.iter().map(|v| &v.rows[0]).collect()
}

/// Checks that marks reduced the window of every sender, and that nothing was retransmitted.
fn assert_marked_without_loss(finished: &Finished) {
    for row in rows(finished) {
        let ecn = row.flow.ecn.expect("ECN is requested");
        assert!(ecn.marked_segments > 0, "{row:?}");
        assert!(ecn.ecn_reductions != Some(0), "{row:?}");
        assert_eq!(row.flow.sending.retransmits, 0, "{row:?}");
    }
}

#[test]
fn marks_reduce_the_window_of_kernel_and_ours_and_nothing_is_retransmitted() {
    let keys = ["tcp.ecn=true", "bottleneck.queue=400", "bottleneck.mark_above=20"];
    let scenario = path(&keys);
    let competitors = [kernels(&["reno", "cubic"]), ours(&scenario, &["rack+cubic", "sack"])];
    let competitors = competitors.concat();
    let course = Course { length: Length::Bytes(8_000_000), ..course(&scenario, &competitors) };
    let Some(finished) = run(&course) else { return };
    assert_marked_without_loss(&finished);
    // The kernel sends, and our stack echoes the marks.
    let competitors = kernels(&["cubic"]);
    let course = Course { competitors: &competitors, reverse: true, ..course };
    let Some(finished) = run(&course) else { return };
    assert_marked_without_loss(&finished);
}

#[test]
fn kernel_and_ours_send_the_same_octets_over_the_same_path() {
    let scenario = scenario(&["link.bottleneck.loss.fraction=1%"]);
    let competitors = [kernels(&["reno", "cubic"]), ours(&scenario, &["rack", "sack"])].concat();
    let Some(finished) = run(&course(&scenario, &competitors)) else { return };
    let names: Vec<_> = finished.comparison.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["kernel-reno", "kernel-cubic", "rack", "sack"]);
    for row in rows(&finished) {
        assert_eq!(row.flow.delivered_segments, 2_000_000_u64.div_ceil(1460), "{row:?}");
        let sending = &row.flow.sending;
        assert!(sending.retransmits > 0, "{row:?}");
        assert!(
            sending.sent_segments >= row.flow.delivered_segments + sending.retransmits,
            "{row:?}"
        );
        assert!(row.flow.sending.fast_retransmits + row.flow.sending.timeouts > 0, "{row:?}");
        assert!((0.001..0.03).contains(&row.loss_rate), "{row:?}");
        assert!(row.flow.duration_s > 0.3 && row.flow.goodput_bps < 50e6, "{row:?}");
    }
}

#[test]
fn reordering_is_counted_by_both_kinds_of_sender() {
    // The queue takes all of the transfer: nothing is lost, however fast slow start is.
    let scenario = scenario(&[
        "link.bottleneck.alternate.every=10",
        "link.bottleneck.alternate.extra=8ms",
        "bottleneck.queue=10000",
    ]);
    let competitors = [kernels(&["cubic"]), ours(&scenario, &["rr-ta"])].concat();
    let Some(finished) = run(&course(&scenario, &competitors)) else { return };
    for row in rows(&finished) {
        assert!(row.flow.sending.reordering_events > 0, "{row:?}");
        assert!((0.05..0.12).contains(&row.out_of_order_rate), "{row:?}");
        assert_eq!(row.loss_rate, 0.0, "{row:?}");
    }
    // Retransmissions of late packets are spurious, and the receiver reports them.
    let dsacks: u64 = rows(&finished).iter().map(|row| row.flow.sending.dsacks).sum();
    assert!(dsacks > 0);
}

#[test]
fn a_timed_race_ends_at_its_time() {
    let scenario = scenario(&[]);
    let competitors = [kernels(&["reno"]), ours(&scenario, &["sack"])].concat();
    let length = Length::Time(Duration::from_millis(1500));
    let course = Course { length, ..course(&scenario, &competitors) };
    let Some(finished) = run(&course) else { return };
    for (row, variant) in rows(&finished).iter().zip(&finished.comparison.variants) {
        assert_eq!(row.flow.duration_s, 1.5);
        assert!(row.flow.goodput_bps > 10e6 && row.flow.goodput_bps < 50e6, "{row:?}");
        let times: Vec<f64> = variant.trace.delivered.iter().map(|point| point.0).collect();
        assert_eq!(times, [0.0, 0.5, 1.0, 1.5], "half seconds, and the end of the last");
    }
    assert!(
        !finished.comparison.variants[1].trace.cwnd.is_empty(),
        "our sender reports its window"
    );
}

/// The sender is connected, and nothing that it sends arrives.
#[test]
fn a_timed_race_ends_although_no_data_arrives() {
    let scenario = scenario(&[
        "bottleneck.delay=100ms",
        "link.bottleneck.blackout.at=[\"150 ms\"]",
        "link.bottleneck.blackout.length=1000s",
    ]);
    let length = Length::Time(Duration::from_millis(1500));
    for (competitors, reverse) in [(ours(&scenario, &["sack"]), false), (kernels(&["reno"]), true)]
    {
        let course = Course { length, reverse, ..course(&scenario, &competitors) };
        let Some(finished) = run(&course) else { return };
        assert_eq!(rows(&finished)[0].flow.goodput_bps, 0.0);
    }
}

#[test]
fn a_timed_race_ends_although_no_connection_is_established() {
    let scenario = scenario(&["link.bottleneck.loss.fraction=100%"]);
    let length = Length::Time(Duration::from_millis(500));
    let ours = (ours(&scenario, &["sack"]), false);
    for (competitors, reverse) in [ours, (kernels(&["reno"]), false), (kernels(&["reno"]), true)] {
        let course = Course { length, reverse, ..course(&scenario, &competitors) };
        let begun = Instant::now();
        let Some(finished) = run(&course) else { return };
        assert_eq!(rows(&finished)[0].flow.goodput_bps, 0.0);
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    }
}

#[test]
fn the_kernel_sends_to_our_stack() {
    let scenario = scenario(&["link.bottleneck.loss.fraction=1%"]);
    let competitors = kernels(&["reno", "cubic"]);
    let course = Course { reverse: true, ..course(&scenario, &competitors) };
    let Some(finished) = run(&course) else { return };
    for row in rows(&finished) {
        assert!(
            row.flow.sending.retransmits > 0 && row.flow.sending.fast_retransmits > 0,
            "SACK is in use: {row:?}"
        );
    }
    assert!(finished.comparison.notes[0].contains("our stack"));
}

#[test]
fn senders_that_run_together_share_the_path() {
    let scenario = scenario(&[]);
    let competitors = [kernels(&["reno", "cubic"]), ours(&scenario, &["sack"])].concat();
    let length = Length::Time(Duration::from_secs(3));
    let course = Course { together: true, length, ..course(&scenario, &competitors) };
    let Some(finished) = run(&course) else { return };
    let all: f64 = rows(&finished).iter().map(|row| row.flow.goodput_bps).sum();
    assert!((25e6..50e6).contains(&all), "{all}");
    // Each kernel sender has its own counters.
    let sent: Vec<u64> = rows(&finished).iter().map(|row| row.flow.sending.sent_segments).collect();
    assert!(sent.iter().all(|&n| n > 100 && n < 15_000), "{sent:?}");
    let shares = finished.comparison.notes.iter().find(|note| note.starts_with("shares of"));
    assert!(shares.is_some_and(|s| s.contains("kernel-cubic") && s.contains("sack")), "{shares:?}");
}

/// Returns a path over two lines that meet before the last link, with these keys of the traffic.
fn two_lines(delays: [&str; 2], traffic: &str) -> Scenario {
    let [near, far] = delays;
    let text = format!(
        "duration = '5 s'\nvariants = ['sack']\n[tcp]\nmin_rto = '200 ms'\n\
         [topology]\nkind = 'explicit'\n\
         [link.l0]\nfrom = 'a'\nto = 'm0'\nrate = '20 Mbit/s'\ndelay = '{near}'\nqueue = 100\n\
         [link.l1]\nfrom = 'a'\nto = 'm1'\nrate = '20 Mbit/s'\ndelay = '{far}'\nqueue = 100\n\
         [link.e0]\nfrom = 'm0'\nto = 'g'\ndelay = '0 ms'\n\
         [link.e1]\nfrom = 'm1'\nto = 'g'\ndelay = '0 ms'\n\
         [link.last]\nfrom = 'g'\nto = 'b'\ndelay = '1 ms'\n\
         [[traffic]]\nname = 'flow'\nfrom = 'a'\nto = 'b'\nways = ['a m0 g b', 'a m1 g b']\n{traffic}"
    );
    Scenario::parse("test", &text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the shares of the two ways in the notes of a race, in per cent.
fn shares_of_ways(finished: &Finished) -> Vec<f64> {
    let notes = &finished.comparison.notes;
    let note = notes.iter().find_map(|note| note.strip_prefix("packets of data: "));
    let note = note.unwrap_or_else(|| panic!("no shares of the ways in {notes:?}"));
    assert!(note.ends_with(" % by a m1 g b"), "{note}");
    let shares = note.split(", ").filter_map(|share| share.split(' ').next()?.parse().ok());
    shares.collect()
}

#[test]
fn packets_are_spread_over_the_ways_by_their_weights() {
    for (traffic, tolerance) in [
        ("weights = [3, 1]\n", 0.1),
        ("weights = [3, 1]\nspread = 'runs'\n", 0.3),
        // 1500 packets at random have a standard deviation of 1.1 %.
        ("weights = [3, 1]\nspread = 'random'\n", 5.0),
    ] {
        let scenario = two_lines(["5 ms", "5 ms"], traffic);
        let competitors = [kernels(&["cubic"]), ours(&scenario, &["rack"])].concat();
        let course = Course { length: Length::Bytes(1_000_000), ..course(&scenario, &competitors) };
        let Some(finished) = run(&course) else { return };
        let shares = shares_of_ways(&finished);
        assert!((shares[0] - 75.0).abs() <= tolerance && shares.len() == 2, "{traffic}{shares:?}");
        assert!(finished.comparison.scenario_toml.contains("a m1 g b"), "the command repeats it");
    }
}

/// Each group has its own way, and both lines are in use.
#[test]
fn senders_that_run_together_take_the_ways_of_their_groups() {
    let mut scenario = two_lines(["5 ms", "5 ms"], "");
    let mut other = scenario.traffic[0].clone();
    scenario.traffic[0].ways.truncate(1);
    other.name = "other".to_owned();
    other.ways.remove(0);
    other.sender = Some("rack".to_owned());
    scenario.traffic.push(other);
    let competitors = field("test", &scenario, kernels(&["cubic"])).expect("can be raced");
    let length = Length::Time(Duration::from_secs(2));
    let course = Course { together: true, length, ..course(&scenario, &competitors) };
    let Some(finished) = run(&course) else { return };
    let shares = shares_of_ways(&finished);
    assert!(shares.iter().all(|share| *share > 25.0), "{shares:?}");
    // More than the 20 Mb/s of one line.
    let all: f64 = rows(&finished).iter().map(|row| row.flow.goodput_bps).sum();
    assert!(all > 22e6, "{all}");
}

/// The far line takes 40 ms longer. Without the gateway, the kernel takes late packets for lost.
#[test]
fn a_gateway_behind_the_node_where_two_lines_meet_restores_order() {
    let mut scenario = two_lines(["5 ms", "45 ms"], "");
    let competitors = kernels(&["reno"]);
    let mut retransmissions = |resequence| {
        // Without losses by full queues.
        scenario.network.links[..2].iter_mut().for_each(|link| link.link.queue = None);
        scenario.network.links[4].resequence = resequence;
        let course = Course { length: Length::Bytes(2_000_000), ..course(&scenario, &competitors) };
        let finished = run(&course)?;
        Some(rows(&finished)[0].flow.sending.retransmits)
    };
    let Some(without) = retransmissions(None) else { return };
    let Some(with) = retransmissions(Some(unruffled_resequence::Config::default())) else { return };
    assert!(without > 100 && with < without / 4, "{with} with a gateway, {without} without");
}

#[test]
fn segments_too_small_for_ipv6_cross_the_path() {
    let scenario = scenario(&["tcp.mss=960 B"]);
    let competitors = [kernels(&["reno"]), ours(&scenario, &["sack"])].concat();
    let Some(finished) = run(&course(&scenario, &competitors)) else { return };
    for row in rows(&finished) {
        assert_eq!(row.flow.delivered_segments, 2_000_000_u64.div_ceil(960), "{row:?}");
    }
}

#[test]
fn kernels_that_run_together_reach_our_stack() {
    let scenario = scenario(&[]);
    let competitors = [kernels(&["reno", "cubic"]), kernels(&["reno"])].concat();
    let length = Length::Time(Duration::from_secs(1));
    let course =
        Course { together: true, reverse: true, length, ..course(&scenario, &competitors) };
    let Some(finished) = run(&course) else { return };
    for row in rows(&finished) {
        assert!(row.flow.delivered_segments > 10, "{row:?}");
    }
}

#[test]
fn a_recording_has_an_interface_for_each_heat() {
    let scenario = scenario(&[]);
    let competitors = [kernels(&["reno"]), ours(&scenario, &["sack"])].concat();
    let mut file = Vec::new();
    let mut recording = Recording::new(&mut file).expect("memory takes every write");
    let course = Course { length: Length::Bytes(50_000), ..course(&scenario, &competitors) };
    let Some(_) = record(&course, Some(&mut recording)) else { return };
    recording.finish().expect("memory takes every write");
    let holds = |name: &[u8]| file.windows(name.len()).any(|window| window == name);
    assert!(holds(b"kernel-reno") && holds(b"sack"));
    assert!(file.len() > 100_000, "both transfers, whole packets: {}", file.len());
}

#[test]
fn a_congestion_control_that_the_kernel_lacks_is_refused() {
    let error = Competitor::kernels(&["tortoise".to_owned()]).expect_err("no kernel has it");
    assert!(error.to_string().starts_with("--kernel tortoise: not in this kernel: expected "));
}

/// The kernel's name of the second has an underscore, since BPF allows no plus.
#[test]
fn the_congestion_controls_that_a_race_loads_have_two_names_each() {
    let named = |names: &[&str]| {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        Competitor::kernels(&names).map(|all| all.iter().map(Competitor::name).collect::<Vec<_>>())
    };
    let expected = ["kernel-unruffled", "kernel-unruffled+bbr"];
    assert_eq!(named(&["unruffled", "unruffled+bbr"]).expect("a race loads them"), expected);
    assert_eq!(named(&["unruffled", " unruffled_bbr"]).expect("a race loads them"), expected);
    let twice = named(&["unruffled+bbr", "unruffled_bbr"]).expect_err("it is the same");
    assert_eq!(twice.to_string(), "--kernel: unruffled+bbr stands twice: expected each once");
    let error = named(&["unruffled+bbr2"]).expect_err("no race loads it").to_string();
    assert!(error.contains("unruffled+bbr"), "{error}");
}

/// Compares medians of three races, because a machine that stalls for longer than the kernel's
/// timeout makes any sender retransmit.
#[test]
fn a_resequencer_before_the_receiver_spares_the_kernel_retransmissions() {
    let scenario = scenario(&["queue=5000", "alternate.every=2", "alternate.extra=20ms"]);
    let mut competitors = kernels(&["reno"]);
    competitors.push(Competitor::Resequenced("reno".to_owned()));
    for (place, warm) in [(ResequencerPlace::Receiver, true), (ResequencerPlace::Gateway, false)] {
        let resequence = Some(Resequence { place, warm });
        let length = Length::Bytes(5_000_000);
        let course = Course { resequence, length, seeds: 3, ..course(&scenario, &competitors) };
        let finished = match course.run(None::<&mut Recording<Vec<u8>>>, |_| ()) {
            Err(Error::Net(lack)) if lack.is_lack() => return eprintln!("skipped: {lack}"),
            Err(Error::Resequencer(lack)) if lack.is_lack() => return eprintln!("skipped: {lack}"),
            finished => finished.expect("a race"),
        };
        assert!(finished.failures.is_empty(), "{:?}", finished.failures);
        let [without, with] = finished.comparison.variants.as_slice() else {
            panic!("expected two competitors: {:?}", finished.comparison.variants)
        };
        assert_eq!(with.rows[0].variant, "kernel-reno+resequence");
        let (without, with) = (retransmissions(&without.rows), retransmissions(&with.rows));
        assert!(without[1] > 200, "{place:?}: {without:?}");
        assert!(with[1] < without[1] / 4, "{place:?}: {with:?} against {without:?}");
        let note = finished.comparison.notes.last().expect("counts of the resequencer");
        assert!(note.starts_with("kernel-reno+resequence: "), "{note}");
    }
}

/// Returns the retransmissions of each race, in ascending order.
fn retransmissions(rows: &[RunRow]) -> Vec<u64> {
    let mut all: Vec<_> = rows.iter().map(|row| row.flow.sending.retransmits).collect();
    all.sort_unstable();
    all
}
