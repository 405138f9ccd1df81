//! Who takes part in a race, by what was asked for.

use unruffled_scenario::{Scenario, flags, place_of_variants};

use crate::error::Refusal;
use crate::{Competitor, Error, field};

/// A race as it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// What errors call the scenario.
    pub scenario: &'a str,
    /// What replaces keys of it, `KEY=VALUE`.
    pub set: &'a [String],
    /// The kernel's congestion controls: the usual ones if none is named, none for `none`.
    pub kernels: &'a [String],
    /// Our senders: the scenario's if none is named, none for `none`.
    pub variants: &'a [String],
    /// All send at once.
    pub together: bool,
    /// The kernel sends to our stack.
    pub reverse: bool,
}

/// Linux sends no smaller segments (TCP_MIN_MSS).
const MIN_MSS: u32 = 88;

/// Refuses overrides (`KEY=VALUE`) of what a race does not take from the scenario: they would go
/// unheeded.
///
/// # Errors
/// One line that names the option to use, if there is one.
pub fn heeded(overrides: &[String]) -> Result<(), Error> {
    for (key, value) in overrides.iter().filter_map(|set| set.split_once('=')) {
        match key.trim() {
            key @ ("duration" | "seeds") => {
                let (key, value) = (key.to_owned(), value.trim().to_owned());
                return Err(Refusal::NotHeeded { key, value }.into());
            }
            "warmup" => return Err(Refusal::WarmUp.into()),
            _ => {}
        }
    }
    Ok(())
}

impl Entry<'_> {
    /// The competitors.
    ///
    /// # Errors
    /// What cannot race, and what was expected.
    pub fn competitors(&self, scenario: &Scenario) -> Result<Vec<Competitor>, Error> {
        flags::given(self.set, [("variants", "--variants", !self.variants.is_empty())])?;
        let mss = scenario.sender.mss;
        if mss < MIN_MSS {
            return Err(Refusal::Mss { file: self.scenario.to_owned(), least: MIN_MSS, mss }.into());
        }
        let none = |names: &[String]| names.len() == 1 && names[0] == "none";
        let mut competitors = match self.kernels {
            [] => Competitor::usual_kernels(),
            names if none(names) => Vec::new(),
            names => Competitor::kernels(names)?,
        };
        let variants = match self.variants {
            _ if self.reverse => Vec::new(),
            [] if self.together && scenario.is_single() => return Err(Refusal::NoVariants.into()),
            [] => {
                let place = place_of_variants(self.scenario, self.set);
                let mut variants = scenario.senders(&scenario.variants, &place)?;
                variants.retain(|variant| !variant.is_for_simulation_only());
                variants
            }
            names if none(names) => Vec::new(),
            names => scenario.senders(names, "--variants")?,
        };
        if let Some(variant) = variants.iter().find(|v| v.is_for_simulation_only()) {
            return Err(Refusal::SimulationOnly(variant.name().to_owned()).into());
        }
        competitors.extend(variants.into_iter().map(|v| Competitor::Ours(Box::new(v))));
        // The last row: the kernel's own TCP, with what all others show to be needed.
        competitors.sort_by_key(Competitor::is_loaded);
        if !scenario.is_single() && !self.together {
            return Err(Refusal::Alone(self.scenario.to_owned()).into());
        }
        let competitors = field(self.scenario, scenario, competitors)?;
        if competitors.is_empty() {
            return Err(Refusal::Nobody.into());
        }
        Ok(competitors)
    }
}
