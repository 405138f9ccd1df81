//! The cost of reordering for a transfer, by simulation of the fitted path with and without late
//! packets, and the goodput that each remedy gives on that path.

use serde::Serialize;
use unruffled_capture::{Cause, Direction, Place, Sureness};
use unruffled_tcp::Variant;

use super::beside::Beside;
use super::losses::{LossOrigin, Losses};
use super::path::{measured, payload_share};
use super::search::{self, Fit, OBSERVED, goodput_bps, same_time};
use crate::cancel::CancellationToken;
use crate::error::FitError;
use crate::rate;

/// The senders that may have been captured: Linux today, and before RACK.
const CAPTURED: [&str; 2] = [OBSERVED, "linux-reordering+cubic"];

/// The alternatives if neither fits: Linux with a receiver that discards nothing for its timestamp, and a
/// sender that does not adapt to reordering.
const ALTERNATIVES: [&str; 2] = ["rack+cubic", "sack"];

/// The excess of packets that waited for others over late packets from which other transfers use
/// the path. Late packets that are not overtaken look the same.
const MIN_CROWDING: f64 = 0.25;

/// The share of the path from which the visible transfers are the ones that use it.
const MIN_USED_SHARE: f64 = 0.8;

/// The sender that simulates `unruffled attach`.
pub(super) const ATTACHED: &str = "unruffled";

/// The sender that simulates `unruffled attach --growth bbr`.
const ATTACHED_BBR: &str = "unruffled+bbr";

/// The ratio of goodputs from which the growth of BBR pays.
const MIN_GROWTH_RATIO: f64 = 1.2;

/// The key of the fitted path that simulates `unruffled resequence` at the receiver.
pub(super) const RESEQUENCE: &str = "link.measured.resequence=true";

/// The keys of a connection with timestamps, and of a receiver that discards segments by them.
const TIMESTAMPS: [&str; 2] = ["tcp.timestamps=true", "tcp.paws=true"];

/// The largest ratio of simulated and captured goodput of a good fit.
pub(super) const GOOD_RATIO: f64 = 1.15;

/// The largest ratio at which the fit has any meaning.
pub(super) const MAX_RATIO: f64 = 2.0;

/// The smallest difference of two shares that are reported separately.
const MIN_SHARE_DIFFERENCE: f64 = 0.05;

/// The largest distance of the distributions of late times of a good fit.
const GOOD_DISTANCE: f64 = 0.15;

/// The goodput now, and the simulated goodput in other circumstances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The captured goodput, in bits per second.
    pub now_bps: f64,
    /// The goodput of the same sender without reordering.
    pub without_bps: f64,
    /// The share of that goodput that reordering costs.
    pub share: f64,
    /// The goodput without reordering if only the queue of the path drops packets. The other losses
    /// may be effects of late packets, or undetected spurious retransmissions.
    pub lossless_bps: f64,
    /// The share of that goodput that reordering costs.
    pub lossless_share: f64,
    /// The goodput of the sender `unruffled` with reordering.
    pub attached_bps: f64,
    /// That goodput if only the queue of the path drops packets.
    pub lossless_attached_bps: f64,
    /// The goodput of the sender `unruffled+bbr` with reordering.
    pub attached_bbr_bps: f64,
    /// That goodput if only the queue of the path drops packets.
    pub lossless_attached_bbr_bps: f64,
    /// How the window of `unruffled attach` should grow: by BBR if the path loses packets that CUBIC
    /// takes for congestion.
    pub growth: Growth,
    /// The goodput of the same sender with reordering, if `unruffled resequence` puts the packets in
    /// order at the end of the path.
    pub resequenced_bps: f64,
    /// That goodput if only the queue of the path drops packets.
    pub lossless_resequenced_bps: f64,
    /// The cost by the likelier reading of the losses: one of the two above.
    pub likelier_share: f64,
    /// The origin of the losses, with the evidence.
    pub losses: Losses,
    /// The sender that was simulated in place of the captured one.
    pub sender: String,
    /// The simulated goodput of the captured transfer. The nearer it is, the better the fit.
    pub model_bps: f64,
    /// The Kolmogorov–Smirnov distance of the late times.
    pub distance: Option<f64>,
    /// The number of other transfers whose part of the path is left to them, each weighted by the
    /// share of the time in which it was active.
    pub beside: f64,
    /// The certainty of the result.
    pub sureness: Sureness,
    /// The result as a sentence.
    pub text: String,
}

/// The growth of the window of `unruffled attach`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Growth {
    /// CUBIC, the default.
    #[default]
    Cubic,
    /// BBR.
    Bbr,
}

/// Simulates what reordering cost the transfer in `direction`, which it slowed. `beside` are other
/// transfers on the path.
///
/// # Errors
/// The reason why the cost is unknown.
pub fn cost(
    name: &str,
    direction: &Direction,
    cause: Cause,
    losses: &Losses,
    beside: &Beside,
    cancel: &CancellationToken,
) -> Result<Cost, FitError> {
    if !cause.is_reordering() {
        return Err(FitError::NotReordered);
    }
    if direction.reordering().late_time.is_none() {
        return Err(FitError::NoneSeenLate);
    }
    let path = measured(direction)?;
    if !path.filled {
        return Err(FitError::NoRate);
    }
    let now_bps = direction.traffic.goodput_bps;
    let crowded = direction.crowded.filter(|share| *share > path.late + MIN_CROWDING);
    if let Some(share) = crowded
        && beside.all_bps(now_bps) < path.rate_bps * MIN_USED_SHARE
    {
        return Err(FitError::Crowded { share });
    }
    let fit = nearest(name, direction, losses, cancel)?;
    let model_bps = fit.simulated_bps;
    let factor = (model_bps / fit.observed_bps).max(fit.observed_bps / model_bps);
    if !factor.is_finite() || factor > MAX_RATIO {
        return Err(FitError::TooFar { model_bps, captured_bps: fit.observed_bps });
    }
    let near =
        factor <= GOOD_RATIO && fit.distance.is_some_and(|distance| distance <= GOOD_DISTANCE);
    // Simulated goodputs are scaled so that the error of the fit cancels. A path carries no more
    // than its rate, or than others leave of it.
    let ratio = fit.observed_bps / model_bps;
    let most_bps = fit.rate_bps * payload_share(direction);
    let left_bps = beside.left_bps(now_bps, most_bps);
    let delivers = |toml: &str, overrides: &[String], sender: &str| {
        let variant = Variant::parse(sender)?;
        let scenario = same_time(toml, direction, overrides)?;
        let bps = goodput_bps(&scenario, &variant, cancel)? * ratio;
        Ok::<f64, FitError>(bps.min(left_bps.unwrap_or(most_bps)))
    };
    // `attach` switches timestamps off, and `resequence` leaves them as they are: it distinguishes what was
    // sent again by them.
    let mut resequence = vec![RESEQUENCE.to_owned()];
    if direction.traffic.timestamps {
        resequence.extend(TIMESTAMPS.map(str::to_owned));
    }
    // At the receiver, the queue of the path is not seen. A short one would drop the bursts that follow the
    // end of each wait.
    if direction.place == Place::Receiver {
        resequence.push(format!(
            "link.measured.queue={}",
            path.queue.max(path.window_packets(direction))
        ));
    }
    let without_bps = delivers(&fit.in_order, &[], &fit.sender)?;
    let attached_bps = delivers(&fit.toml, &[], ATTACHED)?;
    let attached_bbr_bps = delivers(&fit.toml, &[], ATTACHED_BBR)?;
    let resequenced_bps = delivers(&fit.toml, &resequence, &fit.sender)?;
    let lossless_attached_bbr_bps = match &fit.lossless {
        Some([late, _]) => delivers(late, &[], ATTACHED_BBR)?.max(attached_bbr_bps),
        None => attached_bbr_bps,
    };
    let (lossless_bps, lossless_attached_bps, lossless_resequenced_bps) = match &fit.lossless {
        Some([late, in_order]) => (
            delivers(in_order, &[], &fit.sender)?.max(without_bps),
            delivers(late, &[], ATTACHED)?.max(attached_bps),
            delivers(late, &resequence, &fit.sender)?.max(resequenced_bps),
        ),
        None => (without_bps, attached_bps, resequenced_bps),
    };
    let [share, lossless_share] =
        [without_bps, lossless_bps].map(|bps| (1.0 - fit.observed_bps / bps).max(0.0));
    let open = lossless_share >= share + MIN_SHARE_DIFFERENCE;
    let sureness = if near { Sureness::Probable } else { Sureness::Possible };
    let decided = match fit.losses.decision {
        LossOrigin::Path => Some(false),
        LossOrigin::Queue
        | LossOrigin::Reordering
        | LossOrigin::ReplayWindow
        | LossOrigin::Ranges
        | LossOrigin::None => Some(true),
        LossOrigin::Undecided => None,
    }
    .filter(|_| open);
    let pays = [
        attached_bbr_bps >= MIN_GROWTH_RATIO * attached_bps,
        lossless_attached_bbr_bps >= MIN_GROWTH_RATIO * lossless_attached_bps,
    ];
    let growth = match decided {
        Some(false) => pays[0],
        Some(true) => pays[1],
        None => pays[0] && (!open || pays[1]),
    };
    let growth = if growth { Growth::Bbr } else { Growth::Cubic };
    let range = |least: f64, most: f64| match (open, decided) {
        (false, _) | (true, Some(false)) => rate::in_words(least),
        (true, Some(true)) => rate::in_words(most),
        (true, None) => format!("{} to {}", rate::in_words(least), rate::in_words(most)),
    };
    let likelier_share = if decided == Some(true) { lossless_share } else { share };
    let text = format!(
        "It cost {:.0} %{}: {} now, {} without reordering{}, by the model, {} ({}: for what was \
         captured it gives {}{}). With the sender unruffled, the model gives {} (scaled like the \
         rest){}; with the sender as it is and `unruffled resequence` at the receiver, {}.{}",
        likelier_share * 100.0,
        // Undetected spurious retransmissions count as losses, which occur without reordering as
        // well.
        match (decided, open, near) {
            (Some(true), ..) => format!(", or {:.0} % if the path lost packets", share * 100.0),
            (_, true, _) =>
                format!(", up to {:.0} % if it caused the losses too", lossless_share * 100.0),
            (_, false, true) => String::new(),
            (_, false, false) => " or more".to_owned(),
        },
        rate::in_words(fit.observed_bps),
        range(without_bps, lossless_bps),
        // The load of the other paths is unknown.
        if path.turn.is_some() { ", all by the faster of its ways" } else { "" },
        match left_bps {
            Some(_) => "where others that went the same way keep their part of the path",
            None => "which has the path to itself",
        },
        if near { "probable" } else { "possible" },
        rate::in_words(model_bps),
        fit.distance.map_or(String::new(), |d| format!(", and late times at a distance of {d:.2}")),
        range(attached_bps, lossless_attached_bps),
        match growth {
            Growth::Bbr => format!(
                ", and {} where its window grows by BBR",
                range(attached_bbr_bps, lossless_attached_bbr_bps)
            ),
            Growth::Cubic => String::new(),
        },
        range(resequenced_bps, lossless_resequenced_bps),
        if open { format!(" {}", fit.losses.in_words()) } else { String::new() },
    );
    Ok(Cost {
        now_bps: fit.observed_bps,
        without_bps,
        share,
        lossless_bps,
        lossless_share,
        attached_bps,
        lossless_attached_bps,
        attached_bbr_bps,
        lossless_attached_bbr_bps,
        growth,
        resequenced_bps,
        lossless_resequenced_bps,
        likelier_share,
        losses: fit.losses,
        sender: fit.sender,
        model_bps,
        distance: fit.distance,
        beside: left_bps.map_or(0.0, |_| beside.transfers),
        sureness,
        text,
    })
}

/// Fits a path for each sender, and returns the fit whose goodput is nearest to the captured one.
pub(super) fn nearest(
    name: &str,
    direction: &Direction,
    losses: &Losses,
    cancel: &CancellationToken,
) -> Result<Fit, FitError> {
    let fits = CAPTURED.iter().map(|sender| search::fit(name, direction, losses, sender, cancel));
    let mut fits: Vec<Fit> = fits.collect::<Result<_, _>>()?;
    if fits.iter().all(|fit| fit.misfit() > libm::log(GOOD_RATIO)) {
        for sender in ALTERNATIVES {
            fits.push(search::fit(name, direction, losses, sender, cancel)?);
        }
    }
    let nearest = fits.into_iter().min_by(|a, b| a.misfit().total_cmp(&b.misfit()));
    nearest.ok_or(FitError::NoPath)
}
