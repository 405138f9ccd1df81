//! Far ends of links in scenario files.

use unruffled_path::{Advance, Applies, Chosen, ExitConfig, Fragments, Impairment, ReplayWindow};
use unruffled_units::Duration;

use super::paths::two_links;
use crate::Tunnel;

#[test]
fn a_replay_window_is_a_number_or_a_program_and_ranges_are_a_number() {
    let openvpn = ReplayWindow::named("openvpn");
    let replay = |replay| ExitConfig { replay, ..ExitConfig::default() };
    let ranges = |ranges| ExitConfig { ranges, ..ExitConfig::default() };
    for (lines, overrides, expected) in [
        ("", &[][..], ExitConfig::default()),
        ("replay_window = 64", &[], replay(Some(ReplayWindow::new(64)))),
        ("replay_window = '64'", &[], replay(Some(ReplayWindow::new(64)))),
        ("replay_window = 'openvpn'", &[], replay(openvpn)),
        ("replay_window = 'none'", &[], ExitConfig::default()),
        ("", &["a.replay_window=openvpn"], replay(openvpn)),
        ("replay_window = 64", &["a.replay_window=none"], ExitConfig::default()),
        ("replay_window = 64", &["replay_window=1e3"], replay(Some(ReplayWindow::new(1000)))),
        ("ranges = 3", &[], ranges(Some(3))),
        ("ranges = 0", &[], ranges(Some(0))),
        ("ranges = 3", &["a.ranges=none"], ExitConfig::default()),
        ("", &["a.ranges=7"], ranges(Some(7))),
    ] {
        let scenario = two_links(lines, overrides).expect(lines);
        assert_eq!(scenario.hops[0].link.exit, expected, "{lines} {overrides:?}");
        assert!(scenario.hops[1].link.exit.is_open());
        let drops = expected != ExitConfig::default();
        assert_eq!(scenario.network.may_drop_at_exits(), drops, "{lines} {overrides:?}");
        let toml = scenario.to_toml(&[]);
        let again = two_links("", &[]).map(|_| crate::Scenario::parse("my.toml", &toml, &[]));
        assert_eq!(again.expect("valid").expect(&toml).hops, scenario.hops, "{toml}");
    }
}

#[test]
fn an_invalid_window_or_limit_is_rejected_at_its_key() {
    let names = "gre, macsec, l2tp, esp, openvpn, dtls, gnutls, srtp, tinc, tinc-1.1, boringtun, \
                 nebula-1.11, wireguard, wireguard-go, nebula";
    let window = |found: &str| {
        format!(
            "my.toml:8: link.a.replay_window: expected packets from 1 to 1000000, none or a \
             program ({names}), found {found}"
        )
    };
    for (line, expected) in [
        ("replay_window = 0", window("\"0\"")),
        ("replay_window = 64.5", window("\"64.5\"")),
        ("replay_window = -1", window("\"-1\"")),
        ("replay_window = 'openvnp'", window("\"openvnp\"; did you mean openvpn?")),
        (
            "ranges = -1",
            "my.toml:8: link.a.ranges: expected ranges from 0 to 1000000 or none, found \"-1\""
                .to_owned(),
        ),
    ] {
        let error = two_links(line, &[]).map(|s| s.toml).expect_err(line);
        assert_eq!(error, expected);
    }
}

#[test]
fn the_far_end_is_described_in_words() {
    for (lines, expected) in [
        ("replay_window = 1", "replay window of 1 packet"),
        ("replay_window = 'openvpn'", "replay window of 64 packets and 15 s"),
        (
            "replay_window = 'tinc'",
            "replay window of 128 packets, which drops up to 4 in a row so far ahead",
        ),
        (
            "replay_window = 'l2tp'",
            "only packets in order pass, after a gap once 5 have followed one another",
        ),
        ("ranges = 1", "room for 1 range"),
        ("replay_window = 32\nranges = 3", "replay window of 32 packets, room for 3 ranges"),
    ] {
        let words = two_links(lines, &[]).expect(lines).path_in_words()[0].1.clone();
        assert_eq!(words, format!("infinitely fast, 1 ms, {expected}"));
    }
}

/// Reads the only impairment of link a from these lines below its table.
fn impairment(lines: &str) -> Result<(Impairment, String), String> {
    let scenario = two_links(lines, &[])?;
    let words = scenario.path_in_words()[0].1.clone();
    Ok((scenario.hops[0].link.impairments[0].clone(), words))
}

#[test]
fn packets_are_late_or_early_by_packets() {
    let ms = Duration::from_millis;
    let applies = Applies::Data;
    let behind = |packets, at_most| Impairment::Behind { fraction: 0.1, packets, at_most, applies };
    let early = |chosen, by| Impairment::Early { chosen, by, applies };
    let packets = |count, at_most| Advance::Packets { count, at_most };
    for (lines, expected, words) in [
        (
            "delayed = { fraction = 0.1, by = 20 }",
            behind((20, 20), ms(1000)),
            "10 % of data packets overtaken by 20 packets within 1 s",
        ),
        (
            "delayed = { fraction = 0.1, by = [5, 20], at_most = '300 ms' }",
            behind((5, 20), ms(300)),
            "10 % of data packets overtaken by 5 to 20 packets within 300 ms",
        ),
        (
            "early = { every = 20, by = 166 }",
            early(Chosen::Every(20), packets(166, ms(1000))),
            "one in 20 of data packets 166 packets, at most 1 s, early",
        ),
        (
            "early = { fraction = '5 %', by = '200 ms' }",
            early(Chosen::Fraction(0.05), Advance::Time(ms(200))),
            "5 % of data packets 200 ms early",
        ),
    ] {
        let (found, in_words) = impairment(lines).expect(lines);
        assert_eq!(found, expected, "{lines}");
        assert_eq!(in_words, format!("infinitely fast, 1 ms, {words}"));
    }
}

#[test]
fn invalid_lateness_in_packets_is_rejected_at_its_key() {
    for (lines, expected) in [
        (
            "delayed = { fraction = 0.1, by = 0 }",
            "my.toml:8: link.a.delayed.by: expected packets from 1 to 100000, or a list of the \
             fewest and the most such as [5, 20]",
        ),
        (
            "delayed = { fraction = 0.1, by = [20, 5] }",
            "my.toml:8: link.a.delayed.by: expected packets from 1 to 100000, or a list of the \
             fewest and the most such as [5, 20]",
        ),
        (
            "delayed = { fraction = 0.1, by = 5, at_most = '0 s' }",
            "my.toml:8: link.a.delayed.at_most: expected more than 0 s",
        ),
        (
            "delayed = { fraction = 0.1, by = 5, distribution = 'normal', mean = '5 ms' }",
            "my.toml:8: link.a.delayed.by: expected either this or link.a.delayed.distribution",
        ),
        (
            "early = { every = 20, by = '5 packets' }",
            "my.toml:8: link.a.early.by: expected packets from 1 to 100000 or a time such as \
             \"200 ms\"",
        ),
        (
            "early = { every = 20, fraction = 0.1, by = 5 }",
            "my.toml:8: link.a.early.fraction: expected either this or every",
        ),
        (
            "early = { every = 20, by = 5 }\ndelayed = { fraction = 0.1, by = 5 }",
            "my.toml:8: link.a.early.by: expected either this in packets or delayed.by",
        ),
        ("early = { every = 20 }", "my.toml: link.a.early.by: missing: expected \"200 ms\""),
    ] {
        let error = two_links(lines, &[]).map(|s| s.toml).expect_err(lines);
        assert!(error.starts_with(expected.split(": missing").next().unwrap()), "{error}");
    }
}

#[test]
fn fragments_have_an_mtu_and_a_distance() {
    let distance = |max_distance| Fragments { max_distance, ..Fragments::new(1400) };
    for (line, expected, words) in [
        (
            "fragments.mtu = 1400",
            Fragments::new(1400),
            "IPv4 fragments above 1400 B, lost if more than 64 apart",
        ),
        (
            "fragments = { mtu = '1400 B', max_distance = 5 }",
            distance(5),
            "IPv4 fragments above 1400 B, lost if more than 5 apart",
        ),
        (
            "fragments = { mtu = 1400, max_distance = 0 }",
            distance(0),
            "IPv4 fragments above 1400 B",
        ),
    ] {
        let scenario = two_links(line, &[]).expect(line);
        assert_eq!(scenario.hops[0].link.fragments, Some(expected), "{line}");
        assert_eq!(scenario.path_in_words()[0].1, format!("infinitely fast, 1 ms, {words}"));
        assert_eq!(scenario.network.may_drop_at_exits(), expected.max_distance > 0);
    }
    for (lines, expected) in [
        ("fragments.max_distance = 64", "my.toml: link.a.fragments.mtu: missing"),
        ("fragments.mtu = 67", "my.toml:8: link.a.fragments.mtu: expected at least 68 B"),
        ("fragments.mtu = '70 kB'", "my.toml:8: link.a.fragments.mtu: expected at most 65535 B"),
        (
            "fragments.mtu = 1400\ndelayed = { fraction = 0.1, by = 5 }",
            "my.toml:8: link.a.fragments: expected a link without resend, delayed.by and early.by",
        ),
        (
            "fragments.mtu = 1400\nresend = { errors = 0.1, after = '1 ms' }",
            "my.toml:8: link.a.fragments: expected a link without resend, delayed.by and early.by",
        ),
    ] {
        let error = two_links(lines, &[]).map(|s| s.toml).expect_err(lines);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_tunnel_begins_at_a_node() {
    let lines = "replay_window = 64\nreplay_from = 'r1'";
    let scenario = two_links(lines, &[]).expect(lines);
    // Both directions of link a and of link b, in this order; only link a leads away from r1.
    assert_eq!(scenario.network.tunnels(), [Tunnel { opens: vec![0], closes: 0 }]);
    assert_eq!(two_links("replay_window = 64", &[]).expect("valid").network.tunnels(), []);
    for (lines, expected) in [
        (
            "replay_window = 64\nreplay_from = 'x'",
            "my.toml:9: link.a.replay_from: expected one of the nodes r1, r2, r3, found \"x\"",
        ),
        (
            "replay_from = 'r1'",
            "my.toml:8: link.a.replay_from: expected link.a.replay_window as well",
        ),
    ] {
        assert_eq!(two_links(lines, &[]).map(|s| s.toml).expect_err(lines), expected);
    }
    // A window that is switched off needs no other key.
    let off = two_links(lines, &["a.replay_window=none"]).expect("valid");
    assert!(!off.network.may_drop_at_exits());
}
