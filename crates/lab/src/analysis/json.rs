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
        capture: &'a str,
        damage: Option<&'a str>,
        #[serde(flatten)]
        analysis: &'a Analysis,
        verdicts: Vec<Judged<'a>>,
        plan: &'a [Step],
    }
    #[derive(Serialize)]
    struct Judged<'a> {
        connection: usize,
        from: std::net::SocketAddr,
        to: std::net::SocketAddr,
        #[serde(flatten)]
        verdict: &'a Verdict,
        place: Place,
        losses: &'a Losses,
        advice: Vec<String>,
        cost: Option<&'a Cost>,
        no_cost: Option<String>,
        limit_cost: Option<&'a LimitCost>,
        remedy_here: Option<Remedy>,
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
