//! The path part of a scenario file: links by name, and what befalls packets on them.

use unruffled_path::{Applies, Distribution, Impairment, LinkConfig};
use unruffled_units::{Duration, Instant};

use super::Hop;
use super::keys::Keys;
use crate::error::Error;

/// The keys of a link, for messages.
pub(super) const KEYS: &str = "rate, delay, queue, delayed, loss, alternate, duplicate";

/// The links that the list at `key` names, in its order.
pub(super) fn hops(k: &mut Keys, key: &str) -> Result<Vec<Hop>, Error> {
    let names = k.list(key)?;
    let names = k.required(key, names, "[\"bottleneck\"]")?;
    let defined = k.tables("link");
    let mut hops: Vec<Hop> = Vec::new();
    for name in &names {
        if !defined.contains(name) {
            let known = defined.join(", ");
            let message = format!("no table [link.{name}]: expected names among: {known}");
            return Err(k.wrong(key, message));
        }
        if hops.iter().any(|h| h.name == *name) {
            return Err(k.wrong(key, format!("{name} stands twice: expected each once")));
        }
        hops.push(hop(k, name)?);
    }
    Ok(hops)
}

/// The link of that name.
pub(super) fn hop(k: &mut Keys, name: &str) -> Result<Hop, Error> {
    Ok(Hop { name: name.to_owned(), link: link(k, &format!("link.{name}"))? })
}

fn link(k: &mut Keys, at: &str) -> Result<LinkConfig, Error> {
    let rate = k.rate(&format!("{at}.rate"))?;
    let key = format!("{at}.delay");
    let delay = k.duration(&key)?;
    let delay = k.required(&key, delay, "\"50 ms\"")?;
    let queue = k.count(&format!("{at}.queue"), 1, 10_000_000)?.map(|n| n as u32);
    let mut impairments = Vec::new();
    for kind in ["delayed", "loss", "alternate", "duplicate"] {
        let at = format!("{at}.{kind}");
        if k.has(&at) {
            let impairment = impairment(k, kind, &at)?;
            impairments.push(for_a_time(k, &at, impairment)?);
        }
    }
    Ok(LinkConfig { rate, delay, queue, impairments })
}

/// The impairment from `from` until `until`, if the file says either.
fn for_a_time(k: &mut Keys, at: &str, impairment: Impairment) -> Result<Impairment, Error> {
    let from = k.duration(&format!("{at}.from"))?;
    let key = format!("{at}.until");
    let until = k.duration(&key)?;
    if from.is_none() && until.is_none() {
        return Ok(impairment);
    }
    let from = Instant::ZERO + from.unwrap_or_default();
    let until = until.map_or(Instant::MAX, |until| Instant::ZERO + until);
    if until <= from {
        return Err(k.wrong(&key, format!("expected a time after {from}")));
    }
    Ok(Impairment::During { from, until, impairment: Box::new(impairment) })
}

fn impairment(k: &mut Keys, kind: &str, at: &str) -> Result<Impairment, Error> {
    let key = format!("{at}.packets");
    let applies = match k.string(&key)?.as_deref() {
        None | Some("data") => Applies::Data,
        Some("acks") => Applies::Acks,
        Some("both") => Applies::Both,
        Some(other) => {
            return Err(k.wrong(&key, format!("expected data, acks or both, found {other:?}")));
        }
    };
    if kind == "alternate" {
        let every = k.count(&format!("{at}.every"), 1, 1_000_000)?.unwrap_or(2) as u32;
        let key = format!("{at}.extra");
        let extra = k.duration(&key)?;
        let extra = k.required(&key, extra, "\"200 ms\"")?;
        return Ok(Impairment::Alternate { every, extra, applies });
    }
    let key = format!("{at}.fraction");
    let fraction = k.fraction(&key)?;
    let fraction = k.required(&key, fraction, "\"10 %\"")?;
    Ok(match kind {
        "loss" => Impairment::Loss { fraction, applies },
        "duplicate" => Impairment::Duplicate { fraction, applies },
        _ => Impairment::Delay { fraction, delay: distribution(k, at)?, applies },
    })
}

pub(super) fn distribution(k: &mut Keys, at: &str) -> Result<Distribution, Error> {
    let key = format!("{at}.distribution");
    let name = k.string(&key)?.unwrap_or_else(|| "normal".to_owned());
    let mut time = |field: &str| -> Result<Duration, Error> {
        let key = format!("{at}.{field}");
        let value = k.duration(&key)?;
        k.required(&key, value, "\"25 ms\"")
    };
    let distribution = match name.as_str() {
        "constant" => Distribution::Constant(time("value")?),
        "uniform" => Distribution::Uniform { low: time("low")?, high: time("high")? },
        "normal" => Distribution::Normal { mean: time("mean")?, deviation: time("deviation")? },
        "exponential" => Distribution::Exponential { mean: time("mean")? },
        "pareto" => {
            let scale = time("scale")?;
            let key = format!("{at}.shape");
            let shape = k.number(&key)?;
            Distribution::Pareto { scale, shape: k.required(&key, shape, "1.5")? }
        }
        other => {
            let message = format!(
                "expected constant, uniform, normal, exponential or pareto, found {other:?}"
            );
            return Err(k.wrong(&key, message));
        }
    };
    // The path crate knows what makes no sense; it says so in terms of its fields.
    distribution.sampler().map_err(|e| {
        k.wrong(&format!("{at}.{}", e.field()), format!("expected {}", e.expected()))
    })?;
    Ok(distribution)
}

/// A link in one line.
pub(super) fn in_words(link: &LinkConfig) -> String {
    let mut parts = vec![
        link.rate.map_or("infinitely fast".to_owned(), |r| r.to_string()),
        link.delay.to_string(),
    ];
    if let Some(queue) = link.queue {
        parts.push(format!("drop-tail queue of {queue}"));
    }
    parts.extend(link.impairments.iter().map(befalls));
    parts.join(", ")
}

/// An impairment in a few words.
pub(super) fn befalls(impairment: &Impairment) -> String {
    let of = |applies: &Applies| match applies {
        Applies::Data => "of data packets",
        Applies::Acks => "of acknowledgements",
        Applies::Both => "of all packets",
    };
    let percent = |fraction: &f64| format!("{} %", (fraction * 1e6).round() / 1e4);
    match impairment {
        Impairment::Delay { fraction, delay, applies } => {
            format!("{} {} late by {}", percent(fraction), of(applies), law(delay))
        }
        Impairment::Loss { fraction, applies } => {
            format!("{} {} lost", percent(fraction), of(applies))
        }
        Impairment::Alternate { every, extra, applies } => {
            format!("one in {every} {} {extra} later", of(applies))
        }
        Impairment::Duplicate { fraction, applies } => {
            format!("{} {} doubled", percent(fraction), of(applies))
        }
        Impairment::During { from, until: Instant::MAX, impairment } => {
            format!("{} from {from}", befalls(impairment))
        }
        Impairment::During { from, until, impairment } => {
            format!("{} from {from} to {until}", befalls(impairment))
        }
    }
}

fn law(distribution: &Distribution) -> String {
    match distribution {
        Distribution::Constant(value) => value.to_string(),
        Distribution::Uniform { low, high } => format!("U[{low}, {high}]"),
        Distribution::Normal { mean, deviation } => format!("N({mean}, {deviation})"),
        Distribution::Exponential { mean } => format!("Exp({mean})"),
        Distribution::Pareto { scale, shape } => format!("Pareto({scale}, {shape})"),
    }
}
