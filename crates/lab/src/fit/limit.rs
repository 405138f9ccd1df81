//! The cost of a limit that drops late packets, by simulation of the fitted path with and without it.

use serde::Serialize;
use unruffled_capture::{Direction, Sureness};
use unruffled_tcp::Variant;

use super::cost::{ATTACHED, GOOD_RATIO, MAX_RATIO, RESEQUENCE, nearest};
use super::losses::Losses;
use super::path::{measured, payload_share};
use super::search::{goodput_bps, same_time};
use crate::cancel::CancellationToken;
use crate::error::FitError;
use crate::rate;

/// The keys of the fitted path without a limit.
const UNLIMITED: [&str; 2] = ["link.measured.replay_window=none", "link.measured.ranges=none"];

/// The goodput now, and the simulated goodput with each remedy, for a transfer whose late packets are
/// dropped by a replay window or by a limit on ranges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitCost {
    /// The captured goodput, in bits per second.
    pub now_bps: f64,
    /// The goodput of the same sender without the limit.
    pub unlimited_bps: f64,
    /// The goodput of the sender `unruffled` with the limit.
    pub attached_bps: f64,
    /// The goodput of the sender `unruffled` without the limit.
    pub unlimited_attached_bps: f64,
    /// The goodput of the same sender where packets are put in order before the limit.
    pub resequenced_bps: f64,
    /// The sender that was simulated in place of the captured one.
    pub sender: String,
    /// The simulated goodput of the captured transfer. The nearer it is, the better the fit.
    pub model_bps: f64,
    /// The certainty of the result.
    pub sureness: Sureness,
    /// The result as a sentence.
    pub text: String,
}

/// Simulates what a limit that drops late packets cost the transfer in `direction`.
///
/// # Errors
/// The reason why the cost is unknown.
pub fn limit_cost(
    name: &str,
    direction: &Direction,
    losses: &Losses,
    cancel: &CancellationToken,
) -> Result<LimitCost, FitError> {
    let path = measured(direction)?;
    if !path.filled {
        return Err(FitError::NoRate);
    }
    let fit = nearest(name, direction, losses, cancel)?;
    let model_bps = fit.simulated_bps;
    let factor = (model_bps / fit.observed_bps).max(fit.observed_bps / model_bps);
    if !factor.is_finite() || factor > MAX_RATIO {
        return Err(FitError::TooFar { model_bps, captured_bps: fit.observed_bps });
    }
    // Simulated goodputs are scaled so that the error of the fit cancels.
    let ratio = fit.observed_bps / model_bps;
    let most_bps = fit.rate_bps * payload_share(direction);
    let delivers = |sender: &str, overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&set| set.to_owned()).collect();
        let scenario = same_time(&fit.toml, direction, &overrides)?;
        let bps = goodput_bps(&scenario, &Variant::parse(sender)?, cancel)?;
        Ok::<f64, FitError>((bps * ratio).min(most_bps))
    };
    let ordered = [UNLIMITED[0], UNLIMITED[1], RESEQUENCE];
    let unlimited_bps = delivers(&fit.sender, &UNLIMITED)?;
    let attached_bps = delivers(ATTACHED, &[])?;
    let unlimited_attached_bps = delivers(ATTACHED, &UNLIMITED)?;
    let resequenced_bps = delivers(&fit.sender, &ordered)?;
    let is_near = factor <= GOOD_RATIO;
    let text = format!(
        "By the model, which has the path to itself ({}: for what was captured it gives {}), the transfer has {} \
         now, and {} without that limit; with `attach`, {} as it is and {} without the limit; where packets \
         are put in order before it, {}.",
        if is_near { "probable" } else { "possible" },
        rate::in_words(model_bps),
        rate::in_words(fit.observed_bps),
        rate::in_words(unlimited_bps),
        rate::in_words(attached_bps),
        rate::in_words(unlimited_attached_bps),
        rate::in_words(resequenced_bps),
    );
    Ok(LimitCost {
        now_bps: fit.observed_bps,
        unlimited_bps,
        attached_bps,
        unlimited_attached_bps,
        resequenced_bps,
        sender: fit.sender,
        model_bps,
        sureness: if is_near { Sureness::Probable } else { Sureness::Possible },
        text,
    })
}
