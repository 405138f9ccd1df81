//! Far ends of links in scenario files.

use unruffled_path::{ExitConfig, ReplayWindow};

use super::paths::two_links;

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
