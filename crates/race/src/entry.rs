//! Selects the competitors of a race from the flags of a command.

use std::path::Path;

use unruffled_scenario::{Scenario, flags, place_of_variants};

use crate::error::Refusal;
use crate::{Competitor, Error, Foreign, Stacks, field};

/// A request for a race, as flags and arguments name it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Name of the scenario in errors.
    pub scenario: &'a str,
    /// Overrides of the scenario's keys, `KEY=VALUE`.
    pub set: &'a [String],
    /// The kernel's congestion controls. An empty list selects the default ones, `none` selects none.
    pub kernels: &'a [String],
    /// Our senders. An empty list selects the scenario's, `none` selects none.
    pub variants: &'a [String],
    /// Foreign stacks; see [`Foreign::parse`]. If there are any, no kernel and no variant takes part by
    /// default.
    pub stacks: &'a [String],
    /// Folder of the drivers of foreign stacks.
    pub drivers: &'a Path,
    /// Whether all senders run at once.
    pub together: bool,
    /// Whether the kernel sends to our stack.
    pub reverse: bool,
    /// Whether each kernel also sends to a receiver whose packets are put in order.
    pub resequence: bool,
}

/// Smallest segment that Linux sends, in octets (TCP_MIN_MSS).
const MIN_MSS: u32 = 88;

/// Rejects overrides (`KEY=VALUE`) of keys that a race does not read from the scenario, since they would
/// have no effect.
///
/// # Errors
/// [`Error::Refused`], with the flag to use if there is one.
pub fn check_overrides(overrides: &[String]) -> Result<(), Error> {
    for (key, value) in overrides.iter().filter_map(|set| set.split_once('=')) {
        match key.trim() {
            key @ ("duration" | "seeds") => {
                let (key, value) = (key.to_owned(), value.trim().to_owned());
                return Err(Refusal::HasFlag { key, value }.into());
            }
            "warmup" => return Err(Refusal::WarmUp.into()),
            _ => {}
        }
    }
    Ok(())
}

impl Entry<'_> {
    /// Returns the competitors.
    ///
    /// # Errors
    /// [`Error::Refused`] and others, if the request is not possible in a race.
    pub fn competitors(&self, scenario: &Scenario) -> Result<Vec<Competitor>, Error> {
        flags::given(self.set, [("variants", "--variants", !self.variants.is_empty())])?;
        let mss = scenario.sender.mss;
        if mss < MIN_MSS {
            return Err(Refusal::Mss { file: self.scenario.to_owned(), least: MIN_MSS, mss }.into());
        }
        let is_none = |names: &[String]| names.len() == 1 && names[0] == "none";
        let mut competitors = match self.kernels {
            [] if self.stacks.is_empty() => Competitor::default_kernels(),
            [] => Vec::new(),
            names if is_none(names) => Vec::new(),
            names => Competitor::kernels(names)?,
        };
        let variants = match self.variants {
            _ if self.reverse => Vec::new(),
            [] if !self.stacks.is_empty() => Vec::new(),
            [] if self.together && scenario.is_single() => return Err(Refusal::NoVariants.into()),
            [] => {
                let place = place_of_variants(self.scenario, self.set);
                let mut variants = scenario.senders(&scenario.variants, &place)?;
                variants.retain(|variant| !variant.is_for_simulation_only());
                variants
            }
            names if is_none(names) => Vec::new(),
            names => scenario.senders(names, "--variants")?,
        };
        if let Some(variant) = variants.iter().find(|v| v.is_for_simulation_only()) {
            return Err(Refusal::SimulationOnly(variant.name().to_owned()).into());
        }
        if self.resequence {
            if competitors.is_empty() {
                return Err(Refusal::NoneToResequence.into());
            }
            competitors = competitors.into_iter().flat_map(with_resequenced).collect();
        }
        competitors.extend(variants.into_iter().map(|v| Competitor::Ours(Box::new(v))));
        // The kernel's own TCP under `unruffled` is the last row.
        competitors.sort_by_key(Competitor::is_loaded);
        competitors.extend(self.foreign()?);
        if !scenario.is_single() && !self.together {
            return Err(Refusal::Alone(self.scenario.to_owned()).into());
        }
        let competitors = field(self.scenario, scenario, competitors)?;
        if competitors.is_empty() {
            return Err(Refusal::NoSenders.into());
        }
        Ok(competitors)
    }
}

impl Entry<'_> {
    /// Returns the foreign stacks.
    fn foreign(&self) -> Result<Vec<Competitor>, Error> {
        let conflicts = [
            (self.together, "--together"),
            (self.reverse, "--reverse"),
            (self.resequence, "--resequence"),
        ];
        if self.stacks.is_empty() {
            return Ok(Vec::new());
        }
        if let Some((_, flag)) = conflicts.into_iter().find(|(is_set, _)| *is_set) {
            return Err(Refusal::StackWith(flag).into());
        }
        let built = Stacks::read(self.drivers)?;
        let mut competitors: Vec<Competitor> = Vec::new();
        for text in self.stacks {
            let foreign = Foreign::parse(text, &built)?;
            if competitors.iter().any(|competitor| competitor.name() == foreign.name()) {
                let (place, name) = ("--stack".to_owned(), foreign.name());
                return Err(unruffled_scenario::Error::Twice { place, name }.into());
            }
            competitors.push(Competitor::Foreign(Box::new(foreign)));
        }
        Ok(competitors)
    }
}

/// Returns the competitor, and after a kernel the same kernel to a receiver whose packets are put in order.
fn with_resequenced(competitor: Competitor) -> Vec<Competitor> {
    match &competitor {
        Competitor::Kernel(control) => {
            let resequenced = Competitor::Resequenced(control.clone());
            vec![competitor, resequenced]
        }
        _ => vec![competitor],
    }
}
