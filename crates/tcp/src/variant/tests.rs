use super::*;

fn parse(name: &str) -> Variant {
    Variant::parse(name).expect("a valid name")
}

fn value(variant: &Variant, name: &str) -> Option<f64> {
    variant.parameters().find(|(p, _)| p.name == name).map(|(_, value)| value)
}

#[test]
fn constructors_return_the_senders_that_they_are_named_after() {
    let made = [
        (Variant::unruffled(), "unruffled"),
        (Variant::rack(), "rack"),
        (Variant::rack_cubic(), "rack+cubic"),
        (Variant::linux(), "linux"),
        (Variant::sack(), "sack"),
        (Variant::newreno(), "newreno"),
    ];
    for (variant, name) in made {
        assert_eq!(variant.name(), name);
        assert_eq!(variant.parts(), parse(name).parts(), "{name}");
    }
    assert_eq!(Variant::default().name(), "unruffled", "the recommended sender");
}

#[test]
fn names_are_unique_and_defaults_within_their_ranges() {
    for (i, row) in ROWS.iter().enumerate() {
        assert!(ROWS[..i].iter().all(|r| r.name != row.name), "{} stands twice", row.name);
        let variant = parse(row.name);
        for (parameter, value) in variant.parameters() {
            let (low, high) = parameter.range;
            assert!((low..=high).contains(&value), "{} {}", row.name, parameter.name);
            let shown = parameter.show(value);
            assert_eq!(parameter.parse(&shown), Ok(value), "{} {shown}", row.name);
        }
    }
}

#[test]
fn invalid_names_are_rejected_with_the_reason() {
    let refused = |name: &str| Variant::parse(name).expect_err(name).to_string();
    assert!(refused("sackk").starts_with("sackk: no such variant: expected one of reno, "));
    assert!(refused("sack+nonsense").starts_with("sack+nonsense: no part \"nonsense\""));
    let second = "is a second congestion control: expected at most one";
    assert_eq!(refused("westwood+cubic"), format!("westwood+cubic: cubic {second}"));
    assert_eq!(refused("sack+cubic+westwood"), format!("sack+cubic+westwood: westwood {second}"));
    assert_eq!(refused("sack+eifel+eifel"), "sack+eifel+eifel: eifel stands twice");
    assert_eq!(
        refused("linux+eifel"),
        "linux+eifel: linux has rules of its own in place of eifel: expected linux, or another sender"
    );
}

#[test]
fn parts_go_with_any_composed_sender_in_any_order_and_bring_their_parameters() {
    for row in ROWS {
        for parts in ["+cubic+eifel+f-rto", "+f-rto+eifel", "+westwood"] {
            let name = format!("{}{parts}", row.name);
            let made = Variant::parse(&name);
            let own_control = row.name == "westwood" && !parts.starts_with("+f-rto");
            // Linux undoes reductions by rules of its own.
            let own_rules = row.name == "linux" && parts != "+westwood";
            assert_eq!(made.is_ok(), row.is_composed() && !own_control && !own_rules, "{name}");
        }
    }
    let mut variant = parse("rr-ta+cubic");
    variant.set("beta", "0.5").expect("in its range");
    assert_eq!((value(&variant, "beta"), value(&variant, "c")), (Some(0.5), Some(0.4)));
    let wrong = variant.set("beta", "1").expect_err("beyond its range");
    assert_eq!(wrong.to_string(), "expected 0.1 to 0.99, found \"1\"");
    assert!(variant.set("c", "0").is_err());
}

#[test]
fn a_name_that_two_parts_share_is_the_rows_and_the_other_is_qualified() {
    let mut variant = parse("avg-dev+cubic");
    variant.set("beta", "0.2").expect("AVG-DEV's");
    variant.set("cubic-beta", "0.8").expect("CUBIC's");
    let values = ["beta", "cubic-beta", "c1", "c"].map(|name| value(&variant, name));
    assert_eq!(values, [Some(0.2), Some(0.8), Some(0.5), Some(0.4)]);
}

#[test]
fn a_parameter_that_two_parts_share_is_one() {
    // RR-TCP's k bounds limited transmit, and the costs are computed from it too.
    let names = |name: &str| -> Vec<&str> {
        let variant = parse(name);
        ROWS.iter().find(|row| row.name == name).expect("a row");
        variant.parameters().map(|(p, _)| p.name).collect()
    };
    let rr = names("rr-ta");
    assert_eq!(rr.iter().filter(|&&name| name == "limited_transmit").count(), 1, "{rr:?}");
    assert_eq!(rr.last(), Some(&"restore"));
}

#[test]
fn a_sender_that_is_not_composed_takes_no_parts() {
    for name in ["tcp-pr", "tcp-pr-extreme", "tcp-pr-sack"] {
        let whole = format!("{name}+eifel");
        let refused = Variant::parse(&whole).expect_err("takes none").to_string();
        let reason = "has its own loss detection, timer and congestion control: expected no parts";
        assert_eq!(refused, format!("{whole}: {name} {reason}"));
    }
}

#[test]
fn a_parameter_can_be_set_in_its_unit() {
    let mut variant = parse("rr-ta");
    variant.set("history", "40s").expect("a time");
    assert_eq!(value(&variant, "history"), Some(40.0));
    let wrong = variant.set("fa_ratio", "120 %").expect_err("beyond its range");
    assert_eq!(wrong.to_string(), "expected 0 % to 99 %, found \"120 %\"");
    assert!(variant.set("colour", "1").is_err());
    let none = parse("rack").with_detector("own", || parse("sack").detector()).expect("composed");
    let mut none = none;
    assert_eq!(
        none.set("reo_wnd", "1").expect_err("gone").to_string(),
        "rack+own has no parameters: expected none"
    );
}

#[test]
fn the_rtx_variants_and_stacks_that_number_packets_are_for_simulation_only() {
    let only = ROWS.iter().filter(|row| row.is_for_simulation_only()).map(|row| row.name);
    assert_eq!(only.collect::<Vec<_>>(), ["rr-fa-rtx", "rr-ta-rtx", "quiche", "ngtcp2", "quic-go"]);
}

#[test]
fn version_3_of_bbr_tolerates_random_losses_by_default_beside_a_detector_that_confirms_losses() {
    // 0 is the draft's rule.
    for (name, losses) in [("rack+bbr3", 0.0), ("rr-ta+bbr3", 0.0), ("unruffled+bbr3", 1.0)] {
        let mut variant = parse(name);
        assert_eq!(value(&variant, "losses"), Some(losses), "{name}");
        variant.set("losses", "draft").expect("a choice");
        assert_eq!(value(&variant, "losses"), Some(0.0), "{name}");
    }
}
