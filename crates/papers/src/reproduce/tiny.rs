//! A small experiment for tests, and its results.

use std::sync::Mutex;

use super::{FigureOutcome, Plan};
use crate::error::Error;
use crate::experiment::Experiment;
use unruffled_lab::store::Store;

/// The experiment: two points, two seeds, three lines of runs and a formula.
pub(crate) const TEXT: &str = r#"
id = "tiny-1"
paper = "rr-tcp"
figure = "Figure 1"
title = "Goodput against the share of packets delayed"
section = "1"
assumed = ["all of it"]
notes = "One.\n\nTwo."

[seeds]
full = 2
quick = 1

[x]
label = "packets delayed (%)"
values = [5, 20]
quick = [5]

[set]
"link.l.delayed.fraction" = "${x} %"

[quick-set]
duration = "3 s"

[scenario]
duration = "6 s"
record.series = ["queue"]
record.interval = "100 ms"

[scenario.path]
hops = ["l"]

[scenario.link.l]
rate = "4 Mbit/s"
delay = "10 ms"
queue = 20
delayed.mean = "25 ms"
delayed.deviation = "8 ms"

[[line]]
name = "without delay"
variant = "sack"
set = { "link.l.delayed.fraction" = "0 %" }

[[line]]
name = "SACK"
variant = "sack"

[[line]]
name = "RR-TCP"
variant = "rr-ta"
paper = { goodput_mbps = 3.5 }

[[line]]
name = "half"
formula = "4 / 2 + x / 1000"

[[measure]]
name = "goodput_mbps"
value = "goodput() / 1e6"
label = "goodput (Mb/s)"

[[measure]]
name = "retransmits"
value = "sum('retransmits')"

[[panel]]
y-range = [0, 4]

[[panel]]
title = "queue"
kind = "time"
curve = "series('l', 'queue')"
at = 20

[[claim]]
text = "RR-TCP is above SACK"
source = "section 1"
check = "above(goodput_mbps('RR-TCP'), goodput_mbps('SACK'))"

[[claim]]
text = "SACK is above what is possible"
check = "above(goodput_mbps('SACK'), goodput_mbps('without delay'))"
known = "It cannot be."

[[claim]]
text = "At 20 % there is something left"
check = "at_least(at(goodput_mbps('SACK'), 20), 0.1)"

[[claim]]
text = "Everybody likes it"
not-tested = "no survey was made"
"#;

pub(crate) fn experiment(quick: bool) -> Experiment {
    Experiment::parse("tiny.toml", TEXT, quick).expect("makes sense")
}

/// Returns the results of `experiments`.
pub(crate) fn outcomes(experiments: &[Experiment]) -> Result<Vec<FigureOutcome<'_>>, Error> {
    let store = Mutex::new(Store::in_memory()?);
    let plan = Plan::new(experiments)?;
    plan.missing(&store)?.run(&store, &())?;
    plan.outcomes(&store)
}
