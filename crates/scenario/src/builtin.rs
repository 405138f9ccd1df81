//! The scenarios that ship with the program.

/// The scenarios that ship with the program: name and TOML.
pub const BUILTIN: &[(&str, &str)] = &[
    ("rr-3", include_str!("../scenarios/rr-3.toml")),
    ("dcr-4", include_str!("../scenarios/dcr-4.toml")),
    ("dcr-t20", include_str!("../scenarios/dcr-t20.toml")),
    ("ad-10", include_str!("../scenarios/ad-10.toml")),
    ("pr-10", include_str!("../scenarios/pr-10.toml")),
    ("burst", include_str!("../scenarios/burst.toml")),
    ("in-order", include_str!("../scenarios/in-order.toml")),
    ("half-late", include_str!("../scenarios/half-late.toml")),
    ("few-late", include_str!("../scenarios/few-late.toml")),
    ("spray", include_str!("../scenarios/spray.toml")),
    ("bonded", include_str!("../scenarios/bonded.toml")),
    ("gateway", include_str!("../scenarios/gateway.toml")),
    ("satellite", include_str!("../scenarios/satellite.toml")),
    ("radio", include_str!("../scenarios/radio.toml")),
    ("wi-fi", include_str!("../scenarios/wi-fi.toml")),
    ("switch", include_str!("../scenarios/switch.toml")),
    ("vpn", include_str!("../scenarios/vpn.toml")),
    ("route", include_str!("../scenarios/route.toml")),
    ("mobile-bond", include_str!("../scenarios/mobile-bond.toml")),
    ("ecmp", include_str!("../scenarios/ecmp.toml")),
    ("two-workers", include_str!("../scenarios/two-workers.toml")),
    ("handovers", include_str!("../scenarios/handovers.toml")),
    ("fabric", include_str!("../scenarios/fabric.toml")),
    ("gigabit-bond", include_str!("../scenarios/gigabit-bond.toml")),
];
