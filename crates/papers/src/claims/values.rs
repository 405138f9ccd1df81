//! The arguments of claims' functions: samples, numbers, and lists of them.

use rhai::{Dynamic, EvalAltResult};

use super::samples::Samples;
use super::verdict::Verdict;
use crate::expression::{self, Evaluated};

/// Returns an error of a function.
pub(crate) fn function_error(message: impl ToString) -> Box<EvalAltResult> {
    message.to_string().into()
}

/// Names the type of a value.
pub(crate) fn kind(value: &Dynamic) -> &'static str {
    if value.is::<Samples>() {
        "measured values"
    } else if value.is::<Verdict>() {
        "a verdict"
    } else if value.is_array() {
        "a list"
    } else if value.is_string() {
        "a text"
    } else if expression::as_number(value).is_some() {
        "a number"
    } else {
        "something else"
    }
}

/// Converts samples or a number to samples.
pub(super) fn samples(value: Dynamic) -> Evaluated<Samples> {
    if let Some(number) = expression::as_number(&value) {
        return Ok(Samples::number(number));
    }
    let found = kind(&value);
    let message = format!("expected measured values or a number, found {found}");
    value.try_cast::<Samples>().ok_or_else(|| function_error(message))
}

/// Converts one value, or each of a list.
pub(super) fn several(value: Dynamic) -> Evaluated<Vec<Samples>> {
    if !value.is_array() {
        return Ok(vec![samples(value)?]);
    }
    let list =
        value.into_array().map_err(|found| function_error(format!("expected a list: {found}")))?;
    let list: Vec<Samples> = list.into_iter().map(samples).collect::<Evaluated<_>>()?;
    if list.is_empty() {
        Err(function_error("expected a list that is not empty".to_owned()))
    } else {
        Ok(list)
    }
}

/// Converts a number or a single measured value.
pub(super) fn number(value: Dynamic) -> Evaluated<f64> {
    if let Some(number) = expression::as_number(&value) {
        return Ok(number);
    }
    // A single measured value may be a limit.
    let found = kind(&value);
    match value.try_cast::<Samples>() {
        Some(samples) if samples.x.len() == 1 => Ok(samples.mean()),
        _ => Err(function_error(format!("expected a number, found {found}"))),
    }
}
