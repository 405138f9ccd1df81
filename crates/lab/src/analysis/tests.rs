use unruffled_capture::{Analyzer, Cause, Limits, Source, Verdict, read};
use unruffled_measure::End;
use unruffled_tcp::Variant;

use super::*;
use crate::cancel::never;
use crate::capture::Capture;
use crate::fit::{self, Cost};
use crate::run::run;
use crate::transfer::{price, transfers};
use unruffled_scenario::Scenario;

/// Returns the analysis of a capture at a sender that late packets slow, with at most `dots` points
/// of each kind to draw.
pub(crate) fn captured(dots: usize) -> Analysis {
    captured_on("few-late", "rack+cubic", dots)
}

fn captured_on(scenario: &str, sender: &str, dots: usize) -> Analysis {
    captured_with("link.bottleneck.queue=50", scenario, sender, dots)
}

fn captured_with(set: &str, scenario: &str, sender: &str, dots: usize) -> Analysis {
    let overrides = ["duration=20 s", "seeds=1", set].map(str::to_owned);
    let scenario = Scenario::load(scenario, &overrides).unwrap();
    let mut octets = Vec::new();
    let mut capture = Capture::at(End::Sender, &mut octets).unwrap();
    let sender = Variant::parse(sender).unwrap();
    run(&scenario, &sender, 1, Some(&mut capture), never()).unwrap();
    capture.finish().unwrap();
    let source = Source::new(Box::new(std::io::Cursor::new(octets)), None).unwrap();
    let mut analyzer = Analyzer::new(Limits { dots, ..Limits::default() });
    assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
    analyzer.finish()
}

#[test]
fn a_transfer_that_fills_its_path_is_not_slowed_by_what_the_queue_drops() {
    let analysis = captured_on("in-order", "rack+cubic", 0);
    let found = transfers(&analysis);
    let Verdict { cause, text, .. } = &found[0].verdict;
    assert_eq!(*cause, Cause::Path, "{text}");
    assert!(text.starts_with("The path: its queue overflowed and dropped 1."), "{text}");
    assert!(text.contains("the transfer got 9."), "{text}");
}

/// Returns what reordering cost the first transfer.
fn first_cost(analysis: &Analysis) -> Cost {
    let mut found = transfers(analysis);
    price("a", &mut found, never());
    found[0].cost.clone().expect("reordering slowed it").expect("a path that can be fitted")
}

#[test]
fn the_cost_is_unknown_if_a_transfer_never_fills_its_path() {
    let mut analysis = captured_on("half-late", "sack", 100);
    for spacing_ms in [None, Some(1e6)] {
        analysis.connections[0].directions[0].spacing_ms = spacing_ms;
        let mut found = transfers(&analysis);
        price("h", &mut found, never());
        let text = found[0].cost_in_words().expect("reordering slowed it");
        let expected = "Its cost is unknown: it never filled its path, so it does not";
        assert!(text.starts_with(expected), "{text}");
    }
}

/// It never fills its path, but each burst does for a moment.
#[test]
fn the_cost_of_a_collapsed_transfer_follows_from_its_bursts() {
    let cost = first_cost(&captured_on("half-late", "rack", 100));
    // It gets a sixtieth of what it gets in order.
    assert!(cost.share > 0.9, "{cost:?}");
    assert!(cost.text.contains(" without reordering, all by the faster of its ways, "), "{cost:?}");
}

#[test]
fn a_sender_that_does_not_adapt_to_reordering_is_distinguished_from_linux() {
    let cost = first_cost(&captured_on("half-late", "sack", 100));
    assert_eq!(cost.sender, "sack");
    // It gets a fiftieth of what it gets in order.
    assert!(cost.share > 0.9, "{cost:?}");
}

#[test]
fn without_sack_the_cost_of_reordering_is_unknown() {
    let analysis = captured_on("half-late", "reno", 100);
    let mut found = transfers(&analysis);
    price("h", &mut found, never());
    let text = found[0].cost_in_words().expect("reordering slowed it");
    assert!(text.contains("since the receiver sends no SACK"), "{text}");
}

/// When late packets fill a hole, the sender sends a burst, and the queue drops a part of it. The
/// path itself loses nothing.
#[test]
fn losses_can_be_caused_by_reordering() {
    let cost = first_cost(&captured_with("link.bottleneck.queue=10", "few-late", "rack", 100));
    // In order, it gets 6.3 times as much.
    assert!(cost.share < 0.84 && cost.lossless_share > 0.84, "{cost:?}");
    let readings = [" if it caused the losses too: ", " if the path lost packets: "];
    assert!(readings.iter().any(|reading| cost.text.contains(reading)), "{cost:?}");
    assert_ne!(cost.losses.decision, fit::LossOrigin::Path, "{cost:?}");
}

#[test]
fn the_window_grows_by_bbr_where_the_path_loses_packets_without_being_full() {
    let lossless = first_cost(&captured(100));
    assert_eq!(lossless.growth, fit::Growth::Cubic, "{lossless:?}");
    assert!(!lossless.text.contains("BBR"), "{lossless:?}");
    let loss = "link.bottleneck.loss.fraction=1%";
    let lossy = first_cost(&captured_with(loss, "few-late", "rack+cubic", 100));
    assert_eq!(lossy.growth, fit::Growth::Bbr, "{lossy:?}");
    assert!(lossy.attached_bbr_bps > 2.0 * lossy.attached_bps, "{lossy:?}");
    assert!(lossy.text.contains(" where its window grows by BBR; "), "{lossy:?}");
}

#[test]
fn text_and_json_have_the_cost_of_reordering() {
    let analysis = captured(100);
    let mut found = transfers(&analysis);
    assert_eq!(found[0].cost_in_words(), None);
    price("c", &mut found, never());
    let cost = found[0].cost.as_ref().unwrap().as_ref().unwrap();
    // It gets a fifth of what it gets in order.
    assert!(cost.without_bps > 2.0 * cost.now_bps, "{cost:?}");
    assert!(cost.share > 0.5 && cost.share < 1.0, "{cost:?}");
    assert!(cost.attached_bps > 2.0 * cost.now_bps, "{cost:?}");
    let plan = advice::plan("c", &found, None);
    let text = render("c", &analysis, &found, &plan, 80);
    assert!(text.contains("It cost "), "{text}");
    assert!(text.contains("late %  late by ms  lost %"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("With the sender unruffled, the model gives "), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&json("c", &analysis, &found, &plan, None)).unwrap();
    assert_eq!(json["verdicts"][0]["cost"]["share"], cost.share);
    assert_eq!(json["verdicts"][0]["place"], "sender");
    let step = &json["plan"][0];
    assert_eq!((&step["action"], &step["role"]), (&"attach".into(), &"sender".into()));
    assert_eq!(step["command"], "sudo unruffled attach --default");
    let advice = json["verdicts"][0]["advice"][0].as_str().expect("a string");
    assert!(advice.ends_with("sudo unruffled attach --default"), "{advice}");
    assert!(json["verdicts"][0]["losses"]["decision"].is_string(), "{json}");
    assert_eq!(json["connections"][0]["directions"][0].get("drawing"), None);
}
