//! The links of a scenario file: by name, with the impairments of their packets.

mod exits;

use unruffled_path::{
    Advance, Applies, Chosen, ConfigError, Distribution, Impairment, LinkConfig, MarkAbove, Netem,
    Red, Times, Varying, WorkerChoice, Workers,
};
use unruffled_resequence::Config as Resequence;
use unruffled_units::{Duration, Instant, Rate, count, hint};

use super::Hop;
use super::keys::Keys;
use super::varying::{self, Course};
use crate::error::Error;

/// The impairments of a link: the tables below it. Append new ones, because the random numbers of
/// an impairment depend on its index.
const KINDS: [&str; 12] = [
    "delayed",
    "loss",
    "alternate",
    "duplicate",
    "redrawn",
    "burst",
    "blackout",
    "resend",
    "replay",
    "overhead",
    "workers",
    "early",
];

/// One MiB, in octets.
const MIB: u64 = 1 << 20;

/// Reads the links that the list at `key` names, in its order.
pub(super) fn hops(k: &mut Keys, key: &str) -> Result<Vec<Hop>, Error> {
    let names = k.list(key)?;
    let names = k.required(key, names, "[\"bottleneck\"]")?;
    let defined = k.tables("link");
    let mut hops: Vec<Hop> = Vec::new();
    for name in &names {
        if !defined.contains(name) {
            let table = format!("link.{name}");
            if let Some(wrong) = k.no_table(&table) {
                return Err(wrong);
            }
            let expected = match defined.as_slice() {
                [] => "expected one".to_owned(),
                known => {
                    let meant = hint(name, known.iter().map(String::as_str));
                    format!("expected names among: {}{meant}", known.join(", "))
                }
            };
            return Err(k.wrong(key, format!("no table [{table}]: {expected}")));
        }
        if hops.iter().any(|h| h.name == *name) {
            return Err(k.wrong(key, format!("{name} stands twice: expected each once")));
        }
        hops.push(hop(k, name)?);
    }
    Ok(hops)
}

/// Reads the link of that name.
pub(super) fn hop(k: &mut Keys, name: &str) -> Result<Hop, Error> {
    let at = format!("link.{name}");
    let link = link(k, &at)?;
    let resequence = resequence(k, &format!("{at}.resequence"))?;
    Ok(Hop { name: name.to_owned(), link, resequence })
}

fn link(k: &mut Keys, at: &str) -> Result<LinkConfig, Error> {
    let Course { rate, delay, varying } = varying::read(k, at)?;
    let queue = k.count(&format!("{at}.queue"), 1, 10_000_000)?.map(|n| n as u32);
    let red = red(k, &format!("{at}.red"), rate)?;
    let mark_above = mark_above(k, at, rate, red.is_some())?;
    let mut impairments = Vec::new();
    for kind in KINDS {
        let at = format!("{at}.{kind}");
        if k.enter(&at) {
            let impairment = impairment(k, kind, &at)?;
            impairments.push(limited_in_time(k, &at, impairment)?);
        }
    }
    impairments.extend(netem(k, &format!("{at}.netem"))?);
    exits::check(k, at, &impairments)?;
    let exit = exits::exit(k, at)?;
    let fragments = exits::fragments(k, &format!("{at}.fragments"), &impairments)?;
    Ok(LinkConfig { rate, delay, varying, queue, red, mark_above, impairments, fragments, exit })
}

/// Reads the options of netem.
fn netem(k: &mut Keys, key: &str) -> Result<Option<Impairment>, Error> {
    let Some(text) = k.string(key)? else { return Ok(None) };
    let impairment = text.parse().and_then(|netem| {
        let impairment = Impairment::Netem { netem, applies: Applies::Data };
        impairment.check().map(|()| impairment)
    });
    impairment.map(Some).map_err(|error: ConfigError| k.wrong(key, error.without_field()))
}

/// Reads the RED queue of a link of this `rate`, if the file has the table.
fn red(k: &mut Keys, at: &str, rate: Option<Rate>) -> Result<Option<Red>, Error> {
    if !k.enter(at) {
        return Ok(None);
    }
    if rate.is_none() {
        return Err(k.wrong(at, "expected a link with a rate"));
    }
    let default = Red::default();
    let min = k.number(&format!("{at}.min"))?.unwrap_or(default.min);
    let max = k.number(&format!("{at}.max"))?.unwrap_or(default.max);
    let weight = k.number(&format!("{at}.weight"))?;
    let gentle = k.switch(&format!("{at}.gentle"))?.unwrap_or(default.gentle);
    let bytes = k.switch(&format!("{at}.bytes"))?.unwrap_or(default.bytes);
    let key = format!("{at}.mean_packet");
    let mean_packet = k.count(&key, 1, 65_536)?.map_or(default.mean_packet, |n| n as u32);
    let max_p = k.fraction(&format!("{at}.max_p"))?.unwrap_or(default.max_p);
    let ecn = k.switch(&format!("{at}.ecn"))?.unwrap_or(default.ecn);
    let key = format!("{at}.mark_p");
    let mark_p = k.fraction(&key)?;
    if mark_p.is_some() && !ecn {
        return Err(k.wrong(&key, format!("expected {at}.ecn = true as well")));
    }
    let mark_p = mark_p.unwrap_or(default.mark_p);
    let red = Red { min, max, weight, gentle, bytes, mean_packet, max_p, ecn, mark_p };
    red.check().map_err(|e| wrong_field(k, at, &e))?;
    Ok(Some(red))
}

/// Reads the threshold of step marking of a link of this `rate`: a number of packets, or a time.
fn mark_above(
    k: &mut Keys,
    at: &str,
    rate: Option<Rate>,
    red: bool,
) -> Result<Option<MarkAbove>, Error> {
    let key = format!("{at}.mark_above");
    let threshold = match k.count(&key, 0, 10_000_000) {
        Ok(packets) => packets.map(|packets| MarkAbove::Packets(packets as u32)),
        Err(_) => k.duration(&key).map(|time| time.map(MarkAbove::Delay)).map_err(|_| {
            k.wrong(&key, "expected packets from 0 to 10000000 or a time such as \"5 ms\"")
        })?,
    };
    if threshold.is_some() && rate.is_none() {
        return Err(k.wrong(&key, "expected a link with a rate"));
    }
    if threshold.is_some() && red {
        return Err(k.wrong(&key, "expected either this or red, which marks with red.ecn"));
    }
    Ok(threshold)
}

/// Reads the resequencer at the far end of a link: `true`, or a table of its bounds.
fn resequence(k: &mut Keys, at: &str) -> Result<Option<Resequence>, Error> {
    if k.is_value(at) {
        let on = k.switch(at)?.unwrap_or(false);
        return Ok(on.then(Resequence::default));
    }
    if !k.enter(at) {
        return Ok(None);
    }
    let default = Resequence::default();
    let key = format!("{at}.max_hold");
    let max_hold = k.duration(&key)?.unwrap_or(default.max_hold);
    if max_hold == Duration::ZERO {
        return Err(k.wrong(&key, "expected more than 0 s"));
    }
    let key = format!("{at}.budget");
    let budget = k.bytes(&key)?.unwrap_or(default.budget);
    if budget == 0 {
        return Err(k.wrong(&key, "expected more than 0 B"));
    }
    let hold_handshake =
        k.switch(&format!("{at}.hold_handshake"))?.unwrap_or(default.hold_handshake);
    Ok(Some(Resequence { max_hold, budget, hold_handshake, ..default }))
}

/// The error that the path crate reports about a field of the table `at`.
fn wrong_field(k: &Keys, at: &str, error: &ConfigError) -> Error {
    k.wrong(&format!("{at}.{}", error.field()), format!("expected {}", error.expected()))
}

/// Limits the impairment to the time from `from` until `until`, if the file has either.
fn limited_in_time(k: &mut Keys, at: &str, impairment: Impairment) -> Result<Impairment, Error> {
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
    let applies = [("data", Applies::Data), ("acks", Applies::Acks), ("both", Applies::Both)];
    let applies = k.choice(&format!("{at}.packets"), &applies)?;
    // A blackout drops all packets.
    let all = if kind == "blackout" { Applies::Both } else { Applies::Data };
    let applies = applies.unwrap_or(all);
    let impairment = of_kind(k, kind, at, applies)?;
    // The fields of a distribution are in the same table.
    impairment.check().map_err(|e| wrong_field(k, at, &e))?;
    Ok(impairment)
}

fn of_kind(k: &mut Keys, kind: &str, at: &str, applies: Applies) -> Result<Impairment, Error> {
    Ok(match kind {
        "loss" => return loss(k, at, applies),
        "alternate" => {
            let every = k.count(&format!("{at}.every"), 1, 1_000_000)?.unwrap_or(2) as u32;
            let extra = required_time(k, at, "extra", "\"200 ms\"")?;
            Impairment::Alternate { every, extra, applies }
        }
        "duplicate" => {
            let fraction = required_share(k, at, "fraction", "\"10 %\"")?;
            Impairment::Duplicate { fraction, applies }
        }
        "overhead" => Impairment::Overhead { delay: distribution(k, at)?, applies },
        "workers" => Impairment::Workers { workers: workers(k, at)?, applies },
        "redrawn" => {
            let every = required_time(k, at, "every", "\"50 ms\"")?;
            Impairment::Redrawn { every, delay: distribution(k, at)?, applies }
        }
        "burst" => {
            let fraction = required_share(k, at, "fraction", "\"10 %\"")?;
            Impairment::Burst { fraction, length: distribution(k, at)?, applies }
        }
        "blackout" => return blackout(k, at, applies),
        "resend" => {
            let errors = required_share(k, at, "errors", "\"1 %\"")?;
            let after = required_time(k, at, "after", "\"42 ms\"")?;
            let attempts = k.count(&format!("{at}.attempts"), 1, 1_000_000)?.map(|n| n as u32);
            Impairment::Resend { errors, after, attempts, applies }
        }
        "replay" => {
            let lateness = times(k, at, "lateness", "[\"0\", \"0\", \"25 ms\"]")?.into();
            Impairment::Replay { lateness, applies }
        }
        "early" => exits::early(k, at, applies)?,
        "delayed" => {
            let fraction = required_share(k, at, "fraction", "\"10 %\"")?;
            if let Some(behind) = exits::behind(k, at, fraction, applies)? {
                return Ok(behind);
            }
            Impairment::Delay { fraction, delay: distribution(k, at)?, applies }
        }
        other => unreachable!("{other} is in KINDS"),
    })
}

/// Reads the workers of a link: their times, or their number if they differ only by jitter.
fn workers(k: &mut Keys, at: &str) -> Result<Workers, Error> {
    let delays = format!("{at}.delays");
    let count = k.count(&format!("{at}.count"), 1, 4096)?;
    let delays = match (k.has(&delays), count) {
        (true, Some(_)) => return Err(k.wrong(&delays, "expected either this or count")),
        (false, Some(count)) => vec![Duration::ZERO; count as usize],
        (_, None) => times(k, at, "delays", "[\"0 s\", \"2 ms\"], or count")?,
    };
    let batch = k.count(&format!("{at}.batch"), 1, 1_000_000)?.unwrap_or(1) as u32;
    let coalesce = k.duration(&format!("{at}.coalesce"))?.unwrap_or_default();
    let key = format!("{at}.jitter");
    let jitter = if k.enter(&key) { Some(distribution(k, &key)?) } else { None };
    let choices = [("packet", WorkerChoice::Packet), ("flow", WorkerChoice::Flow)];
    let by = k.choice(&format!("{at}.by"), &choices)?.unwrap_or_default();
    let gro = k.switch(&format!("{at}.gro"))?.unwrap_or(false);
    Ok(Workers { delays, batch, coalesce, jitter, by, gro })
}

/// Reads random or periodic losses.
fn loss(k: &mut Keys, at: &str, applies: Applies) -> Result<Impairment, Error> {
    let key = format!("{at}.fraction");
    let fraction = k.fraction(&key)?;
    match k.count(&format!("{at}.every"), 1, 1_000_000_000)? {
        None => {
            let fraction = k.required(&key, fraction, "\"10 %\"")?;
            Ok(Impairment::Loss { fraction, applies })
        }
        Some(_) if fraction.is_some() => Err(k.wrong(&key, "expected either this or every")),
        Some(every) => Ok(Impairment::Periodic { every: every as u32, applies }),
    }
}

/// Reads the times of blackouts: given instants, or the multiples of one time.
fn blackout(k: &mut Keys, at: &str, applies: Applies) -> Result<Impairment, Error> {
    let length = required_time(k, at, "length", "\"2 s\"")?;
    let key = format!("{at}.at");
    let begins = k.list_of(&key, "times such as [\"50 s\", \"75 s\"]")?;
    let every = k.duration(&format!("{at}.every"))?;
    let times = match (begins, every) {
        (Some(begins), None) => {
            let instant = |text: &String| {
                let time = unruffled_units::parse_duration(text);
                time.map(|time| Instant::ZERO + time).map_err(|e| k.wrong(&key, e.to_string()))
            };
            Times::At(begins.iter().map(instant).collect::<Result<_, _>>()?)
        }
        (None, Some(every)) => Times::Every(every),
        (None, None) => {
            return Err(k.missing(&key, "times such as [\"50 s\", \"75 s\"], or every"));
        }
        (Some(_), Some(_)) => return Err(k.wrong(&key, "expected either at or every, not both")),
    };
    Ok(Impairment::Blackout { times, length, applies })
}

fn required_share(k: &mut Keys, at: &str, field: &str, such_as: &str) -> Result<f64, Error> {
    let key = format!("{at}.{field}");
    let share = k.fraction(&key)?;
    k.required(&key, share, such_as)
}

fn required_time(k: &mut Keys, at: &str, field: &str, such_as: &str) -> Result<Duration, Error> {
    let key = format!("{at}.{field}");
    let time = k.duration(&key)?;
    k.required(&key, time, such_as)
}

/// Reads a list of times.
fn times(k: &mut Keys, at: &str, field: &str, such_as: &str) -> Result<Vec<Duration>, Error> {
    let key = format!("{at}.{field}");
    let texts = k.list_of(&key, &format!("times such as {such_as}"))?;
    let texts = k.required(&key, texts, such_as)?;
    let time = |text: &String| {
        unruffled_units::parse_duration(text).map_err(|e| k.wrong(&key, e.to_string()))
    };
    texts.iter().map(time).collect()
}

pub(super) fn distribution(k: &mut Keys, at: &str) -> Result<Distribution, Error> {
    let key = format!("{at}.distribution");
    let name = k.string(&key)?.unwrap_or_else(|| "normal".to_owned());
    if name == "empirical" {
        let such_as = "[\"1 ms\", \"10 ms\", \"40 ms\"]";
        let quantiles = times(k, at, "quantiles", such_as)?;
        let distribution = Distribution::Empirical { quantiles };
        distribution.sampler().map_err(|e| wrong_field(k, at, &e))?;
        return Ok(distribution);
    }
    let mut time = |field: &str| required_time(k, at, field, "\"25 ms\"");
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
            let known = ["constant", "uniform", "normal", "exponential", "pareto", "empirical"];
            let message = format!(
                "expected constant, uniform, normal, exponential, pareto or empirical, found {other:?}{}",
                hint(other, known)
            );
            return Err(k.wrong(&key, message));
        }
    };
    distribution.sampler().map_err(|e| wrong_field(k, at, &e))?;
    Ok(distribution)
}

/// Describes a link and the resequencer at its far end in one line.
pub(super) fn in_words(link: &LinkConfig, resequence: Option<&Resequence>) -> String {
    let rate = || link.rate.map_or("infinitely fast".to_owned(), |rate| rate.to_string());
    let mut parts = match &link.varying {
        None => vec![rate(), link.delay.to_string()],
        Some(Varying::Trace(trace)) => {
            let mean = trace.mean_rate().bps() / 1e6;
            let recorded = format!("a rate as recorded, {mean:.3} Mbit/s on average");
            vec![format!("{recorded} over {}", trace.period()), link.delay.to_string()]
        }
        Some(Varying::Table(changes)) => {
            let rows = changes.rows().len();
            let again =
                changes.every().map_or(String::new(), |every| format!(", again every {every}"));
            vec![format!("rate and delay from a table of {}{again}", count(rows as u64, "row"))]
        }
    };
    let discipline = if link.red.is_some() { "RED" } else { "drop-tail" };
    match link.queue {
        Some(queue) => parts.push(format!("{discipline} queue of {queue}")),
        None if link.red.is_some() => parts.push("RED queue".to_owned()),
        None => {}
    }
    parts.extend(link.red.as_ref().map(red_in_words));
    parts.extend(link.mark_above.map(|threshold| match threshold {
        MarkAbove::Packets(packets) => format!("marks above {}", count(packets, "packet")),
        MarkAbove::Delay(delay) => format!("marks above {delay} of wait"),
    }));
    parts.extend(link.impairments.iter().map(impairment_in_words));
    parts.extend(exits::in_words(link));
    parts.extend(resequence.map(resequence_in_words));
    parts.join(", ")
}

/// Describes a resequencer.
fn resequence_in_words(resequence: &Resequence) -> String {
    let Resequence { max_hold, budget, .. } = resequence;
    let budget = match budget % MIB {
        0 => format!("{} MiB", budget / MIB),
        _ => format!("{budget} B"),
    };
    format!("order restored at its end, holding packets for up to {max_hold} in {budget}")
}

/// Describes the settings of a RED queue.
fn red_in_words(red: &Red) -> String {
    let Red { min, max, weight, gentle, bytes, mean_packet, max_p, ecn, mark_p } = red;
    let unit = if *bytes { format!("× {mean_packet} B") } else { "packets".to_owned() };
    let weight = weight.map_or("weight from the link".to_owned(), |w| format!("weight {w}"));
    let gently = if *gentle { "gently " } else { "" };
    let marks = if *ecn { format!(", marks below {}", percent(*mark_p)) } else { String::new() };
    format!("thresholds {min} and {max} {unit}, {weight}, {gently}to {}{marks}", percent(*max_p))
}

fn percent(fraction: f64) -> String {
    format!("{} %", (fraction * 1e6).round() / 1e4)
}

/// Describes an impairment in a few words.
pub(super) fn impairment_in_words(impairment: &Impairment) -> String {
    let those = |applies: &Applies| match applies {
        Applies::Data => "data packets",
        Applies::Acks => "acknowledgements",
        Applies::Both => "all packets",
    };
    let of = |applies: &Applies| format!("of {}", those(applies));
    let all = |applies: &Applies| match applies {
        Applies::Both => those(applies).to_owned(),
        _ => format!("all {}", those(applies)),
    };
    match impairment {
        Impairment::Delay { fraction, delay, applies } => {
            format!("{} {} late by {}", percent(*fraction), of(applies), law(delay))
        }
        Impairment::Loss { fraction, applies } => {
            format!("{} {} lost", percent(*fraction), of(applies))
        }
        Impairment::Periodic { every, applies } => match every {
            1 => format!("{} lost", all(applies)),
            _ => format!("the last of every {every} {} lost", those(applies)),
        },
        Impairment::Alternate { every, extra, applies } => match every {
            1 => format!("{} {extra} later", all(applies)),
            _ => format!("one in {every} {} {extra} later", of(applies)),
        },
        Impairment::Duplicate { fraction, applies } => {
            format!("{} {} doubled", percent(*fraction), of(applies))
        }
        Impairment::Redrawn { every, delay, applies } => {
            format!("{} later by {}, drawn anew every {every}", those(applies), law(delay))
        }
        Impairment::Burst { fraction, length, applies } => {
            let law = law(length);
            format!("{} {} start a loss of all for {law}", percent(*fraction), of(applies))
        }
        Impairment::Blackout { times, length, applies } => {
            let times = match times {
                Times::At(times) => {
                    let times: Vec<String> = times.iter().map(Instant::to_string).collect();
                    format!("at {}", times.join(", "))
                }
                Times::Every(every) => format!("every {every}"),
            };
            format!("{} lost for {length} {times}", those(applies))
        }
        Impairment::Resend { errors, after, attempts, applies } => {
            let times = match attempts {
                None => String::new(),
                Some(1) => " once".to_owned(),
                Some(attempts) => format!(" up to {attempts} times"),
            };
            let share = percent(*errors);
            format!("{share} {} damaged and sent again{times} after {after}", of(applies))
        }
        Impairment::Replay { lateness, applies } => {
            let late = lateness.iter().filter(|late| **late > Duration::ZERO).count();
            let all = lateness.len();
            format!("{} late as recorded: {late} of every {all}", those(applies))
        }
        Impairment::Overhead { delay, applies } => {
            format!("{} later by {}, one after another", those(applies), law(delay))
        }
        Impairment::Netem { netem, applies } => netem_in_words(netem, those(applies)),
        Impairment::Workers { workers, applies } => {
            let Workers { delays, batch, coalesce, jitter, by, gro } = workers;
            let least = delays.iter().min().copied().unwrap_or_default();
            let most = delays.iter().max().copied().unwrap_or_default();
            let number = count(delays.len() as u64, "worker");
            let mut parts = vec![format!("{} by {number} in batches of {batch}", those(applies))];
            if most > Duration::ZERO {
                parts.push(format!("{least} to {most} later"));
            }
            if *coalesce > Duration::ZERO {
                parts.push(format!("after interrupts of {coalesce}"));
            }
            parts.extend(jitter.as_ref().map(|jitter| format!("each batch {} later", law(jitter))));
            if *by == WorkerChoice::Flow {
                parts.push("each flow at one worker".to_owned());
            }
            if *gro {
                parts.push("after receive offload".to_owned());
            }
            parts.join(", ")
        }
        Impairment::Behind { fraction, packets: (low, high), at_most, applies } => {
            let packets = match low == high {
                true => count(*low, "packet"),
                false => format!("{low} to {high} packets"),
            };
            let share = percent(*fraction);
            format!("{share} {} overtaken by {packets} within {at_most}", of(applies))
        }
        Impairment::Early { chosen, by, applies } => {
            let share = match chosen {
                Chosen::Fraction(fraction) => percent(*fraction),
                Chosen::Every(every) => format!("one in {every}"),
            };
            let by = match by {
                Advance::Time(by) => by.to_string(),
                Advance::Packets { count: packets, at_most } => {
                    format!("{}, at most {at_most},", count(*packets, "packet"))
                }
            };
            format!("{share} {} {by} early", of(applies))
        }
        Impairment::During { from, until: Instant::MAX, impairment } => {
            format!("{} from {from}", impairment_in_words(impairment))
        }
        Impairment::During { from, until, impairment } => {
            format!("{} from {from} to {until}", impairment_in_words(impairment))
        }
    }
}

/// Describes the settings of netem.
fn netem_in_words(netem: &Netem, those: &str) -> String {
    let mut parts = vec![format!("netem for {those}")];
    if netem.jitter > Duration::ZERO {
        let law = if netem.normal { "N" } else { "U" };
        parts.push(format!("{} ± {law} {} later", netem.latency, netem.jitter));
    } else if netem.latency > Duration::ZERO {
        parts.push(format!("{} later", netem.latency));
    }
    for (share, what) in [
        (netem.loss, "lost"),
        (netem.duplicate, "doubled"),
        (netem.corrupt, "damaged"),
        (netem.reorder, "sent at once"),
    ] {
        if share.share > 0.0 {
            parts.push(format!("{} {what}", percent(share.share)));
        }
    }
    parts.extend(netem.rate.map(|rate| format!("leaving at {rate}")));
    parts.join(", ")
}

fn law(distribution: &Distribution) -> String {
    match distribution {
        Distribution::Constant(value) => value.to_string(),
        Distribution::Uniform { low, high } => format!("U[{low}, {high}]"),
        Distribution::Normal { mean, deviation } => format!("N({mean}, {deviation})"),
        Distribution::Exponential { mean } => format!("Exp({mean})"),
        Distribution::Pareto { scale, shape } => format!("Pareto({scale}, {shape})"),
        Distribution::Empirical { quantiles } => {
            let at = |place: usize| quantiles.get(place).copied().unwrap_or_default();
            let last = quantiles.len().saturating_sub(1);
            format!("a measured distribution, {} to {}, median {}", at(0), at(last), at(last / 2))
        }
    }
}
