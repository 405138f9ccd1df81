//! Far ends of links: anti-replay windows, limits on ranges, and packets that wait for others.

use unruffled_path::{
    Advance, Applies, Chosen, ExitConfig, Fragments, Impairment, LinkConfig, ReplayRule,
    ReplayWindow,
};
use unruffled_units::{Duration, count, hint};

use crate::error::Error;
use crate::keys::Keys;

/// Maximum length of an anti-replay window in packets, and maximum number of ranges.
const MAX: u64 = 1_000_000;

/// Largest packet of IPv4, in octets.
const MAX_MTU: u32 = 65_535;

/// Maximum number of packets that may overtake one.
const MAX_OVERTAKING: u64 = 100_000;

/// Keys of a lateness in time.
const TIMES: [&str; 9] =
    ["distribution", "value", "low", "high", "mean", "deviation", "scale", "shape", "quantiles"];

/// Maximum wait at the far end of a link, where the scenario gives none.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The value of a key that switches it off.
const NONE: &str = "none";

/// Reads the far end of a link.
pub(super) fn exit(k: &mut Keys, at: &str) -> Result<ExitConfig, Error> {
    let replay = replay_window(k, &format!("{at}.replay_window"))?;
    let ranges = ranges(k, &format!("{at}.ranges"))?;
    Ok(ExitConfig { replay, ranges })
}

/// Reads an anti-replay window: a number of packets, or the name of a program.
fn replay_window(k: &mut Keys, key: &str) -> Result<Option<ReplayWindow>, Error> {
    if let Ok(packets) = k.count(key, 1, MAX) {
        return Ok(packets.map(|packets| ReplayWindow::new(packets as u32)));
    }
    let text = k.string(key)?.unwrap_or_default();
    if text == NONE {
        return Ok(None);
    }
    ReplayWindow::named(&text).map(Some).ok_or_else(|| {
        let names = ReplayWindow::PRESETS.map(|(name, _)| name);
        let meant = hint(&text, names);
        let names = names.join(", ");
        k.wrong(
            key,
            format!(
                "expected packets from 1 to {MAX}, none or a program ({names}), found \
                 {text:?}{meant}"
            ),
        )
    })
}

/// Reads a limit on ranges.
fn ranges(k: &mut Keys, key: &str) -> Result<Option<u32>, Error> {
    if let Ok(ranges) = k.count(key, 0, MAX) {
        return Ok(ranges.map(|ranges| ranges as u32));
    }
    match k.string(key)?.unwrap_or_default() {
        text if text == NONE => Ok(None),
        text => {
            Err(k.wrong(key, format!("expected ranges from 0 to {MAX} or none, found {text:?}")))
        }
    }
}

/// Reads the fragmentation of packets that are larger than the link's MTU.
pub(super) fn fragments(
    k: &mut Keys,
    at: &str,
    impairments: &[Impairment],
) -> Result<Option<Fragments>, Error> {
    if !k.enter(at) {
        return Ok(None);
    }
    let key = format!("{at}.mtu");
    let mtu = k.bytes(&key)?;
    let mtu = k.required(&key, mtu, "\"1400 B\"")?;
    let Some(mtu) = u32::try_from(mtu).ok().filter(|mtu| *mtu <= MAX_MTU) else {
        return Err(k.wrong(&key, format!("expected at most {MAX_MTU} B")));
    };
    let max_distance = k.count(&format!("{at}.max_distance"), 0, MAX)?;
    let max_distance = max_distance.map_or(Fragments::MAX_DISTANCE, |packets| packets as u32);
    let fragments = Fragments { mtu, max_distance };
    fragments.check().map_err(|error| k.wrong(&key, error.without_field()))?;
    let treats_wholes = |i: &Impairment| i.resends_packets() || i.counts_packets();
    if impairments.iter().any(treats_wholes) {
        let others = "a link without resend, delayed.by and early.by in packets";
        return Err(k.wrong(at, format!("expected {others}: they treat packets as wholes")));
    }
    Ok(Some(fragments))
}

/// Reads `delayed` with a lateness in packets, if it is given so: one number, or the fewest and the most.
pub(super) fn behind(
    k: &mut Keys,
    at: &str,
    fraction: f64,
    applies: Applies,
) -> Result<Option<Impairment>, Error> {
    let key = format!("{at}.by");
    let packets = match k.count(&key, 1, MAX_OVERTAKING) {
        Ok(None) => return Ok(None),
        Ok(Some(packets)) => (packets as u32, packets as u32),
        Err(_) => range_of_packets(k, &key)?,
    };
    if let Some(field) = TIMES.iter().find(|field| k.has(&format!("{at}.{field}"))) {
        return Err(k.wrong(&key, format!("expected either this or {at}.{field}")));
    }
    let at_most = max_wait(k, at)?;
    Ok(Some(Impairment::Behind { fraction, packets, at_most, applies }))
}

/// Reads a list of the fewest and the most packets.
fn range_of_packets(k: &mut Keys, key: &str) -> Result<(u32, u32), Error> {
    let numbers = k.numbers(key, 2).ok().flatten().unwrap_or_default();
    let is_count = |n: &f64| n.fract() == 0.0 && (1.0..=MAX_OVERTAKING as f64).contains(n);
    match numbers.as_slice() {
        [low, high] if is_count(low) && is_count(high) && low <= high => {
            Ok((*low as u32, *high as u32))
        }
        _ => {
            let message = format!(
                "expected packets from 1 to {MAX_OVERTAKING}, or a list of the fewest and the most \
                 such as [5, 20]"
            );
            Err(k.wrong(key, message))
        }
    }
}

/// Checks that only one impairment of a link counts packets.
pub(super) fn check(k: &Keys, at: &str, impairments: &[Impairment]) -> Result<(), Error> {
    match impairments.iter().filter(|impairment| impairment.counts_packets()).count() {
        0 | 1 => Ok(()),
        _ => {
            let key = format!("{at}.early.by");
            Err(k.wrong(&key, "expected either this in packets or delayed.by"))
        }
    }
}

/// Reads packets that overtake all others.
pub(super) fn early(k: &mut Keys, at: &str, applies: Applies) -> Result<Impairment, Error> {
    let key = format!("{at}.fraction");
    let fraction = k.fraction(&key)?;
    let every = k.count(&format!("{at}.every"), 1, 1_000_000)?;
    let chosen = match (fraction, every) {
        (Some(_), Some(_)) => return Err(k.wrong(&key, "expected either this or every")),
        (None, Some(every)) => Chosen::Every(every as u32),
        (fraction, None) => Chosen::Fraction(k.required(&key, fraction, "\"5 %\"")?),
    };
    let key = format!("{at}.by");
    let by = match k.count(&key, 1, MAX_OVERTAKING) {
        Ok(Some(packets)) => {
            Some(Advance::Packets { count: packets as u32, at_most: max_wait(k, at)? })
        }
        Ok(None) => None,
        Err(_) => k.duration(&key).map(|time| time.map(Advance::Time)).map_err(|_| {
            k.wrong(
                &key,
                format!("expected packets from 1 to {MAX_OVERTAKING} or a time such as \"200 ms\""),
            )
        })?,
    };
    let by = k.required(&key, by, "\"200 ms\"")?;
    Ok(Impairment::Early { chosen, by, applies })
}

fn max_wait(k: &mut Keys, at: &str) -> Result<Duration, Error> {
    Ok(k.duration(&format!("{at}.at_most"))?.unwrap_or(MAX_WAIT))
}

/// Describes the far end of a link, in an entry for each of its checks.
pub(super) fn in_words(link: &LinkConfig) -> Vec<String> {
    let LinkConfig { exit, fragments, .. } = link;
    let mut parts = Vec::new();
    parts.extend(fragments.map(|Fragments { mtu, max_distance }| match max_distance {
        0 => format!("IPv4 fragments above {mtu} B"),
        _ => format!("IPv4 fragments above {mtu} B, lost if more than {max_distance} apart"),
    }));
    parts.extend(exit.replay.map(|ReplayWindow { behind, rule }| match rule {
        ReplayRule::InOrder { run } => {
            format!("only packets in order pass, after a gap once {run} have followed one another")
        }
        ReplayRule::Plain => format!("replay window of {}", count(behind, "packet")),
        ReplayRule::MaxAge(max) => {
            format!("replay window of {} and {max}", count(behind, "packet"))
        }
        ReplayRule::FarAhead { run } => {
            let packets = count(behind, "packet");
            format!("replay window of {packets}, which drops up to {run} in a row so far ahead")
        }
    }));
    parts.extend(exit.ranges.map(|ranges| format!("room for {}", count(ranges, "range"))));
    parts
}
