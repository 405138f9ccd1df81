//! Claims about races against this machine's kernel: `make claims`, as root, an hour and a quarter on an
//! idle machine. Ordinary test runs leave them out, since they depend on real time.

use std::time::Duration;

use unruffled_lab::Scenario;
use unruffled_lab::summary::summaries;
use unruffled_race::{Competitor, Course, Length, Recording};

/// Runs a race and returns mean goodputs in Mb/s, the kernel's first.
fn race(
    scenario: &str,
    kernel: &str,
    variants: &[&str],
    set: impl FnOnce(&mut Course<'_>),
) -> Vec<(String, f64)> {
    race_over(scenario, &[], &[kernel], variants, set)
}

/// [`race`] with keys of the scenario replaced, and several congestion controls of the kernel.
fn race_over(
    scenario: &str,
    changes: &[&str],
    kernels: &[&str],
    variants: &[&str],
    set: impl FnOnce(&mut Course<'_>),
) -> Vec<(String, f64)> {
    let strings = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let scenario = Scenario::load(scenario, &strings(changes)).expect("is built in");
    let names: Vec<String> = variants.iter().map(|&name| name.to_owned()).collect();
    let ours = scenario.senders(&names, "test").expect("variants");
    let mut all = Competitor::kernels(&strings(kernels)).expect("the kernel has it");
    all.extend(ours.into_iter().map(|v| Competitor::Ours(Box::new(v))));
    let mut course = Course {
        scenario: &scenario,
        competitors: &all,
        length: Length::Time(Duration::from_secs(30)),
        seeds: 1,
        together: false,
        reverse: false,
        sysctls: &[],
        resequence: None,
    };
    set(&mut course);
    let finished = course.run(None::<&mut Recording<Vec<u8>>>, |_| ()).expect("a race, as root");
    assert!(finished.failures.is_empty(), "{:?}", finished.failures);
    assert!(!finished.lateness.is_intolerable(), "the machine could not keep up");
    let summaries = summaries(&finished.comparison);
    let results: Vec<_> =
        summaries.iter().map(|s| (s.variant.to_owned(), s.goodput_bps.mean / 1e6)).collect();
    println!("{}: {results:.2?}", finished.comparison.scenario);
    results
}

/// Checks that the best of our senders delivers 8 Mb/s of 10 where CUBIC collapses.
fn best_delivers_8(scenario: &str, variants: &[&str]) {
    let results = race(scenario, "cubic", variants, |_| ());
    assert!(results[0].1 < 3.0, "{results:?}");
    assert!(results[1..].iter().any(|(_, mbps)| *mbps >= 8.0), "{results:?}");
}

#[test]
#[ignore = "a minute and a half of real time"]
fn every_second_packet_late() {
    best_delivers_8("half-late", &["tcp-pr-sack", "linux-reordering+cubic"]);
}

#[test]
#[ignore = "a minute of real time"]
fn few_packets_very_late() {
    best_delivers_8("few-late", &["tcp-pr-sack"]);
}

#[test]
#[ignore = "three minutes of real time"]
fn in_order_ours_are_as_fast_as_the_kernels_reno() {
    let ours = ["sack", "rack", "rr-ta", "avg-dev", "dcr-ack"];
    let results = race("in-order", "reno", &ours, |_| ());
    let reno = results[0].1;
    for (name, mbps) in &results[1..] {
        assert!((mbps / reno - 1.0).abs() <= 0.05, "{name}: {mbps:.2}, Reno {reno:.2}");
    }
}

/// Eight seeds, since the share of a single minute has a standard deviation of up to ten points.
#[test]
#[ignore = "sixteen minutes of real time"]
fn with_the_same_congestion_control_a_path_is_shared() {
    for (kernel, ours) in [("reno", "rr-ta"), ("cubic", "rr-ta+cubic")] {
        let results = race("in-order", kernel, &[ours], |course| {
            course.together = true;
            course.seeds = 8;
            course.length = Length::Time(Duration::from_secs(60));
        });
        let share = results[1].1 / (results[0].1 + results[1].1);
        assert!((0.4..=0.6).contains(&share), "{ours} takes {share:.2} beside {kernel}");
    }
}

/// Returns the goodput of CUBIC and of `unruffled attach` over a path, three seeds.
fn kernels(scenario: &str, changes: &[&str]) -> (f64, f64) {
    let results =
        race_over(scenario, changes, &["cubic", "unruffled"], &[], |course| course.seeds = 3);
    (results[0].1, results[1].1)
}

#[test]
#[ignore = "seven minutes of real time"]
fn the_kernel_unruffled_keeps_its_speed() {
    let (cubic, unruffled) = kernels("in-order", &[]);
    assert!((unruffled / cubic - 1.0).abs() <= 0.01, "in order: {unruffled:.2}, CUBIC {cubic:.2}");
    let (_, unruffled) = kernels("half-late", &[]);
    assert!(unruffled >= 8.5, "half-late: {unruffled:.2}");
    let (_, unruffled) = kernels("few-late", &[]);
    assert!(unruffled >= 9.0, "few-late: {unruffled:.2}");
}

#[test]
#[ignore = "four minutes of real time"]
fn the_kernel_unruffled_keeps_its_speed_on_faster_paths() {
    for [rate, queue] in [["40Mbit/s", "70"], ["100Mbit/s", "170"]] {
        let path = [
            &format!("bottleneck.rate={rate}"),
            "bottleneck.delay=10ms",
            &format!("bottleneck.queue={queue}"),
        ];
        let late = [&path[..], &["alternate.extra=40ms"]].concat();
        let in_order = race_over("in-order", &path, &["cubic"], &[], |_| ())[0].1;
        let unruffled = race_over("half-late", &late, &["unruffled"], &[], |c| c.seeds = 3)[0].1;
        assert!(
            unruffled >= 0.9 * in_order,
            "{rate}: {unruffled:.2}, CUBIC in order {in_order:.2}"
        );
    }
}

/// Every late packet is five round trips late, so that it would always be sent again before it arrives.
#[test]
#[ignore = "a minute and a half of real time"]
fn the_kernel_unruffled_learns_a_lateness_of_many_round_trips() {
    let changes = ["bottleneck.delay=10ms", "alternate.extra=100ms"];
    let unruffled = race_over("half-late", &changes, &["unruffled"], &[], |c| c.seeds = 3)[0].1;
    assert!(unruffled >= 7.5, "{unruffled:.2}");
}

/// Nothing passes for five seconds. The timers of both double from their values in order, so both recover
/// at the same time, except that the larger window which late packets need is reduced.
#[test]
#[ignore = "six minutes of real time"]
fn the_kernel_unruffled_is_back_as_soon_as_cubic_after_an_outage() {
    let outage = ["link.bottleneck.blackout.at=10s", "link.bottleneck.blackout.length=5s"];
    let (cubic, unruffled) = kernels("in-order", &outage);
    assert!(unruffled >= 0.98 * cubic, "in order {unruffled:.2}, CUBIC {cubic:.2}");
    for (scenario, share) in [("few-late", 0.94), ("half-late", 0.82)] {
        let mbps = race_over(scenario, &outage, &["unruffled"], &[], |c| c.seeds = 3)[0].1;
        assert!(mbps >= share * cubic, "{scenario} {mbps:.2}, CUBIC in order {cubic:.2}");
    }
}

/// Returns the share of `one` on an in-order path in per cent, when it starts first and when it starts
/// second: 60 s, five seeds. The second sender is in a network behind the first one's and gets less even
/// if both are CUBIC.
fn shared(one: &str, other: &str) -> [f64; 2] {
    [[one, other], [other, one]].map(|order| {
        let results = race_over("in-order", &[], &order, &[], |course| {
            course.together = true;
            course.seeds = 5;
            course.length = Length::Time(Duration::from_secs(60));
        });
        let (first, second) = (results[0].1, results[1].1);
        100.0 * if order[0] == one { first } else { second } / (first + second)
    })
}

#[test]
#[ignore = "fifteen minutes of real time"]
fn the_kernel_unruffled_takes_no_more_than_its_share() {
    let [first, second] = shared("unruffled", "cubic");
    let share = (first + second) / 2.0;
    assert!((45.0..=55.0).contains(&share), "{share:.1} %: {first:.1} and {second:.1}");
    let [share, _] = shared("unruffled", "unruffled");
    assert!((40.0..=60.0).contains(&share), "{share:.1} %");
}

/// Checks that goodput under random loss in order, a minute each, is within 10 % of CUBIC's, and returns
/// CUBIC's.
fn cubic_under_loss(percent: &str) -> f64 {
    let both = race_over("in-order", &[&loss(percent)], &["cubic", "unruffled"], &[], minutes);
    let (cubic, unruffled) = (both[0].1, both[1].1);
    let ratio = unruffled / cubic;
    assert!((0.9..=1.1).contains(&ratio), "{percent} %: {unruffled:.2}, CUBIC {cubic:.2}");
    cubic
}

/// Checks that goodput under loss and reordering is at most 10 % above CUBIC's with that loss in order.
fn no_more_under_loss(percent: &str) {
    let (cubic, loss) = (cubic_under_loss(percent), loss(percent));
    let near = ["delayed.fraction=10%", "delayed.mean=25ms", "delayed.deviation=8ms"];
    for (scenario, more) in [("half-late", &[][..]), ("few-late", &[]), ("few-late", &near)] {
        let path = [&[&*loss], more].concat();
        let late = race_over(scenario, &path, &["unruffled"], &[], minutes)[0].1;
        assert!(late <= 1.1 * cubic, "{percent} %, {scenario}: {late:.2}, CUBIC {cubic:.2}");
    }
}

fn loss(percent: &str) -> String {
    format!("link.bottleneck.loss.fraction={percent}%")
}

fn minutes(course: &mut Course<'_>) {
    course.seeds = 6;
    course.length = Length::Time(Duration::from_secs(60));
}

#[test]
#[ignore = "twenty-four minutes of real time"]
fn the_kernel_unruffled_takes_losses_as_seriously_as_cubic() {
    cubic_under_loss("0.1");
    cubic_under_loss("2");
}

#[test]
#[ignore = "half an hour of real time"]
fn the_kernel_unruffled_gains_nothing_by_reordering_where_half_a_percent_is_lost() {
    no_more_under_loss("0.5");
}

#[test]
#[ignore = "half an hour of real time"]
fn the_kernel_unruffled_gains_nothing_by_reordering_where_one_percent_is_lost() {
    no_more_under_loss("1");
}

#[test]
#[ignore = "ten minutes of real time"]
fn short_flows_under_the_kernel_unruffled_end_in_time() {
    // Duration in relation to CUBIC's, from the mean goodput of the seeds.
    let time = |scenario: &str, octets: u64| {
        let both = race_over(scenario, &[], &["cubic", "unruffled"], &[], |course| {
            course.seeds = 8;
            course.length = Length::Bytes(octets);
        });
        both[0].1 / both[1].1
    };
    for octets in [100_000, 1_000_000] {
        let ratio = time("in-order", octets);
        assert!((0.98..=1.02).contains(&ratio), "{octets} in order: {ratio:.3}");
        let ratio = time("half-late", octets);
        assert!(ratio <= 0.5, "{octets}, half-late: {ratio:.2}");
    }
    // 100 kB over few-late is left out: half of CUBIC's time is less than the transfer takes in order.
    let ratio = time("few-late", 1_000_000);
    assert!(ratio <= 0.5, "few-late: {ratio:.2}");
}

/// The least goodput of `unruffled attach --growth bbr` in Mb/s, where packets are late and lost.
#[test]
#[ignore = "fifteen minutes of real time"]
fn growth_by_bbr_tolerates_lateness_and_losses() {
    for (scenario, percent, least) in [
        ("half-late", "0", 8.5),
        ("half-late", "1", 8.0),
        ("half-late", "2", 7.5),
        ("few-late", "0", 9.0),
        ("few-late", "1", 8.5),
        ("few-late", "2", 8.0),
    ] {
        let lossy = loss(percent);
        let mbps = race_over(scenario, &[&lossy], &["unruffled+bbr"], &[], |c| c.seeds = 5)[0].1;
        assert!(mbps >= least, "{scenario}, {percent} % lost: {mbps:.2}, expected {least}");
    }
}

#[test]
#[ignore = "four minutes of real time"]
fn in_order_growth_by_bbr_is_the_kernels_bbr() {
    for percent in ["0", "1"] {
        let kernels = ["bbr", "unruffled+bbr"];
        let results = race_over("in-order", &[&loss(percent)], &kernels, &[], |c| c.seeds = 2);
        assert!((results[1].1 / results[0].1 - 1.0).abs() <= 0.05, "{percent} %: {results:?}");
    }
}
