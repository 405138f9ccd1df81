//! Rates and delays of links that change during a run: recorded traces, and tables.
//!
//! Both may be in files of their own. Their contents take the place of the files' names among the keys, so
//! that the scenario of a run is complete.

use std::path::{Path, PathBuf};

use toml::Value;
use unruffled_path::{Change, Changes, ConfigError, Trace, Varying};
use unruffled_units::{Duration, Rate, parse_duration, parse_rate};

use super::keys::Keys;
use super::text;
use crate::error::{Error, Place};

/// Rate and delay of a link, constant or not.
pub(super) struct Course {
    /// The rate, or its mean; `None` for an unlimited one.
    pub(super) rate: Option<Rate>,
    /// The propagation delay, or the smallest one.
    pub(super) delay: Duration,
    /// The course, if they are not constant.
    pub(super) varying: Option<Varying>,
}

/// Reads the rate and the delay of the link at `at`.
pub(super) fn read(k: &mut Keys, at: &str) -> Result<Course, Error> {
    let trace = trace(k, &format!("{at}.rate.trace"))?;
    let rate = match trace {
        None => k.rate(&format!("{at}.rate"))?,
        Some(_) => None,
    };
    let delay = k.duration(&format!("{at}.delay"))?;
    let table = format!("{at}.changes");
    if k.enter(&table) {
        if trace.is_some() {
            return Err(k.wrong(&table, "expected either this or rate.trace"));
        }
        return changes(k, at, rate, delay);
    }
    let delay = k.required(&format!("{at}.delay"), delay, "\"50 ms\"")?;
    let rate = trace.as_ref().map(Trace::mean_rate).or(rate);
    Ok(Course { rate, delay, varying: trace.map(Varying::Trace) })
}

/// Reads a trace: the name of its file, or its instants.
fn trace(k: &mut Keys, key: &str) -> Result<Option<Trace>, Error> {
    let such_as = "the name of a file in Mahimahi's format, or a list of milliseconds";
    let instants = match k.whole_numbers(key) {
        None => return Ok(None),
        Some(Some(instants)) => Trace::new(instants),
        Some(None) => {
            let name = k.name(key)?;
            let (path, contents) = file(k, key, &k.required(key, name, such_as)?)?;
            let trace: Trace = contents.parse().map_err(|error: ConfigError| {
                k.wrong(key, format!("{}: {}", path.display(), error.without_field()))
            })?;
            let integer = |&ms: &u64| i64::try_from(ms).unwrap_or(i64::MAX).into();
            k.replace(key, Value::Array(trace.instants_ms().iter().map(integer).collect()));
            return Ok(Some(trace));
        }
    };
    instants.map(Some).map_err(|error| k.wrong(key, error.without_field()))
}

/// Reads a table of changes of the link at `at`, which has a constant `rate` or `delay` if the keys say so.
fn changes(
    k: &mut Keys,
    at: &str,
    rate: Option<Rate>,
    delay: Option<Duration>,
) -> Result<Course, Error> {
    let table = format!("{at}.changes");
    if let Some(name) = k.name(&format!("{table}.file"))? {
        read_rows(k, &table, &name)?;
    }
    let times = texts(k, &format!("{table}.at"), "[\"0 s\", \"15 s\"]", duration)?;
    let times = k.required(&format!("{table}.at"), times, "[\"0 s\", \"15 s\"]")?;
    let such_as = "[\"50 Mbit/s\", \"20 Mbit/s\"]";
    let rates = texts(k, &format!("{table}.rate"), such_as, rate_or_none)?;
    let delays = texts(k, &format!("{table}.delay"), "[\"20 ms\", \"30 ms\"]", duration)?;
    let every = k.duration(&format!("{table}.every"))?;

    let rates = column(k, &format!("{at}.rate"), rate.map(Some), rates, times.len())?;
    let delays = column(k, &format!("{at}.delay"), delay, delays, times.len())?;
    let cells = times.iter().zip(rates).zip(delays);
    let rows = cells.map(|((&at, rate), delay)| Change { at, rate, delay });
    let changes = Changes::new(rows.collect(), every).map_err(|error| {
        let key = format!("{table}.{}", error.field());
        k.wrong(&key, error.without_field())
    })?;
    let delay = changes.rows().iter().map(|row| row.delay).min().unwrap_or_default();
    let rate = Some(changes.mean_rate());
    Ok(Course { rate, delay, varying: Some(Varying::Table(changes)) })
}

/// Returns a column of `count` rows: that of the table `changes`, or one value of the link at `key`.
fn column<T: Copy>(
    k: &Keys,
    key: &str,
    constant: Option<T>,
    column: Option<Vec<T>>,
    count: usize,
) -> Result<Vec<T>, Error> {
    let (link, name) = key.rsplit_once('.').unwrap_or(("", key));
    let of_table = format!("{link}.changes.{name}");
    match (constant, column) {
        (Some(_), Some(_)) => Err(k.wrong(key, format!("expected either this or changes.{name}"))),
        (Some(value), None) => Ok(vec![value; count]),
        (None, Some(column)) if column.len() == count => Ok(column),
        (None, Some(column)) => {
            let message = format!("expected {count} values, as at has, found {}", column.len());
            Err(k.wrong(&of_table, message))
        }
        (None, None) => Err(k.missing(key, &format!("one value, or changes.{name}"))),
    }
}

/// Reads a list of texts.
fn texts<T>(
    k: &mut Keys,
    key: &str,
    such_as: &str,
    parse: fn(&str) -> Result<T, String>,
) -> Result<Option<Vec<T>>, Error> {
    let Some(texts) = k.list_of(key, &format!("values such as {such_as}"))? else {
        return Ok(None);
    };
    let values = texts.iter().map(|text| parse(text).map_err(|message| k.wrong(key, message)));
    values.collect::<Result<_, _>>().map(Some)
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text).map_err(|error| error.to_string())
}

/// Parses a rate; `None` for 0.
fn rate_or_none(text: &str) -> Result<Option<Rate>, String> {
    match text.split_whitespace().next() {
        Some("0") => Ok(None),
        _ => parse_rate(text).map(Some).map_err(|error| error.to_string()),
    }
}

/// Replaces `changes.file` by the columns of that file, whose lines are `TIME, RATE, DELAY`. A `#` begins a
/// comment.
fn read_rows(k: &mut Keys, table: &str, name: &str) -> Result<(), Error> {
    let key = format!("{table}.file");
    if let Some(other) =
        ["at", "rate", "delay"].into_iter().find(|column| k.has(&format!("{table}.{column}")))
    {
        return Err(k.wrong(&key, format!("expected either this or changes.{other}")));
    }
    let (path, contents) = file(k, &key, name)?;
    let mut columns: [Vec<Value>; 3] = Default::default();
    for (number, line) in contents.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let Ok([at, rate, delay]) = <[&str; 3]>::try_from(cells) else {
            let shown: String = line.chars().take(40).collect();
            let place = format!("{}:{}", path.display(), number + 1);
            let expected = "expected a time, a rate and a delay, such as 15 s, 20 Mbit/s, 30 ms";
            return Err(k.wrong(&key, format!("{place}: {expected}, found {shown:?}")));
        };
        let cells = [
            (at, duration(at).err()),
            (rate, rate_or_none(rate).err()),
            (delay, duration(delay).err()),
        ];
        for (column, (cell, error)) in columns.iter_mut().zip(cells) {
            if let Some(message) = error {
                return Err(k.wrong(&key, format!("{}:{}: {message}", path.display(), number + 1)));
            }
            column.push(cell.into());
        }
    }
    if columns[0].is_empty() {
        return Err(k.wrong(&key, format!("{}: expected at least one line", path.display())));
    }
    let [at, rate, delay] = columns;
    for (column, values) in [("at", at), ("rate", rate), ("delay", delay)] {
        k.add_beside(&key, &format!("{table}.{column}"), Value::Array(values));
    }
    k.remove(&key);
    Ok(())
}

/// Reads the file `name` of the key at `key`. Its place is relative to the scenario's file, or to the current
/// folder if the command line names it.
fn file(k: &Keys, key: &str, name: &str) -> Result<(PathBuf, String), Error> {
    let folder = match k.place(key) {
        Place::Line(scenario, _) => Path::new(&scenario).parent().map(Path::to_owned),
        Place::File(_) | Place::CommandLine(_) => None,
    };
    let path = folder.unwrap_or_default().join(name);
    match text::read(&path) {
        Ok(contents) => Ok((path, contents)),
        Err(reason) => Err(k.wrong(key, format!("{}: cannot be read: {reason}", path.display()))),
    }
}
