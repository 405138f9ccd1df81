//! Far ends of links: anti-replay windows and limits on ranges.

use unruffled_path::{ExitConfig, ReplayRule, ReplayWindow};
use unruffled_units::{count, hint};

use crate::error::Error;
use crate::keys::Keys;

/// Maximum length of an anti-replay window in packets, and maximum number of ranges.
const MAX: u64 = 1_000_000;

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

/// Describes the far end of a link, in an entry for each of its checks.
pub(super) fn in_words(exit: &ExitConfig) -> Vec<String> {
    let mut parts = Vec::new();
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
