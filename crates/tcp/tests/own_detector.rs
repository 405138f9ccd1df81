//! The example of a detector from outside the crate does what it says.

#[allow(dead_code, reason = "its main prints")]
#[path = "../examples/own_detector.rs"]
mod example;

use unruffled_tcp::detect::{LossDetector, Rule, View};
use unruffled_tcp::{Variant, VariantError};

#[test]
fn a_detector_from_outside_spares_what_the_standard_resends() {
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
    // The detector's parameters are gone, those of the other parts stay.
    let names: Vec<&str> = variant.parameters().map(|(p, _)| p.name).collect();
    assert_eq!(names, ["limited_transmit", "rtt_percentile", "restore"]);
}

#[test]
fn a_machine_of_its_own_takes_no_detector() {
    let variant = Variant::named("tcp-pr").expect("a row");
    let refused = variant.with_detector("never", || Box::new(Never));
    assert!(matches!(refused, Err(VariantError::TakesNoParts { row: "tcp-pr", .. })));
}
