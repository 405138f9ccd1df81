//! An analysis as JSON.

use serde::Serialize;
use unruffled_capture::{Analysis, Place, Tunnel, Verdict};

use crate::advice::{self, Remedy, Step};
use crate::fit::{Cost, LimitCost, Losses};
use crate::transfer::Transfer;

/// Returns one JSON object: the analysis, and what slowed each transfer.
pub fn json(
    name: &str,
    analysis: &Analysis,
    transfers: &[Transfer<'_>],
    plan: &[Step],
    damage: Option<&str>,
) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        /// Name of the capture.
        capture: &'a str,
        /// What is wrong with the file, if something is: the analysis is of what comes before.
        damage: Option<&'a str>,
        #[serde(flatten)]
        analysis: &'a Analysis,
        /// What slowed each transfer, the largest first.
        verdicts: Vec<Judged<'a>>,
        /// What to do, on which host.
        plan: &'a [Step],
    }
    #[derive(Serialize)]
    struct Judged<'a> {
        /// Index of the connection in `connections`, from 0.
        connection: usize,
        /// The sender of the data.
        from: std::net::SocketAddr,
        /// The receiver of the data.
        to: std::net::SocketAddr,
        #[serde(flatten)]
        verdict: &'a Verdict,
        /// Place of the capture on the way of the data.
        place: Place,
        /// Whose doing the losses were.
        losses: &'a Losses,
        /// What to do, a line each.
        advice: Vec<String>,
        /// What reordering cost, by simulation.
        cost: Option<&'a Cost>,
        /// Why no cost is known.
        no_cost: Option<String>,
        /// What a limit of the hosts cost, by simulation.
        limit_cost: Option<&'a LimitCost>,
        /// The remedy that is possible on the host of the capture.
        remedy_here: Option<Remedy>,
        /// The tunnel that carries the transfer, if the capture has both.
        tunnel: Option<Tunnel>,
    }
    let verdicts = (1..).zip(transfers).map(|(number, transfer)| Judged {
        connection: transfer.connection,
        from: transfer.direction.from,
        to: transfer.direction.to,
        verdict: &transfer.verdict,
        place: transfer.direction.place,
        losses: &transfer.losses,
        advice: advice::lines(plan, number),
        cost: transfer.cost.as_ref().and_then(|cost| cost.as_ref().ok()),
        no_cost: transfer
            .cost
            .as_ref()
            .and_then(|cost| cost.as_ref().err())
            .map(|error| error.to_string()),
        limit_cost: transfer.limit_cost.as_ref().and_then(|cost| cost.as_ref().ok()),
        remedy_here: advice::remedy_here(transfer.direction, transfer.verdict.cause),
        tunnel: transfer.tunnel,
    });
    let document = Document { capture: name, damage, analysis, verdicts: verdicts.collect(), plan };
    serde_json::to_string(&document).unwrap_or_default() + "\n"
}
