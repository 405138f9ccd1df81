//! The senders by name. A [`Row`] of the table names the parts that a sender is made of; a
//! [`Variant`] is a row with parts added by name (`rr-ta+cubic`) and its parameters set.

mod error;
mod meant;
mod parts;
mod row;
mod rows;
#[cfg(test)]
mod tests;
mod union;

use std::sync::Arc;

pub use error::VariantError;
use parts::Change;
pub use parts::{PARTS, Part};
pub use row::Row;
use row::{Kinds, MadeOf};
pub use rows::ROWS;
use union::Union;

use crate::Config;
use crate::parameter::Parameter;
use crate::parts::Maker;
use crate::parts::control::{AnyControl, CongestionControl, reno};
use crate::parts::detect::{Detector, LossDetector};
use crate::sender::{Composition, Recipe};

/// A sender: a row, the parts added to it, and the values of its parameters. Every connection is
/// begun with one.
///
/// ```
/// use unruffled_tcp::Variant;
///
/// let mut variant = Variant::parse("rr-ta+cubic")?;
/// variant.set("history", "40 s")?;
/// assert!(Variant::parse("rr-ta+bbr").is_err());
/// # Ok::<(), unruffled_tcp::VariantError>(())
/// ```
///
/// A loss detector or a congestion control of one's own makes a sender of any row:
/// [`Variant::with_detector`], [`Variant::with_control`].
#[derive(Clone, Debug)]
pub struct Variant {
    name: String,
    row: &'static Row,
    added: Added,
    parameters: Vec<Parameter>,
    values: Vec<f64>,
    /// The parts, with the values read.
    recipe: Recipe,
}

/// What a sender has beside what its row says.
#[derive(Clone, Default)]
struct Added {
    parts: Vec<&'static str>,
    control: Option<Change>,
    eifel: bool,
    f_rto: bool,
    own_detector: Option<Maker<Detector>>,
    own_control: Option<Maker<AnyControl>>,
}

impl core::fmt::Debug for Added {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Added({:?})", self.parts)
    }
}

impl Variant {
    /// Reads a name: a row's, then parts, each behind a `+`.
    ///
    /// # Errors
    /// What is unknown, or why the parts do not go together.
    pub fn parse(name: &str) -> Result<Self, VariantError> {
        let mut names = name.split('+');
        let base = names.next().unwrap_or_default();
        let row = ROWS
            .iter()
            .find(|row| row.name == base)
            .ok_or_else(|| VariantError::UnknownVariant { name: name.to_owned() })?;
        let mut added = Added::default();
        for part in names {
            let part = PARTS.iter().find(|known| known.name == part).ok_or_else(|| {
                VariantError::UnknownPart { name: name.to_owned(), part: part.to_owned() }
            })?;
            added.add(part, row, name)?;
        }
        let (parameters, recipe) = assemble(row, &added, None);
        let values = parameters.iter().map(|p| p.default).collect();
        Ok(Self { name: name.to_owned(), row, added, parameters, values, recipe })
    }

    /// The sender called `name`, with its parameters as published; none if there is no such sender.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name).ok()
    }

    /// The same sender with a loss detector of one's own, which `make` makes for each connection;
    /// `name` is added to the sender's, behind a `+`. `examples/own_detector.rs` of this crate shows
    /// one.
    ///
    /// # Errors
    /// [`VariantError::TakesNoParts`] for a sender that is not composed of parts.
    pub fn with_detector(
        mut self,
        name: &'static str,
        make: impl Fn() -> Box<dyn LossDetector> + Send + Sync + 'static,
    ) -> Result<Self, VariantError> {
        self.added.own_detector = Some(Arc::new(move |_| Detector::Own(make())));
        self.with_own(name)
    }

    /// The same sender with a congestion control of one's own, which `make` makes for each
    /// connection; `name` is added to the sender's, behind a `+`.
    ///
    /// # Errors
    /// [`VariantError::TakesNoParts`] for a sender that is not composed of parts.
    pub fn with_control(
        mut self,
        name: &'static str,
        make: impl Fn() -> Box<dyn CongestionControl> + Send + Sync + 'static,
    ) -> Result<Self, VariantError> {
        self.added.own_control = Some(Arc::new(move |_| AnyControl::Own(make())));
        self.with_own(name)
    }

    /// A part from outside takes the place of the row's: its parameters go.
    fn with_own(self, part: &'static str) -> Result<Self, VariantError> {
        let Self { name, row, mut added, parameters, values, .. } = self;
        let name = format!("{name}+{part}");
        if !row.is_composed() {
            return Err(VariantError::TakesNoParts { name, row: row.name });
        }
        added.parts.push(part);
        let (left, _) = assemble(row, &added, None);
        let value = |p: &Parameter| {
            let at = parameters.iter().position(|known| known == p);
            at.map_or(p.default, |at| values[at])
        };
        let values: Vec<f64> = left.iter().map(value).collect();
        let (parameters, recipe) = assemble(row, &added, Some(&values));
        Ok(Self { name, row, added, parameters, values, recipe })
    }

    /// Sets a parameter, written in its unit.
    ///
    /// # Errors
    /// What was expected.
    pub fn set(&mut self, parameter: &str, text: &str) -> Result<(), VariantError> {
        let Some(at) = self.parameters.iter().position(|p| p.name == parameter) else {
            let known = self.parameters.iter().map(|p| p.name).collect();
            return Err(VariantError::UnknownParameter {
                name: self.name.clone(),
                parameter: parameter.to_owned(),
                known,
            });
        };
        self.values[at] = self.parameters[at].parse(text)?;
        self.recipe = assemble(self.row, &self.added, Some(&self.values)).1;
        Ok(())
    }

    /// Its name, parts and all.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The row that it is based on.
    pub fn row(&self) -> &'static Row {
        self.row
    }

    /// Whether it needs what only the simulator tells: which of two copies arrived.
    pub fn is_for_simulation_only(&self) -> bool {
        self.row.is_for_simulation_only()
    }

    /// Its parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&Parameter, f64)> {
        self.parameters.iter().zip(self.values.iter().copied())
    }

    /// The parts in words, in the order of the questions they answer.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        self.recipe.about()
    }

    /// Whether it is told by SACK blocks what arrived.
    pub(crate) fn takes_sack(&self) -> bool {
        self.row.takes_sack()
    }

    /// The settings of a connection with this sender: Eifel detection needs timestamps at both ends.
    pub(crate) fn settings(&self, config: Config) -> Config {
        config.with(|c| c.timestamps.offer |= self.added.eifel)
    }

    /// What a connection's sender is made of.
    pub(crate) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// A detector as a connection has it.
    #[cfg(test)]
    pub(crate) fn detector(&self) -> Box<dyn LossDetector> {
        match &self.recipe {
            Recipe::Composed(parts) => Box::new((parts.detector)(&Config::default())),
            Recipe::TcpPr(_) => panic!("composed of parts"),
        }
    }
}

impl Added {
    /// Adds `part` to what `row` is composed of, in the sender called `name`.
    fn add(&mut self, part: &Part, row: &Row, name: &str) -> Result<(), VariantError> {
        let (name, part_name) = (name.to_owned(), part.name);
        if self.parts.contains(&part_name) {
            return Err(VariantError::PartTwice { name, part: part_name });
        }
        let MadeOf::Kinds(kinds) = &row.made_of else {
            return Err(VariantError::TakesNoParts { name, row: row.name });
        };
        match part.change {
            Change::Control(_)
                if self.control.is_some() || kinds.control.name != reno::RENO.name =>
            {
                return Err(VariantError::SecondControl { name, part: part_name });
            }
            Change::Control(_) => self.control = Some(part.change),
            Change::Eifel => self.eifel = true,
            Change::FRto => self.f_rto = true,
        }
        self.parts.push(part_name);
        Ok(())
    }
}

/// The parameters of a sender, which are the union of its parts', and what it is made of with these
/// values, or with the defaults.
fn assemble(row: &Row, added: &Added, values: Option<&[f64]>) -> (Vec<Parameter>, Recipe) {
    let mut union = Union::new(values);
    let recipe = match &row.made_of {
        MadeOf::Kinds(kinds) => Recipe::Composed(compose(kinds, added, &mut union)),
        MadeOf::TcpPr(version) => {
            let names: Vec<&str> = version.parameters.iter().map(|p| p.name).collect();
            Recipe::TcpPr((version.read)(&union.take(version.parameters, &names)))
        }
    };
    (union.into_parameters(), recipe)
}

fn compose(kinds: &Kinds, added: &Added, union: &mut Union<'_>) -> Composition {
    let control = match added.control {
        Some(Change::Control(control)) => control,
        _ => kinds.control,
    };
    Composition {
        acks: kinds.acks,
        reduction: kinds.reduction,
        probes: kinds.probes,
        lengths: kinds.lengths,
        detector: match &added.own_detector {
            Some(own) => Arc::clone(own),
            None => union.read(&kinds.detector),
        },
        limited_transmit: union.read(&kinds.limited_transmit),
        timer: union.read(&kinds.timer),
        restoration: union.read(&kinds.restoration),
        eifel: added.eifel,
        f_rto: added.f_rto,
        control: match &added.own_control {
            Some(own) => Arc::clone(own),
            None => union.read(&control),
        },
    }
}
