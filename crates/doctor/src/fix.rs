//! A trial of `attach`: it attaches where a report advises it, compares, and detaches where it did not help.
//!
//! All that it changes is in the file that `unruffled detach` reads, before it is changed. So a trial that is
//! killed is undone by `unruffled detach`.

use std::path::PathBuf;

use serde::Serialize;
use unruffled_kernel::{Attachment, Error, Growth, Target};

use crate::words::elsewhere;
use crate::{Flow, Place, Remedy, Report, Role, Surroundings, Verdict};

/// Least ratio of the rates after and before, beside that of the connections left alone, that counts as help.
const MIN_GAIN: f64 = 1.2;

/// Result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It helped, and stays.
    Helped,
    /// It did not help.
    NoHelp,
    /// No connection that had it carried enough data.
    NotMeasured,
}

/// Rates before and after.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Result.
    pub outcome: Outcome,
    /// Number of connections that were compared.
    pub connections: usize,
    /// Median ratio of their rates after and before.
    pub gain: Option<f64>,
    /// Number of connections left alone.
    pub left_alone: usize,
    /// Median ratio of the rates of the connections left alone; `None` if there were none.
    pub gain_left_alone: Option<f64>,
}

/// Checks that a trial is possible, before the first watch.
///
/// # Errors
/// If the process or the kernel lacks something that `attach` needs, or if something is attached already, since
/// the trial undoes all that is attached.
pub fn check() -> Result<(), Error> {
    unruffled_kernel::Sample::take()?;
    if unruffled_kernel::is_registered() {
        return Err(Error::Requirement {
            found: "--fix: unruffled is in the kernel already".to_owned(),
            expected: "that nothing is attached: `unruffled status` shows it, `unruffled detach` undoes it",
        });
    }
    Ok(())
}

/// Attaches where the report advises it, open connections included, and returns the number of those. `None` if
/// the report advises it nowhere.
///
/// # Errors
/// If something is attached already, or if the kernel refuses. Earlier steps are undone.
pub fn attach(report: &Report, around: &Surroundings) -> Result<Option<usize>, Error> {
    let attachments: Vec<Attachment> =
        report.plan.iter().filter_map(|remedy| attachment(remedy, around)).collect();
    if attachments.is_empty() {
        return Ok(None);
    }
    check()?;
    let mut switched = 0;
    for attachment in &attachments {
        match unruffled_kernel::attach(attachment) {
            Ok(attached) => switched += attached.switched,
            Err(error) => {
                // The first error is the one that matters.
                let _ = unruffled_kernel::detach();
                return Err(error);
            }
        }
    }
    Ok(Some(switched))
}

/// Undoes [`attach`].
///
/// # Errors
/// If the kernel refuses.
pub fn revert() -> Result<(), Error> {
    unruffled_kernel::detach().map(|_| ())
}

fn attachment(remedy: &Remedy, around: &Surroundings) -> Option<Attachment> {
    let Remedy::Attach { namespace, cgroup, bbr } = remedy else { return None };
    let place = elsewhere(*namespace, around);
    Some(Attachment {
        growth: if *bbr { Growth::Bbr } else { Growth::Cubic },
        default: cgroup.is_none(),
        cgroup: cgroup.clone().map(PathBuf::from),
        namespace: place.map(|place| match place {
            Place::Name(name) => Target::Named(name.into()),
            Place::Process(process) => Target::Process(*process),
        }),
        existing: true,
    })
}

/// Compares the senders of two watches, before and after [`attach`].
pub fn compare(before: &[Flow], after: &[Flow]) -> Comparison {
    let is_sending = |flow: &&Flow| {
        flow.role == Role::Sender
            && !matches!(flow.verdict, Verdict::TooShort | Verdict::ApplicationLimited)
    };
    let has_it = |flow: &Flow| flow.congestion_control.starts_with("unruffled");
    let was_slow = |flow: &Flow| flow.verdict.suffers();
    let mut treated = Vec::new();
    let mut others = Vec::new();
    for now in after.iter().filter(is_sending) {
        let is_same = |flow: &&Flow| {
            (flow.namespace, flow.local, flow.peer) == (now.namespace, now.local, now.peer)
        };
        let former = before.iter().filter(is_sending).find(is_same);
        match former {
            Some(former) if has_it(now) && was_slow(former) => {
                treated.push(now.rate_bps / former.rate_bps);
            }
            Some(former) if !has_it(now) => others.push(now.rate_bps / former.rate_bps),
            // A new connection is compared with the slow ones to the same destination.
            None if has_it(now) => {
                let is_alike = |flow: &&Flow| {
                    was_slow(flow)
                        && flow.namespace == now.namespace
                        && flow.peer_network() == now.peer_network()
                };
                let rates = before.iter().filter(is_sending).filter(is_alike);
                let rate = median(rates.map(|flow| flow.rate_bps).collect());
                treated.extend(rate.map(|rate| now.rate_bps / rate));
            }
            _ => {}
        }
    }
    let connections = treated.len();
    let left_alone = others.len();
    let gain = median(treated);
    let gain_left_alone = median(others);
    let outcome = match gain {
        None => Outcome::NotMeasured,
        Some(gain) if gain >= MIN_GAIN * gain_left_alone.unwrap_or(1.0) => Outcome::Helped,
        Some(_) => Outcome::NoHelp,
    };
    Comparison { outcome, connections, gain, left_alone, gain_left_alone }
}

/// Returns the lower median of the finite values.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|value| value.is_finite());
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied()
}

impl Comparison {
    /// Returns the comparison in a sentence.
    pub fn text(&self) -> String {
        let connections = unruffled_units::count(self.connections, "connection");
        let others = match (self.gain_left_alone, self.left_alone) {
            (Some(gain), number) => format!(
                "{} left alone had {gain:.2} times",
                unruffled_units::count(number, "connection")
            ),
            (None, _) => "no connection was left alone to compare with".to_owned(),
        };
        match (self.outcome, self.gain) {
            (Outcome::Helped, Some(gain)) => format!(
                "It helped, and stays until `sudo unruffled detach`: {connections} had {gain:.2} times the former \
                 rate; {others}."
            ),
            (Outcome::NoHelp, Some(gain)) => format!(
                "It did not help, and is undone: {connections} had {gain:.2} times the former rate; {others}."
            ),
            _ => "No connection that had it carried enough data to compare, so it is undone."
                .to_owned(),
        }
    }
}
