//! Several flows over networks: the records of a run agree with the traffic of the scenario.

use unruffled_capture::{Analyzer, Limits, Source, read};
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::run::{record, record_flows};
use unruffled_measure::{FlowRecord, RunRecord, jain};
use unruffled_sim::Simulation;
use unruffled_tcp::Variant;

fn run(text: &str, overrides: &[&str]) -> RunRecord {
    let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
    let scenario = Scenario::parse("test", text, &overrides).expect("a good scenario");
    let sack = Variant::named("sack").expect("is in the table");
    record(&scenario, &sack, 1, None, never()).expect("a loaded scenario runs")
}

const DUMBBELL: &str = r#"
duration = "60 s"
warmup = "10 s"
variants = ["sack"]
[tcp]
mss = "1000 B"
[topology]
kind = "dumbbell"
[link.source]
rate = "100 Mbit/s"
delay = "1 ms"
[link.sink]
rate = "100 Mbit/s"
delay = "1 ms"
[link.bottleneck]
rate = "8 Mbit/s"
delay = "20 ms"
queue = 40
[[traffic]]
name = "bulk"
count = 4
until = "1 s"
"#;

#[test]
fn counting_links_does_not_change_what_flows_count() {
    let late = ["fraction=10 %", "mean=25 ms", "deviation=8 ms"]
        .map(|set| format!("link.bottleneck.delayed.{set}"));
    let late: Vec<&str> = late.iter().map(String::as_str).collect();
    let drops = ["traffic.bulk.count=40", "link.bottleneck.queue=5"];
    let sack = Variant::named("sack").expect("is in the table");
    for set in [&[][..], &late, &drops] {
        let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
        let scenario = Scenario::parse("test", DUMBBELL, &set).expect("a good scenario");
        let all = record(&scenario, &sack, 1, None, never()).expect("a loaded scenario runs");
        let flows = record_flows(&scenario, &sack, 1, None, never()).expect("it runs again");
        assert!(all.link("bottleneck").expect("is measured").offered_packets > 10_000);
        assert_eq!(flows, RunRecord { links: Vec::new(), ..all }, "{set:?}");
    }
}

#[test]
fn flows_share_a_bottleneck_and_fill_it() {
    let record = run(DUMBBELL, &[]);
    let goodputs: Vec<f64> = record.flows.iter().map(|flow| flow.goodput_bps).collect();
    assert_eq!(goodputs.len(), 4);
    // 1000 of 1040 octets are payload.
    let total: f64 = goodputs.iter().sum();
    assert!((total / (8e6 * 1000.0 / 1040.0) - 1.0).abs() < 0.01, "{total}");
    assert!(jain(goodputs.iter().copied()) > 0.95, "{goodputs:?}");
    let link = record.link("bottleneck").expect("is measured");
    assert!(link.utilisation.expect("has a rate") > 0.99);
    assert!(link.queue_mean > 5.0 && link.queue_mean < 40.0, "{}", link.queue_mean);
    // The queue is the only place where anything is dropped.
    let dropped: u64 = record.flows.iter().map(|flow| flow.path.dropped_segments).sum();
    assert!(dropped > 0 && link.dropped_packets.abs_diff(dropped) <= 1, "{dropped}, {link:?}");
    assert!(record.link("source").is_none(), "copies of access links are not measured");
}

#[test]
fn flows_that_share_a_queue_that_marks_lose_nothing() {
    let marks = ["tcp.ecn=true", "link.bottleneck.mark_above=20", "link.bottleneck.queue=400"];
    let record = run(DUMBBELL, &marks);
    let link = record.link("bottleneck").expect("is measured");
    assert!(link.marked_packets > 0 && link.dropped_packets == 0, "{link:?}");
    assert!(link.queue_mean < 30.0, "{link:?}");
    let mut marked = 0;
    for flow in &record.flows {
        let ecn = flow.ecn.expect("requests ECN");
        marked += ecn.marked_segments;
        // At least one mark for each reduction, and at most a window of them.
        let reductions = ecn.ecn_reductions.expect("is ours");
        assert!(reductions > 0 && reductions <= ecn.marked_segments, "{ecn:?}");
        assert_eq!((flow.sending.retransmits, flow.sending.timeouts), (0, 0), "{flow:?}");
    }
    assert!(marked.abs_diff(link.marked_packets) <= 1, "{marked}, {link:?}");
    // Without ECN at the ends the queue marks nothing, and drops.
    let record = run(DUMBBELL, &["link.bottleneck.mark_above=20"]);
    let link = record.link("bottleneck").expect("is measured");
    assert!(link.marked_packets == 0 && link.dropped_packets > 0, "{link:?}");
    assert!(record.flows.iter().all(|flow| flow.ecn.is_none()));
}

#[test]
fn data_flows_both_ways_over_a_link_and_losses_of_data_affect_only_data() {
    let both = DUMBBELL.to_owned()
        + r#"
[link.bottleneck.loss]
fraction = "1 %"
[[traffic]]
name = "back"
from = "r2"
to = "r1"
count = 4
"#;
    let record = run(&both, &[]);
    for link in ["bottleneck", "bottleneck-reverse"] {
        let link = record.link(link).expect("is measured");
        // Each direction carries as many acknowledgements as the other carries data.
        let data = link.sent_bytes as f64 / 1040.0;
        assert!(link.offered_packets as f64 > 1.5 * data, "{link:?}");
        let lost = link.lost_packets as f64 / data;
        assert!((0.007..0.013).contains(&lost), "{lost}");
    }
}

#[test]
fn web_sources_open_and_close_a_connection_for_each_transfer() {
    let web = DUMBBELL.replace(
        "name = \"bulk\"",
        "name = \"web\"\napp = \"web\"\nsize = \"10 kB\"\npause.distribution = \"constant\"\npause.value = \"1 s\"",
    );
    let record = run(&web, &[]);
    for flow in &record.flows {
        let &FlowRecord { transfers, connections, delivered_bytes, .. } = flow;
        // Each transfer takes a pause of one second and a few round trips.
        assert!((40..50).contains(&transfers), "{transfers} transfers");
        assert!(connections >= transfers);
        assert!(delivered_bytes.abs_diff(transfers * 10_000) <= 10_000, "{flow:?}");
        let time = flow.transfer_mean_s.expect("has transfers");
        assert!((0.05..0.5).contains(&time), "{time}");
    }
}

#[test]
fn requests_do_not_wait_for_the_delivery_of_earlier_ones() {
    let requests = DUMBBELL.replace(
        "name = \"bulk\"",
        "name = \"client\"\napp = \"requests\"\nsize = \"10 kB\"\nevery.distribution = \"constant\"\nevery.value = \"1 s\"",
    );
    for flow in &run(&requests, &[]).flows {
        // 50 s of 10 kB each, all on the one connection.
        assert_eq!((flow.connections, flow.delivered_bytes), (1, 500_000), "{flow:?}");
    }
    // Four clients request 40 kB/s in total over a link of 25 kB/s, which is always busy.
    let slow = run(&requests, &["link.bottleneck.rate=208 kbit/s"]);
    let total: f64 = slow.flows.iter().map(|flow| flow.goodput_bps).sum();
    assert!((total / 200e3 - 1.0).abs() < 0.05, "{total}");
}

#[test]
fn an_application_that_stops_leaves_the_link_to_the_others() {
    let text = DUMBBELL.to_owned() + "[[traffic]]\nname = \"stops\"\nstop = \"30 s\"\n";
    let record = run(&text, &["record.series=goodput", "record.interval=10 s"]);
    let series = record.series.iter().find(|s| s.subject == "stops-1").expect("is recorded");
    let at = |s: f64| series.points.iter().find(|(t, _)| *t == s).expect("has the point").1;
    assert!(at(20.0) > 1e6 && at(30.0) > 1e6, "{series:?}");
    assert!(at(40.0) < 1e5 && at(50.0) == 0.0, "{series:?}");
}

#[test]
fn datagrams_are_sent_at_a_constant_rate_despite_losses() {
    let text = DUMBBELL.to_owned()
        + "[[traffic]]\nname = \"udp\"\napp = \"udp\"\nsize = \"500 B\"\ninterval = \"10 ms\"\n";
    let record = run(&text, &[]);
    let udp = record.group("udp").next().expect("is there");
    assert_eq!(
        udp.sending.sent_segments, 5_001,
        "100 a second for 50 s, the first and the last instant"
    );
    assert_eq!(udp.sender, "udp");
    assert!(udp.path.arrived_segments + udp.path.dropped_segments >= 4_990, "{udp:?}");
    assert!(udp.path.dropped_segments > 0, "the others fill the queue");
}

/// Two ways from s to d; the first one carries three of four packets.
const TWO_WAYS: &str = r#"
duration = "20 s"
variants = ["sack"]
[topology]
kind = "explicit"
[link.a]
from = "s"
to = "d"
rate = "10 Mbit/s"
delay = "10 ms"
[link.b]
from = "s"
to = "m"
rate = "10 Mbit/s"
delay = "20 ms"
[link.c]
from = "m"
to = "d"
delay = "20 ms"
[[traffic]]
name = "bulk"
from = "s"
to = "d"
ways = ["s d", "s m d"]
weights = [3, 1]
"#;

#[test]
fn packets_are_spread_over_ways_and_arrive_out_of_order() {
    let record = run(TWO_WAYS, &[]);
    let packets = |link: &str| record.link(link).expect("is measured").offered_packets as f64;
    assert!((packets("a") / packets("b") - 3.0).abs() < 0.05);
    assert!(packets("c") <= packets("b"));
    assert!(packets("c-reverse") == 0.0, "acknowledgements take the first way back");
    let flow = &record.flows[0];
    assert!(flow.path.out_of_order_segments > flow.path.arrived_segments / 10, "{flow:?}");
}

#[test]
fn the_same_seed_gives_the_same_record_and_another_a_different_one() {
    let scenario = Scenario::parse("test", DUMBBELL, &[]).expect("a good scenario");
    let sack = Variant::named("sack").expect("is in the table");
    let with = |seed| record(&scenario, &sack, seed, None, never()).expect("runs");
    assert_eq!(with(1), with(1));
    assert_ne!(with(1), with(2), "starts are drawn");
}

/// Returns a scenario with one link of 8 Mbit/s and 10 ms, and this traffic.
fn line(link: &str, traffic: &str) -> String {
    format!(
        "duration = \"20 s\"\nvariants = [\"sack\"]\n[tcp]\nmss = \"1000 B\"\nheader = \"0 B\"\n\
         [path]\nhops = [\"line\"]\n[link.line]\nrate = \"8 Mbit/s\"\ndelay = \"10 ms\"\n{link}\n\
         {traffic}"
    )
}

#[test]
fn a_source_that_stops_does_not_complete_its_transfer() {
    for app in [
        "bytes = \"100 MB\"",
        "app = \"on-off\"\nsize = \"100 MB\"\npause.distribution = \"constant\"\npause.value = \"0 s\"",
        "app = \"web\"\nsize = \"100 MB\"\npause.distribution = \"constant\"\npause.value = \"0 s\"",
        "",
    ] {
        let stops = format!("[[traffic]]\nname = \"a\"\nstop = \"1 s\"\n{app}\n");
        let record = run(&line("queue = 20", &stops), &[]);
        // At most the segments of one second, a window, and the data that was written but not sent.
        let delivered = record.flows[0].delivered_segments;
        assert!((500..1100).contains(&delivered), "{delivered} with {app:?}");
        assert_eq!(record.flows[0].transfers, 0);
    }
}

/// The sequence number of the FIN is that of the octet that was not written.
#[test]
fn a_transfer_that_lacks_its_last_octet_is_measured_to_the_end() {
    for (bytes, seconds) in [("16 kB", 0.0..1.0), ("16001 B", 20.0..20.1)] {
        let stops = format!("[[traffic]]\nname = \"a\"\nstop = \"30 ms\"\nbytes = \"{bytes}\"\n");
        let flow = run(&line("", &stops), &[]).flows.remove(0);
        assert_eq!(flow.delivered_bytes, 16_000);
        assert!(seconds.contains(&flow.duration_s), "{bytes}: {} s", flow.duration_s);
    }
}

#[test]
fn a_source_that_stops_in_a_pause_does_not_stop_other_sources() {
    let web = |name: &str, stop: &str, size: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\ncount = 50\napp = \"web\"\nsize = \"{size}\"\n\
             pause.distribution = \"exponential\"\npause.mean = \"50 ms\"\nstop = \"{stop}\"\n"
        )
    };
    let both = [web("first", "5 s", "2 kB"), web("later", "19 s", "100 kB")].concat();
    let record = run(&line("", &both), &["link.line.rate=1 Gbit/s"]);
    // Without the other group, each makes more than 130 transfers in 19 s.
    let fewest = record.group("later").map(|flow| flow.transfers).min();
    assert!(fewest > Some(100), "{fewest:?}");
}

#[test]
fn packets_that_a_link_resends_occupy_it_and_can_be_lost() {
    let udp = "[[traffic]]\nname = \"a\"\napp = \"udp\"\nsize = \"1000 B\"\ninterval = \"8 ms\"\n\
               stop = \"19 s\"\n";
    let resend = "resend.errors = 0.5\nresend.after = \"1 ms\"";
    let record = run(&line(resend, udp), &[]);
    let link = record.link("line").expect("is measured");
    let sent = record.flows[0].sending;
    // A packet takes an eighth of the interval and is sent twice on average, during 19 of 20 s.
    let utilisation = link.utilisation.expect("has a rate");
    assert!((0.225..0.25).contains(&utilisation), "{utilisation}");
    assert_eq!(link.offered_packets, sent.sent_segments);
    let once = run(&line(&format!("{resend}\nresend.attempts = 1"), udp), &[]);
    let lost = once.link("line").expect("is measured").lost_packets;
    assert_eq!(lost, once.flows[0].path.dropped_segments);
    assert!(lost > 400, "a quarter of 2500: {lost}");
}

#[test]
fn a_fin_without_data_is_not_counted_and_a_transfer_begins_with_its_request() {
    let ten = "[[traffic]]\nname = \"a\"\nbytes = \"10 kB\"\n";
    let flow = run(&line("", ten), &[]).flows.remove(0);
    assert_eq!((flow.sending.sent_segments, flow.path.arrived_segments), (10, 10));
    let on_off = "[[traffic]]\nname = \"a\"\napp = \"on-off\"\nsize = \"10 kB\"\n\
                  pause.distribution = \"constant\"\npause.value = \"1 s\"\n";
    let flow = run(&line("", on_off), &[]).flows.remove(0);
    // Ten segments of 1 ms each, and a delay of 10 ms.
    let mean = flow.transfer_mean_s.expect("some are complete");
    assert!(flow.transfers > 15 && (0.015..0.025).contains(&mean), "{mean}");
}

#[test]
fn a_run_without_further_events_ends_at_once() {
    let ten = "[[traffic]]\nname = \"a\"\nbytes = \"10 kB\"\n";
    let record = run(&line("", ten), &["duration=1000000000 s"]);
    assert_eq!(record.flows[0].delivered_segments, 10);
    // Time between events that are years apart is skipped, too.
    let late = "[[traffic]]\nname = \"a\"\nbytes = \"10 kB\"\nstart = \"9999999999 s\"\n";
    let record = run(&line("", late), &["duration=10000000000 s"]);
    assert_eq!(record.flows[0].delivered_segments, 10);
}

#[test]
fn only_the_ratio_of_weights_matters() {
    let udp = ["traffic.bulk.app=udp", "traffic.bulk.size=1 kB", "traffic.bulk.interval=2 ms"];
    let small = [udp.as_slice(), &["traffic.bulk.weights=[3e-15, 1e-15]"]].concat();
    let record = run(TWO_WAYS, &small);
    let offered = |name| record.link(name).expect("is measured").offered_packets;
    assert_eq!((offered("a"), offered("b")), (7500, 2500));
}

#[test]
fn packets_of_an_earlier_connection_are_not_late_in_the_next_one() {
    let web = "[[traffic]]\nname = \"a\"\ncount = 10\napp = \"web\"\nsize = \"20 kB\"\n\
               pause.distribution = \"constant\"\npause.value = \"0 s\"\n";
    // Only acknowledgements are lost and data stays in order, so only retransmissions are late.
    let lossy = "loss.fraction = 0.3\nloss.packets = \"acks\"";
    let record = run(&line(lossy, web), &["record.deliveries=true"]);
    for flow in &record.flows {
        let late = flow.path.out_of_order_segments;
        let resent = flow.sending.retransmits;
        assert!(late <= resent, "{late} late, {resent} sent again");
        // No segment was retransmitted before it arrived.
        assert_eq!(flow.resent_delivery_mean_s, None);
    }
}

/// Over a link without a rate, packets that are sent at the same instant arrive at the same instant.
#[test]
fn duplicates_do_not_overtake_packets_that_arrive_at_the_same_instant() {
    let text = "duration = \"10 s\"\nvariants = [\"sack\"]\n[tcp]\nwindow = 50\n[path]\nhops = [\"l\"]\n\
                [link.l]\ndelay = \"10 ms\"\nduplicate.fraction = \"10 %\"\n";
    let flow = run(text, &[]).flows.remove(0);
    assert!(flow.path.arrived_segments > flow.sending.sent_segments, "{flow:?}");
    assert_eq!((flow.path.out_of_order_segments, flow.sending.retransmits), (0, 0));
}

/// The second flow is active in the last sixth of the time, and has half of the link's rate then.
#[test]
fn the_total_goodput_of_flows_does_not_exceed_the_link_rate() {
    let late = DUMBBELL.replace("count = 4\nuntil = \"1 s\"", "count = 2\ngap = \"50 s\"");
    let scenario = Scenario::parse("test", &late, &["warmup=0".to_owned()]).expect("is good");
    let sack = Variant::named("sack").expect("is in the table");
    let together = unruffled_lab::run::run(&scenario, &sack, 1, None, never()).expect("runs").flow;
    let payload = 8e6 * 1000.0 / 1040.0;
    assert!((0.9..1.0).contains(&(together.goodput_bps / payload)), "{together:?}");
    let bits = together.delivered_bytes as f64 * 8.0;
    assert_eq!(together.goodput_bps, bits / together.duration_s);
}

/// Nothing is acknowledged in half of the time, in which timeouts reduce the window to one segment.
#[test]
fn the_mean_window_includes_the_time_after_a_timeout() {
    let bulk = "[[traffic]]\nname = \"a\"\n";
    let blackout = "queue = 20\nblackout.at = [\"10 s\"]\nblackout.length = \"10 s\"";
    let mean =
        |link| run(&line(link, bulk), &[]).flows[0].means.cwnd_mean.expect("it has a window");
    let without_blackout = mean("queue = 20");
    let with_blackout = mean(blackout);
    let ratio = with_blackout / without_blackout;
    assert!((0.45..0.65).contains(&ratio), "{with_blackout} and {without_blackout}");
}

#[test]
fn a_capture_has_all_connections_of_the_compared_source() {
    let noise = "[[traffic]]\nname = \"noise\"\nsender = \"reno\"\n";
    let web = "[[traffic]]\nname = \"a\"\napp = \"web\"\nsize = \"20 kB\"\n\
               pause.distribution = \"constant\"\npause.value = \"0 s\"\n";
    let text = line("queue = 20", &[noise, web].concat());
    let scenario = Scenario::parse("test", &text, &[]).expect("a good scenario");
    let mut octets = Vec::new();
    let capture = Capture::new(&mut octets).expect("memory takes it");
    let mut capture = capture.of(scenario.first_compared());
    let sack = Variant::named("sack").expect("is in the table");
    let record =
        record(&scenario, &sack, 1, Some(&mut capture), never()).expect("a loaded scenario runs");
    capture.finish().expect("memory takes it");
    let source = Source::new(Box::new(std::io::Cursor::new(octets)), None).expect("a capture");
    let mut analyzer = Analyzer::new(Limits::default());
    assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
    let found = analyzer.finish().connections;
    let flow = &record.flows[1];
    assert_eq!((flow.sender.as_str(), found.len() as u64), ("sack", flow.connections));
    let sent: u64 = found.iter().map(|one| one.directions[0].traffic.payload_bytes).sum();
    assert_eq!(sent, 1000 * flow.sending.sent_segments);
}

#[test]
fn an_unlimited_number_of_packets_in_flight_is_an_error() {
    let udp = "[[traffic]]\nname = \"a\"\napp = \"udp\"\nsize = \"1 kB\"\ninterval = \"1 us\"\n";
    let scenario = Scenario::parse("test", &line("", udp), &[]).expect("a good scenario");
    let sack = Variant::named("sack").expect("is in the table");
    let refused = record(&scenario, &sack, 1, None, never()).expect_err("is too much").to_string();
    let expected =
        "packets on their way must be fewer (by a queue on each link, or by lower rates)";
    let found = format!("more than {}", Simulation::MOST_PACKETS);
    assert!(refused.starts_with(expected) && refused.contains(&found), "{refused}");
}

#[test]
fn datagrams_have_a_goodput_over_time() {
    let udp = "[[traffic]]\nname = \"a\"\napp = \"udp\"\nsize = \"1 kB\"\ninterval = \"10 ms\"\n";
    let record = run(&line("", udp), &["record.series=[\"goodput\"]"]);
    let points = &record.series[0].points;
    assert_eq!(points.len(), 20);
    // The first arrives after 11 ms, so the first second has one fewer.
    assert!(
        points.iter().all(|(at, bps)| [792e3, 800e3].contains(bps) && *at >= 1.0),
        "{points:?}"
    );
}

#[test]
fn packets_that_are_dropped_after_the_end_are_not_counted() {
    // The first link takes 10 s to the second one, whose queue has room for one packet.
    let text = "duration = \"5 s\"\nvariants = [\"sack\"]\n[path]\nhops = [\"far\", \"slow\"]\n\
                [link.far]\ndelay = \"10 s\"\n\
                [link.slow]\nrate = \"80 kbit/s\"\ndelay = \"0 s\"\nqueue = 1\n\
                [[traffic]]\nname = \"a\"\napp = \"udp\"\nsize = \"1 kB\"\ninterval = \"10 ms\"\n";
    let dropped = |duration| {
        let record = run(text, &[duration]);
        let link = record.link("slow").expect("is measured").dropped_packets;
        (record.flows[0].path.dropped_segments, link)
    };
    assert_eq!(dropped("duration=5 s"), (0, 0));
    let (of_flow, of_link) = dropped("duration=15 s");
    assert!(of_link > 400 && of_flow == of_link, "{of_flow}, {of_link}");
}
