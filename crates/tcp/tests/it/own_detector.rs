//! Detectors from outside the crate, among them the example's.

#[allow(dead_code, reason = "main is not called here")]
#[path = "../../examples/own_detector.rs"]
mod example;

use unruffled_tcp::detect::{LatenessModel, LossDetector, Overdue, Rule, View};
use unruffled_tcp::{Config, Connection, Flags, Segment, SeqNr, Variant, VariantError};
use unruffled_units::{Duration, Instant};

#[test]
fn the_example_causes_fewer_spurious_retransmissions_than_the_standard() {
    let (standard, own) = example::compared().expect("sack is composed of parts");
    assert!(standard > 10 * own && own > 0, "{standard} and {own}");
}

#[derive(Debug)]
struct Never;

impl LossDetector for Never {
    fn about(&self) -> std::borrow::Cow<'static, str> {
        "never".into()
    }

    fn rule(&self, _view: &View) -> Rule {
        Rule::default()
    }
}

#[test]
fn a_sender_with_a_detector_from_outside_is_named_and_described_by_it() {
    let variant = Variant::named("rr-ta").expect("a row");
    let variant = variant.with_detector("never", || Box::new(Never)).expect("composed of parts");
    assert_eq!(variant.name(), "rr-ta+never");
    assert!(variant.parts().contains(&("loss detection", "never".to_owned())));
    // The detector's parameters are gone; those of the other parts remain.
    let names: Vec<&str> = variant.parameters().map(|(p, _)| p.name).collect();
    assert_eq!(names, ["limited_transmit", "rtt_percentile", "restore"]);
}

#[test]
fn a_sender_that_is_not_composed_takes_no_detector() {
    let variant = Variant::named("tcp-pr").expect("a row");
    let refused = variant.with_detector("never", || Box::new(Never));
    assert!(matches!(refused, Err(VariantError::TakesNoParts { row: "tcp-pr", .. })));
}

/// Suspects a segment after 120 ms and confirms its loss after 200 ms. Half a window of suspicions
/// confirms them all.
#[derive(Debug)]
struct TwoStage;

impl LossDetector for TwoStage {
    fn about(&self) -> std::borrow::Cow<'static, str> {
        "two-stage".into()
    }

    fn rule(&self, _view: &View) -> Rule {
        let overdue = Overdue { wait: Duration::from_millis(120), eager: true };
        let confirm_after = Some(Duration::from_millis(200));
        Rule { overdue: Some(overdue), confirm_after, ..Rule::default() }
    }

    fn two_stage(&mut self) -> Option<&mut dyn LatenessModel> {
        Some(self)
    }
}

impl LatenessModel for TwoStage {
    fn overflow_share(&self) -> f64 {
        0.5
    }
}

/// Sends twenty segments of 1000 octets at 10 ms, the first of which is lost. Returns the window
/// after the loss is confirmed and everything is acknowledged.
fn window_after_a_confirmation(row: &str) -> f64 {
    let variant = Variant::named(row).expect("a row");
    let variant =
        variant.with_detector("two-stage", || Box::new(TwoStage)).expect("composed of parts");
    let config = Config::simulated().with(|c| {
        c.mss = 1000;
        c.window.initial = 20;
    });
    let at = Instant::from_millis;
    let mut sender = Connection::connect(config, &variant);
    let syn = sender.poll_transmit(at(0), &mut ()).expect("a SYN");
    let first = syn.seq.add(1);
    let answer = |segments: u32| Segment {
        seq: SeqNr(1),
        ack: first.add(1000 * segments),
        flags: Flags { ack: true, ..Flags::default() },
        window: u16::MAX,
        ..Segment::default()
    };
    let syn_ack = Segment {
        seq: SeqNr(0),
        flags: Flags { syn: true, ..answer(0).flags },
        sack_permitted: true,
        ..answer(0)
    };
    sender.handle_segment(&syn_ack, at(10), &mut ());
    sender.write(20_000);
    while sender.poll_transmit(at(10), &mut ()).is_some() {}
    let mut others = answer(0);
    others.sack.push(first.add(1000), first.add(20_000));
    sender.handle_segment(&others, at(110), &mut ());
    while let Some(due) = sender.poll_timeout().filter(|&due| due < at(230)) {
        sender.handle_timeout(due, &mut ());
        while sender.poll_transmit(due, &mut ()).is_some() {}
    }
    assert_eq!(sender.window().ssthresh, 10.0, "{row}");
    sender.handle_segment(&answer(20), at(230), &mut ());
    assert!(!sender.recovering(), "{row}");
    sender.window().cwnd
}

#[test]
fn a_confirmed_loss_reduces_the_window_at_once_or_in_proportion() {
    assert_eq!(window_after_a_confirmation("rack"), 10.0);
    assert_eq!(window_after_a_confirmation("sack"), 10.0);
}
