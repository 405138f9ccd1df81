//! Expressions in experiment files. They are Rhai, except that whole numbers divide like real ones.

mod held;

use std::cell::Cell;
use std::time::{Duration, Instant};

use rhai::{AST, Dynamic, Engine, EvalAltResult, Scope};

pub(crate) use held::Held;

/// The result of a function in an expression.
pub(crate) type Evaluated<T> = Result<T, Box<EvalAltResult>>;

/// Why an expression has no value. Prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExpressionError {
    /// The expression is malformed.
    #[error("expected an expression: {0}")]
    Syntax(String),
    /// The evaluation fails.
    #[error("{0}")]
    Evaluation(String),
    /// The value has another type.
    #[error("expected {expected}, found {found}")]
    Kind {
        /// The expected type.
        expected: &'static str,
        /// The type of the value.
        found: &'static str,
    },
    /// A `${` has no closing brace.
    #[error("expected a }} after ${{ in {0:?}")]
    Open(String),
}

impl From<Box<EvalAltResult>> for ExpressionError {
    fn from(error: Box<EvalAltResult>) -> Self {
        Self::Evaluation(plain(&error))
    }
}

/// A function of one real number.
pub(crate) type Function = fn(f64) -> f64;

/// The functions of one real number, by name.
pub(crate) const OF_REALS: [(&str, Function); 3] =
    [("ln", f64::ln), ("log", f64::log10), ("sqrt", f64::sqrt)];

/// The most steps of an expression: enough for any formula, and an end for an endless loop.
const MAX_STEPS: u64 = 1_000_000;

/// The longest evaluation; a step over a long list or text may take long.
const MAX_TIME: Duration = Duration::from_secs(10);

/// The most values in a list, including those of lists in it: many times the flows of any
/// experiment.
const MAX_LIST: usize = 20_000;

/// The largest text, in octets, including the texts in a list.
const MAX_TEXT: usize = 1_000_000;

/// The most entries of a table, and the most variables at a time.
const MAX_NAMES: usize = 200;

thread_local! {
    /// When the evaluation on this thread began.
    static BEGAN: Cell<Instant> = Cell::new(Instant::now());
}

/// Returns an engine with arithmetic only.
///
/// A text in single quotes is a string, so that an expression can be written within TOML's double
/// quotes.
pub(crate) fn engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_max_operations(MAX_STEPS);
    engine.set_max_array_size(MAX_LIST);
    engine.set_max_string_size(MAX_TEXT);
    engine.set_max_map_size(MAX_NAMES);
    engine.set_max_variables(MAX_NAMES);
    engine.on_print(|_| {});
    engine.on_debug(|_, _, _| {});
    engine.on_progress(|steps| {
        if steps <= 1 {
            BEGAN.set(Instant::now());
            held::begin();
        }
        let full = held::too_many();
        (full || BEGAN.get().elapsed() > MAX_TIME).then(|| Dynamic::from(full))
    });
    // Disables functions that would escape these bounds, or that give another value each time.
    engine.disable_symbol("eval");
    engine.disable_symbol("curry");
    engine.register_fn("timestamp", || -> Evaluated<()> { Err("no function timestamp()".into()) });
    engine.register_fn("sleep", |_: i64| -> Evaluated<()> {
        Err("no function sleep of a number".into())
    });
    engine.register_fn("sleep", |_: f64| -> Evaluated<()> {
        Err("no function sleep of a number".into())
    });
    // 1 / 2 is one half, even if both are written without a decimal point.
    engine.set_fast_operators(false);
    engine.register_fn("/", |a: i64, b: i64| a as f64 / b as f64);
    // Rhai has these functions for real numbers; whole numbers are converted.
    for (name, f) in OF_REALS {
        engine.register_fn(name, move |a: i64| f(a as f64));
    }
    for name in ["ceil", "ceiling", "floor", "round"] {
        engine.register_fn(name, |a: i64| a);
    }
    engine.register_fn("ceil", f64::ceil);
    engine
}

/// Compiles an expression.
pub(crate) fn compile(engine: &Engine, text: &str) -> Result<AST, ExpressionError> {
    let compiled = engine.compile(text.replace('\'', "\""));
    compiled.map_err(|e| ExpressionError::Syntax(e.to_string()))
}

/// Evaluates the expression to a number; NaN if it is infinite, which would exceed any other.
pub(crate) fn number(
    engine: &Engine,
    scope: &mut Scope<'_>,
    ast: &AST,
) -> Result<f64, ExpressionError> {
    let value = engine.eval_ast_with_scope::<Dynamic>(scope, ast)?;
    let found = value.type_name();
    let number = as_number(&value).ok_or(ExpressionError::Kind { expected: "a number", found })?;
    Ok(if number.is_finite() { number } else { f64::NAN })
}

/// Converts a whole or real number.
pub(crate) fn as_number(value: &Dynamic) -> Option<f64> {
    let whole = || value.as_int().ok().map(|n| n as f64);
    value.as_float().ok().or_else(whole)
}

/// Formats an error as one line. An error of this crate's functions is shown without its context.
pub(crate) fn plain(error: &EvalAltResult) -> String {
    match error {
        EvalAltResult::ErrorRuntime(message, _) => message.to_string(),
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => plain(inner),
        EvalAltResult::ErrorFunctionNotFound(signature, _) => no_function(signature),
        EvalAltResult::ErrorDataTooLarge(..) => {
            format!("too large: expected at most {MAX_LIST} values in a list, {MAX_TEXT} octets in a text")
        }
        EvalAltResult::ErrorTooManyOperations(_) => {
            format!("has no end: expected at most {MAX_STEPS} steps")
        }
        EvalAltResult::ErrorTerminated(full, _) if full.as_bool() == Ok(true) => {
            format!("too large: expected at most {} MB of measured values", held::MAX_OCTETS / 1_000_000)
        }
        EvalAltResult::ErrorTerminated(..) => {
            format!("has no end: expected at most {} s", MAX_TIME.as_secs())
        }
        other => other.to_string(),
    }
    .replace('\n', " ")
}

/// Formats the error of an unknown function, with the names of its types.
fn no_function(signature: &str) -> String {
    let (name, of) = signature.split_once(" (").unwrap_or((signature, ""));
    let kind = |of: &str| match of.trim() {
        "i64" | "f64" => "a number".to_owned(),
        "array" => "a list".to_owned(),
        text if text.contains("String") || text == "string" => "a text".to_owned(),
        other => other.to_owned(),
    };
    let of = of.trim_end_matches(')').split(',').filter(|of| !of.is_empty()).map(kind);
    let of: Vec<String> = of.collect();
    match of.as_slice() {
        [] => format!("no function {name}()"),
        of => format!("no function {name} of {}", of.join(" and ")),
    }
}

/// Replaces each `${…}` in `text` by the value of its expression.
pub(crate) fn interpolate(
    engine: &Engine,
    scope: &mut Scope<'_>,
    text: &str,
) -> Result<String, ExpressionError> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let end = closing(after).ok_or_else(|| ExpressionError::Open(text.to_owned()))?;
        let (expression, after) = (&after[..end], &after[end + 1..]);
        let ast = compile(engine, expression)?;
        let value = engine.eval_ast_with_scope::<Dynamic>(scope, &ast)?;
        out += before;
        out += &as_number(&value).map_or_else(|| value.to_string(), digits);
        rest = after;
    }
    Ok(out + rest)
}

/// Finds the brace that closes one opened before `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Formats a number with at most twelve digits, so that 0.1 + 0.2 is 0.3.
fn digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(template: &str, x: f64) -> Result<String, String> {
        let mut scope = Scope::new();
        scope.push("x", x);
        interpolate(&engine(), &mut scope, template).map_err(|error| error.to_string())
    }

    #[test]
    fn expressions_in_braces_are_computed() {
        assert_eq!(text("${x} %", 5.0).as_deref(), Ok("5 %"));
        assert_eq!(text("${x * 0.1} ms and ${1 / 4}", 3.0).as_deref(), Ok("0.3 ms and 0.25"));
        let choice = "${if x > 2 { 'high' } else { 'low' }}!";
        assert_eq!(text(choice, 3.0).as_deref(), Ok("high!"));
        assert_eq!(
            text("${ceil(x / 2)} ${ceil(2)} ${ln(1)} ${sqrt(9)}", 3.0).as_deref(),
            Ok("2 2 0 3")
        );
        assert_eq!(text("plain", 3.0).as_deref(), Ok("plain"));
    }

    #[test]
    fn unbounded_growth_is_rejected_before_memory_is_full() {
        let most = "expected at most 20000 values in a list, 1000000 octets in a text";
        for growing in [
            "let a = [1]; loop { a += a; }",
            "let s = 'x'; loop { s += s; }",
            "let a = []; a.pad(1000000000, 1); 1",
            "let s = 'x'; s.pad(1000000000, 'y'); 1",
            "let a = []; let b = []; b.pad(10000, 1); a.pad(10000, b); 1",
            "let b = blob(1000000000); 1",
        ] {
            let message = text(&format!("${{{growing}}}"), 1.0).expect_err(growing);
            assert!(message.contains(most), "{growing}: {message}");
        }
        assert_eq!(text("${let a = []; a.pad(20000, 1); a.len()}", 1.0).as_deref(), Ok("20000"));
    }

    #[test]
    fn an_expression_without_a_value_is_an_error() {
        for template in ["${x", "${y}", "${1 +}", "${loop {}"] {
            assert!(text(template, 1.0).is_err(), "{template}");
        }
    }

    #[test]
    fn no_expression_escapes_the_bounds() {
        for bad in [
            "{ let s = 'eval(s)'; eval(s) }",
            "sleep(100000)",
            "sleep(0.5)",
            "timestamp()",
            // Each step doubles the memory of the function.
            "{ let f = |x| x; for i in 0..4 { f = f.curry(f); } 1 }",
        ] {
            assert!(text(&format!("${{1 + {bad}}}"), 1.0).is_err(), "{bad}");
        }
    }
}
