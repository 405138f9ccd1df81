//! Combination of verdicts.

use super::samples::Samples;
use super::verdict::{ON_THE_MEAN, Verdict};

/// The most verdicts in one.
pub(super) const MAX_PARTS: usize = 1_000;

/// Combines the verdicts for curves that must be close at every point; none if no verdict compares
/// curves for closeness.
fn at_every_point(verdicts: &[Verdict], all: bool) -> Option<bool> {
    let strictly = |v: &Verdict| v.at_every_point.unwrap_or(v.holds);
    let some = verdicts.iter().any(|v| v.at_every_point.is_some());
    some.then(|| if all { verdicts.iter().all(strictly) } else { verdicts.iter().any(strictly) })
}

/// Combines the verdicts on the pairs of a list. The text shows the pair that is nearest to
/// failing, or all pairs that fail.
pub(super) fn of_pairs(mut verdicts: Vec<Verdict>, a: &[Samples], b: &[Samples]) -> Verdict {
    if let (1, Some(only)) = (verdicts.len(), verdicts.first()) {
        return only.clone();
    }
    let names = |of: &[Samples]| {
        let names: Vec<&str> = of.iter().map(|s| &*s.label).collect();
        match names.as_slice() {
            [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
            other => other.concat(),
        }
    };
    let words = verdicts.first().map(|v| v.expected.as_str()).unwrap_or_default();
    // The words between and after the names are the same for each pair.
    let (a, b) = ((names(a), a), (names(b), b));
    let inner = words.strip_prefix(&*a.1[0].label).unwrap_or(words);
    let (relation, rest) = inner.split_once(&*b.1[0].label).unwrap_or((inner, ""));
    let expected = format!("{}{relation}{}{rest}", a.0, b.0);
    let holds = verdicts.iter().all(|v| v.holds);
    let known = verdicts.iter().all(|v| v.known);
    let strictly = at_every_point(&verdicts, true);
    if !holds {
        verdicts.retain(|v| !v.holds);
    }
    let pair = |v: &Verdict| {
        let words = v.expected.trim_end_matches(" at every point");
        words.trim_end_matches(ON_THE_MEAN).to_owned()
    };
    let shown: Vec<String> =
        verdicts.iter().map(|v| format!("{}: {}", pair(v), v.measured)).collect();
    let verdict = Verdict::new(holds, known, expected, shown.join("; "));
    verdict.with_every_point(strictly)
}

pub(super) fn not(verdict: Verdict) -> Verdict {
    let expected = format!("not: {}", verdict.expected);
    let holds = verdict.known && !verdict.holds;
    let strictly = verdict.at_every_point.map(|strictly| verdict.known && !strictly);
    let contrary = Verdict::new(holds, verdict.known, expected, verdict.measured);
    contrary.with_every_point(strictly)
}

/// Combines verdicts: all must hold, or at least one.
pub(super) fn joined(verdicts: Vec<Verdict>, all: bool) -> Verdict {
    let expected: Vec<&str> = verdicts.iter().map(|v| v.expected.as_str()).collect();
    let expected = expected.join(if all { "; " } else { "; or " });
    let holds = if all {
        !verdicts.is_empty() && verdicts.iter().all(|v| v.holds)
    } else {
        verdicts.iter().any(|v| v.holds)
    };
    let known = verdicts.iter().all(|v| v.known);
    // If all should hold and some do not, only those are shown.
    let shown = verdicts.iter().filter(|v| !all || holds || !v.holds);
    let measured: Vec<String> = shown
        .map(|v| {
            let which = if all && !holds { format!("{}: ", v.expected) } else { String::new() };
            format!("{which}{}", v.measured)
        })
        .collect();
    let mut measured = measured;
    measured.dedup();
    let verdict = Verdict::new(holds, known, expected, measured.join("; "));
    verdict.with_every_point(at_every_point(&verdicts, all))
}
