//! What reordering cost a transfer, by the model: the path as fitted, and the same without lateness.

use serde::Serialize;
use unruffled_capture::{Cause, Direction, Sureness};
use unruffled_tcp::Variant;

use super::beside::Beside;
use super::losses::{Blamed, Losses};
use super::path::{measured, payload_share};
use super::search::{self, Fit, OBSERVED, goodput_bps, same_time};
use crate::cancel::CancellationToken;
use crate::error::FitError;
use crate::rate;

/// Senders that may have been captured: as Linux is, and as it was before RACK.
const CAPTURED: [&str; 2] = [OBSERVED, "linux-reordering+cubic"];

/// Where neither is near: one that learns nothing from reordering.
const UNTAUGHT: &str = "sack";

/// Others queue in the path if so many more packets waited for theirs than were late: those that came
/// late without being overtaken look the same.
const CROWDED: f64 = 0.25;

/// Others who are seen and leave less than this share of the path unused are those who queue in it.
const ALL_SEEN: f64 = 0.8;

/// The sender that stands for `unruffled attach`.
const ATTACHED: &str = "unruffled";

/// The model has the transfer if its goodput is within this factor of what was captured.
const CLOSE: f64 = 1.15;

/// Beyond this factor, it says nothing of it.
const TOO_FAR: f64 = 2.0;

/// Shares that differ by less are told as one.
const APART: f64 = 0.05;

/// Late times that fit: the largest distance of the distributions.
const DISTANCE: f64 = 0.15;

/// A throughput now, and what the model gives for other circumstances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// What was captured, in bits per second.
    pub now_bps: f64,
    /// What the same sender delivers without the reordering.
    pub without_bps: f64,
    /// The share of that which reordering takes.
    pub share: f64,
    /// The same two if the path loses nothing but what its queue drops: what was lost may be what
    /// late packets made a sender do, or retransmissions that nobody proves spurious.
    pub lossless_bps: f64,
    /// The share of that.
    pub lossless_share: f64,
    /// What the sender `unruffled` delivers with the reordering.
    pub attached_bps: f64,
    /// The same if the path loses nothing but what its queue drops.
    pub lossless_attached_bps: f64,
    /// The share by the likelier reading of the losses: one of the two above.
    pub likelier_share: f64,
    /// Whose doing the losses were, and what says so.
    pub losses: Losses,
    /// The sender that the model runs in place of the one captured.
    pub sender: String,
    /// What the model gives for what was captured: the nearer, the better it knows the path.
    pub model_bps: f64,
    /// The Kolmogorov–Smirnov distance of the late times.
    pub distance: Option<f64>,
    /// Other transfers that the model leaves their part of the path, each by the share of the time in
    /// which it was there.
    pub beside: f64,
    /// How sure all this is.
    pub sureness: Sureness,
    /// In words.
    pub text: String,
}

/// What reordering cost `direction`, for those whom it slowed, with others `beside` it.
///
/// # Errors
/// Why the cost is not known.
pub fn cost(
    name: &str,
    direction: &Direction,
    cause: Cause,
    losses: &Losses,
    beside: &Beside,
    cancel: &CancellationToken,
) -> Result<Cost, FitError> {
    if cause != Cause::Reordering {
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
    let crowded = direction.crowded.filter(|share| *share > path.late + CROWDED);
    if let Some(share) = crowded
        && beside.all_bps(now_bps) < path.rate_bps * ALL_SEEN
    {
        return Err(FitError::Crowded { share });
    }
    let fit = nearest(name, direction, losses, cancel)?;
    let model_bps = fit.simulated_bps;
    let factor = (model_bps / fit.observed_bps).max(fit.observed_bps / model_bps);
    if !factor.is_finite() || factor > TOO_FAR {
        return Err(FitError::TooFar { model_bps, captured_bps: fit.observed_bps });
    }
    let near = factor <= CLOSE && fit.distance.is_some_and(|distance| distance <= DISTANCE);
    // What the model gives is taken in proportion, so that its own error cancels, and a path carries
    // no more than its rate, or what others leave of it.
    let ratio = fit.observed_bps / model_bps;
    let most_bps = fit.rate_bps * payload_share(direction);
    let left_bps = beside.left_bps(now_bps, most_bps);
    let delivers = |toml: &str, sender: &str| {
        let variant = Variant::parse(sender)?;
        let bps = goodput_bps(&same_time(toml, direction)?, &variant, cancel)? * ratio;
        Ok::<f64, FitError>(bps.min(left_bps.unwrap_or(most_bps)))
    };
    let without_bps = delivers(&fit.in_order, &fit.sender)?;
    let attached_bps = delivers(&fit.toml, ATTACHED)?;
    let (lossless_bps, lossless_attached_bps) = match &fit.lossless {
        Some([late, in_order]) => (
            delivers(in_order, &fit.sender)?.max(without_bps),
            delivers(late, ATTACHED)?.max(attached_bps),
        ),
        None => (without_bps, attached_bps),
    };
    let [share, lossless_share] =
        [without_bps, lossless_bps].map(|bps| (1.0 - fit.observed_bps / bps).max(0.0));
    let open = lossless_share >= share + APART;
    let sureness = if near { Sureness::Probable } else { Sureness::Possible };
    let decided = match fit.losses.decision {
        Blamed::Path => Some(false),
        Blamed::Queue | Blamed::Reordering | Blamed::None => Some(true),
        Blamed::Undecided => None,
    }
    .filter(|_| open);
    let range = |least: f64, most: f64| match (open, decided) {
        (false, _) | (true, Some(false)) => rate::in_words(least),
        (true, Some(true)) => rate::in_words(most),
        (true, None) => format!("{} to {}", rate::in_words(least), rate::in_words(most)),
    };
    let likelier_share = if decided == Some(true) { lossless_share } else { share };
    let text = format!(
        "It cost {:.0} %{}: {} now, {} without reordering{}, by the model, {} ({}: for what was \
         captured it gives {}{}). With the sender unruffled, the model gives {} (scaled like the \
         rest).{}",
        likelier_share * 100.0,
        // What nobody proves spurious counts as lost, and is lost without the reordering as well.
        match (decided, open, near) {
            (Some(true), ..) => format!(", or {:.0} % if the path lost packets", share * 100.0),
            (_, true, _) =>
                format!(", up to {:.0} % if it caused the losses too", lossless_share * 100.0),
            (_, false, true) => String::new(),
            (_, false, false) => " or more".to_owned(),
        },
        rate::in_words(fit.observed_bps),
        range(without_bps, lossless_bps),
        // Nobody knows what the other paths carry.
        if path.turn.is_some() { ", all by the faster of its ways" } else { "" },
        match left_bps {
            Some(_) => "where others that went the same way keep their part of the path",
            None => "which has the path to itself",
        },
        if near { "probable" } else { "possible" },
        rate::in_words(model_bps),
        fit.distance.map_or(String::new(), |d| format!(", and late times at a distance of {d:.2}")),
        range(attached_bps, lossless_attached_bps),
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

/// The path by the sender whose goodput over it is the nearest to the capture's.
fn nearest(
    name: &str,
    direction: &Direction,
    losses: &Losses,
    cancel: &CancellationToken,
) -> Result<Fit, FitError> {
    let fits = CAPTURED.iter().map(|sender| search::fit(name, direction, losses, sender, cancel));
    let mut fits: Vec<Fit> = fits.collect::<Result<_, _>>()?;
    if fits.iter().all(|fit| fit.misfit() > CLOSE.ln()) {
        fits.push(search::fit(name, direction, losses, UNTAUGHT, cancel)?);
    }
    let nearest = fits.into_iter().min_by(|a, b| a.misfit().total_cmp(&b.misfit()));
    nearest.ok_or(FitError::NoPath)
}
