//! The words of a command line of `tc` after `netem`.

use std::iter::Peekable;
use std::str::{FromStr, SplitWhitespace};

use unruffled_units::{Duration, parse_duration, parse_rate};

use super::{Netem, Share};
use crate::ConfigError;

impl FromStr for Netem {
    type Err = ConfigError;

    /// Reads options such as `delay 100ms 20ms distribution normal loss 1% rate 10mbit limit 500`. The words
    /// before them, such as `tc qdisc add dev eth0 root netem`, may be there.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let options = match text.split_once("netem") {
            Some((before, after)) if before.is_empty() || before.ends_with(' ') => after,
            _ => text,
        };
        let mut words = options.split_whitespace().peekable();
        let mut netem = Self::default();
        let mut gap = None;
        let mut found = false;
        while let Some(option) = words.next() {
            found = true;
            match option {
                "delay" | "latency" => delay(&mut netem, &mut words)?,
                "distribution" => match words.next() {
                    Some("uniform") => netem.normal = false,
                    Some("normal") => netem.normal = true,
                    other => return Err(wrong("uniform or normal after distribution", other)),
                },
                "loss" | "drop" => {
                    words.next_if_eq(&"random");
                    netem.loss = share(option, &mut words)?;
                }
                "duplicate" => netem.duplicate = share(option, &mut words)?,
                "corrupt" => netem.corrupt = share(option, &mut words)?,
                "reorder" => netem.reorder = share(option, &mut words)?,
                "gap" => gap = Some(number(words.next())?),
                "limit" => netem.limit = number(words.next())?,
                "rate" => {
                    let word = words.next();
                    let octets = |word: &str| word.to_lowercase().ends_with("bps");
                    let text = word.filter(|word| !octets(word) && !is_number(word));
                    let rate = text.and_then(|text| parse_rate(text).ok());
                    let expected = "a rate in bits after rate, such as 10mbit";
                    netem.rate = Some(rate.ok_or_else(|| wrong(expected, word))?);
                }
                other => {
                    let expected = "delay, distribution, loss, duplicate, corrupt, reorder, gap, rate or limit";
                    return Err(wrong(expected, Some(other)));
                }
            }
        }
        if !found {
            return Err(wrong("options of netem such as delay 10ms", None));
        }
        let reorders = netem.reorder.share > 0.0;
        if reorders && netem.latency == Duration::ZERO {
            return Err(wrong("a delay with reorder", None));
        }
        if gap.is_some() && !reorders {
            return Err(wrong("reorder with gap", None));
        }
        netem.gap = if reorders { gap.unwrap_or(1) } else { 0 };
        Ok(netem)
    }
}

type Words<'t> = Peekable<SplitWhitespace<'t>>;

fn wrong(expected: &'static str, found: Option<&str>) -> ConfigError {
    let found = found.map_or("nothing".to_owned(), |word| {
        format!("{:?}", word.chars().take(30).collect::<String>())
    });
    ConfigError::new("netem", expected, found)
}

/// Reads `TIME [JITTER [CORRELATION]]`.
fn delay(netem: &mut Netem, words: &mut Words<'_>) -> Result<(), ConfigError> {
    let word = words.next();
    let time = |word: &str| parse_duration(word).ok();
    netem.latency =
        word.and_then(time).ok_or_else(|| wrong("a time after delay, such as 10ms", word))?;
    let Some(jitter) = words.peek().and_then(|word| time(word)) else {
        return match words.peek() {
            Some(word) if is_number(word) => {
                Err(wrong("a jitter with a unit, such as 5ms", Some(word)))
            }
            _ => Ok(()),
        };
    };
    netem.jitter = jitter;
    words.next();
    if let Some(correlation) = optional_percent(words)? {
        netem.delay_correlation = correlation;
    }
    Ok(())
}

/// Reads `PERCENT [CORRELATION]`.
fn share(option: &str, words: &mut Words<'_>) -> Result<Share, ConfigError> {
    let expected = match option {
        "loss" | "drop" => "a percentage after loss, such as 1%; other models are not supported",
        _ => "a percentage after the option, such as 1%",
    };
    let Some(share) = optional_percent(words)? else {
        return Err(wrong(expected, words.peek().copied()));
    };
    Ok(Share { share, correlation: optional_percent(words)?.unwrap_or_default() })
}

/// Returns the next word if it is a percentage, whose sign may be left out.
fn optional_percent(words: &mut Words<'_>) -> Result<Option<f64>, ConfigError> {
    let Some(word) = words.next_if(|word| is_number(word.strip_suffix('%').unwrap_or(word))) else {
        return Ok(None);
    };
    let percent: Option<f64> = word.strip_suffix('%').unwrap_or(word).parse().ok();
    match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
        Some(percent) => Ok(Some(percent / 100.0)),
        None => Err(wrong("a percentage from 0 to 100", Some(word))),
    }
}

fn number(word: Option<&str>) -> Result<u32, ConfigError> {
    let number = word.and_then(|word| word.parse().ok()).filter(|&number| number > 0);
    number.ok_or_else(|| wrong("a whole number of packets, at least 1", word))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || c == '.') && word.parse::<f64>().is_ok()
}
