//! Several captures of the same transfers.

use unruffled_capture::{Trace, match_traces};
use unruffled_lab::{Error, matched};

use super::{Arguments, analyze, check, conclude, limits};
use crate::{Printed, output};

/// Maximum number of segments of all captures that are kept to be matched.
const MAX_MATCHED_SEGMENTS: usize = 4_000_000;

/// Analyzes each capture, and matches each with each other. Returns the text to print.
pub(super) fn execute(arguments: &Arguments) -> Result<(Printed, Result<(), Error>), Error> {
    check(arguments, None)?;
    let limit = MAX_MATCHED_SEGMENTS / arguments.captures.len();
    let mut names = Vec::new();
    let mut traces = Vec::new();
    let mut texts = Vec::new();
    for path in &arguments.captures {
        let name = path.display().to_string();
        let mut trace = Trace::new(limit);
        let read = analyze(path, limits(arguments), Some(&mut trace))
            .map_err(|source| Error::Capture { name: name.clone(), source })?;
        let is_interrupted = read.interrupt.has_arrived();
        let (Printed::People(text) | Printed::Json(text) | Printed::Data(text), _) =
            conclude(arguments, &name, read)?;
        names.push(crate::on_one_line(&name));
        traces.push(trace);
        texts.push(text);
        if is_interrupted {
            break;
        }
    }
    let mut matches = Vec::new();
    for second in 1..traces.len() {
        for first in 0..second {
            let found = match_traces(&traces[first], &traces[second]);
            matches.push(([names[first].as_str(), names[second].as_str()], found));
        }
    }
    let text = match arguments.json {
        true => Printed::Json(matched::json(&texts, &matches)),
        false => {
            let (width, _) = output::terminal();
            Printed::People(texts.join("\n") + "\n" + matched::render(&matches, width).as_str())
        }
    };
    Ok((text, Ok(())))
}
