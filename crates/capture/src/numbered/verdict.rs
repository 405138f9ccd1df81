//! Verdict on a flow of numbered packets: what the end of the tunnel makes of late packets, and the
//! setting to change.

use serde::Serialize;
use unruffled_units::count;

use super::protocol::NumberedProtocol;
use crate::behind::ReplayWindows;
use crate::reordering::Reordering;
use crate::verdict::{ms, percent};

/// Largest window of ESP in Linux, in packets (`XFRMA_REPLAY_ESN_MAX`).
const MAX_ESP_WINDOW: u64 = 4096;

/// What the order of a flow's packets does at the end of the tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NumberedCause {
    /// All packets came, in order.
    InOrder,
    /// Packets were lost before the capture point, and none came late.
    Lost,
    /// Packets came late, and the usual window of the protocol's programs accepts all of them.
    Late,
    /// Packets came so late that a usual window of the protocol's programs drops some of them.
    DroppedByWindow,
}

/// Verdict on a flow of numbered packets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberedVerdict {
    /// What happened to the packets.
    pub cause: NumberedCause,
    /// Explanation, in a few sentences.
    pub text: String,
}

/// Programs that end a tunnel or a stream, and their replay windows.
struct Programs {
    name: &'static str,
    /// Size of the window, in packets.
    window: u64,
}

/// Returns the programs of a protocol (docs/guide/tunnels.md), those with the smallest window first.
fn programs(protocol: NumberedProtocol) -> &'static [Programs] {
    const fn programs(name: &'static str, window: u64) -> Programs {
        Programs { name, window }
    }
    const WIREGUARD: [Programs; 2] =
        [programs("boringtun", 1024), programs("WireGuard in Linux and in Go", 8129)];
    const ESP: [Programs; 1] = [programs("Linux and strongSwan by default", 32)];
    const OPENVPN: [Programs; 1] = [programs("OpenVPN by default", 64)];
    const RTP: [Programs; 2] =
        [programs("pion with replay protection", 64), programs("libsrtp by default", 128)];
    const DTLS: [Programs; 2] = [programs("OpenSSL, mbedTLS and pion", 64), programs("GnuTLS", 65)];
    const GRE: [Programs; 1] = [programs("Linux with `seq`", 1)];
    match protocol {
        NumberedProtocol::WireGuard => &WIREGUARD,
        NumberedProtocol::Esp => &ESP,
        NumberedProtocol::OpenVpn => &OPENVPN,
        NumberedProtocol::Rtp => &RTP,
        NumberedProtocol::Dtls => &DTLS,
        NumberedProtocol::Gre => &GRE,
    }
}

/// Returns the verdict on a flow with packets in that order, of which `lost` never came.
pub(super) fn judge(
    protocol: NumberedProtocol,
    order: &Reordering,
    lost: u64,
    lost_ratio: f64,
) -> NumberedVerdict {
    let replay = &order.replay;
    let missing = match lost {
        0 => String::new(),
        lost => format!(
            " {} ({}) never came: lost, or dropped, before this host.",
            count(lost, "packet"),
            percent(lost_ratio)
        ),
    };
    if order.reordered == 0 {
        let cause = if lost == 0 { NumberedCause::InOrder } else { NumberedCause::Lost };
        let text = format!("Its packets kept their order up to this host.{missing}");
        return NumberedVerdict { cause, text };
    }
    let by = order.late_time.as_ref().map_or(String::new(), |time| {
        format!(
            ", half of them by {} or more, the latest by {}",
            ms(time.median_ms),
            ms(time.max_ms)
        )
    });
    let late = format!(
        "{} of its packets came late{by}, and up to {} behind the newest one.{missing}",
        percent(order.ratio),
        count(replay.max_behind, "packet")
    );
    let drops = |programs: &&Programs| replay.max_behind >= programs.window;
    let dropping: Vec<_> = programs(protocol).iter().filter(drops).collect();
    let (cause, ends) = if dropping.is_empty() {
        let smallest = programs(protocol).first().map_or("", |programs| programs.name);
        (NumberedCause::Late, format!("None of them is too late for {smallest}."))
    } else {
        let share = |programs: &&Programs| {
            let share = percent(dropped(replay, programs.window, order.packets));
            format!("{} (window {}) drops {share}", programs.name, programs.window)
        };
        let shares: Vec<_> = dropping.iter().map(share).collect();
        let text = format!(
            "What is too far behind is dropped where the tunnel ends: {}. {}",
            shares.join(", "),
            setting(protocol, replay.sufficient)
        );
        (NumberedCause::DroppedByWindow, text)
    };
    let text = format!("{late} A replay window of {} drops none. {ends}", replay.sufficient);
    NumberedVerdict { cause, text }
}

/// Returns the share of `packets` packets that a window drops.
fn dropped(replay: &ReplayWindows, window: u64, packets: u64) -> f64 {
    let beyond = replay.behind.iter().filter(|count| count.behind >= window);
    beyond.map(|count| count.packets).sum::<u64>() as f64 / packets.max(1) as f64
}

/// Returns what to change so that a window accepts packets that are less than `sufficient` behind.
fn setting(protocol: NumberedProtocol, sufficient: u64) -> String {
    // Room for packets that come later than those of the capture.
    let window = sufficient.next_power_of_two() * 2;
    let none = "put the packets in order before it";
    match protocol {
        NumberedProtocol::Esp if sufficient > MAX_ESP_WINDOW => format!(
            "The largest window of Linux is {MAX_ESP_WINDOW}: set `replay-window {MAX_ESP_WINDOW}`, and \
             {none} with `sudo unruffled resequence --tunnel esp`."
        ),
        NumberedProtocol::Esp => {
            let window = window.min(MAX_ESP_WINDOW);
            format!(
                "Set `replay-window {window}` of `ip xfrm state`, or `charon.replay_window = {window}` of \
                 strongSwan."
            )
        }
        NumberedProtocol::OpenVpn => {
            format!("Set `--replay-window {window} 60` of OpenVPN at the end that receives.")
        }
        NumberedProtocol::WireGuard => format!(
            "The window cannot be set: use WireGuard of Linux or Go in place of boringtun, or {none} with \
             `sudo unruffled resequence --tunnel wireguard`."
        ),
        NumberedProtocol::Rtp => format!(
            "If this is SRTP, set `window_size = {window}` of libsrtp or \
             `SRTPReplayProtection({window})` of pion. RTP without encryption has no window; a jitter \
             buffer of the latest packet's time plays all of them."
        ),
        NumberedProtocol::Dtls => format!(
            "OpenSSL, mbedTLS and GnuTLS have no setting (pion: `ReplayProtectionWindow = {window}`); \
             keep the packets in order, on one path and one core."
        ),
        NumberedProtocol::Gre => {
            "Create the tunnel without `seq` at the end that receives, or keep the packets in order, on one \
             path and one core."
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behind::Behind;

    /// Returns the verdict on 1000 packets, of which those at these distances are late.
    fn verdict(protocol: NumberedProtocol, distances: &[u64], lost: u64) -> NumberedVerdict {
        let mut behind = Behind::default();
        distances.iter().for_each(|&distance| behind.record(distance));
        let reordered = distances.len() as u64;
        let ratio = reordered as f64 / 1000.0;
        let replay = behind.summary(1000);
        let order = Reordering { packets: 1000, reordered, ratio, replay, ..Reordering::default() };
        judge(protocol, &order, lost, lost as f64 / 1000.0)
    }

    #[test]
    fn the_setting_has_room_for_what_came() {
        let found = verdict(NumberedProtocol::Esp, &[31, 32, 99], 0);
        assert_eq!(found.cause, NumberedCause::DroppedByWindow);
        assert_eq!(
            found.text,
            "0.30 % of its packets came late, and up to 99 packets behind the newest one. A replay window \
             of 100 drops none. What is too far behind is dropped where the tunnel ends: Linux and \
             strongSwan by default (window 32) drops 0.20 %. Set `replay-window 256` of `ip xfrm state`, or \
             `charon.replay_window = 256` of strongSwan."
        );
        let found = verdict(NumberedProtocol::Esp, &[5000], 0);
        assert!(found.text.contains("`replay-window 4096`"), "{}", found.text);
    }

    #[test]
    fn a_window_that_accepts_everything_needs_no_setting() {
        let found = verdict(NumberedProtocol::WireGuard, &[1023], 3);
        assert_eq!(found.cause, NumberedCause::Late);
        assert!(found.text.ends_with("None of them is too late for boringtun."), "{}", found.text);
        let found = verdict(NumberedProtocol::WireGuard, &[1024], 3);
        assert_eq!(found.cause, NumberedCause::DroppedByWindow);
        assert!(!found.text.contains("8129"), "{}", found.text);
    }

    #[test]
    fn packets_in_order_are_lost_or_not() {
        assert_eq!(verdict(NumberedProtocol::Rtp, &[], 0).cause, NumberedCause::InOrder);
        let found = verdict(NumberedProtocol::Rtp, &[], 1);
        assert_eq!(found.cause, NumberedCause::Lost);
        assert!(found.text.contains("1 packet (0.10 %) never came"), "{}", found.text);
    }
}
