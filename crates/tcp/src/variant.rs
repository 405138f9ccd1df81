//! The senders by name.
//!
//! * A *sender* decides when a connection sends which segment: loss detection, timers and
//!   congestion control together. Three machines implement all senders: one is composed of parts,
//!   one is TCP-PR, and one numbers its packets, as QUIC stacks do.
//! * A [`Row`] describes one published sender: its name, its source, and the kinds of parts in
//!   which it differs from other rows. [`ROWS`] is the table of them.
//! * A [`Variant`] is a sender ready for use: a row, parts added by name (`rr-ta+cubic`), and the
//!   values of its parameters. Every connection is made with one.
//! * A *part* answers one question, such as which holes are losses. It is a value with its own
//!   state, one for each connection. [`PARTS`] lists those that can be added to any composed
//!   sender.
//! * A *kind* of part is what rows refer to: a name, parameters, and a function that makes the
//!   part.
//! * A *recipe* is what a variant gives a connection: a *composition*, which makes the parts with
//!   their parameters read, or the settings of TCP-PR.

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
use row::{Host, Kinds, MadeOf};
pub use rows::ROWS;
use union::Union;

use crate::Config;
use crate::parameter::Parameter;
use crate::parts::Maker;
use crate::parts::control::bbr3::{BBR3, BBR3_CONFIRMED};
use crate::parts::control::gvisor_reno::GVISOR_RENO;
use crate::parts::control::{AnyControl, CongestionControl, reno};
use crate::parts::detect::unruffled::UNRUFFLED;
use crate::parts::detect::{Detector, LossDetector};
use crate::sender::{Composition, Recipe, quic};

/// A sender ready for use: a row, the parts added to it, and the values of its parameters. Every
/// connection is made with one.
///
/// ```
/// use unruffled_tcp::Variant;
///
/// let recommended = Variant::unruffled();
/// assert_eq!(recommended.name(), "unruffled");
///
/// let mut variant = Variant::parse("rr-ta+cubic")?;
/// variant.set("history", "40 s")?;
/// assert!(Variant::parse("rr-ta+vegas").is_err());
/// # Ok::<(), unruffled_tcp::VariantError>(())
/// ```
///
/// [`Variant::with_detector`] and [`Variant::with_control`] take a loss detector or a congestion
/// control from outside the crate.
#[derive(Clone, Debug)]
pub struct Variant {
    name: String,
    row: &'static Row,
    added: Added,
    parameters: Vec<Parameter>,
    values: Vec<f64>,
    /// The recipe of the row and the added parts with `values`.
    recipe: Recipe,
}

/// Additions to a row.
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

/// The recommended sender, [`Variant::unruffled`].
impl Default for Variant {
    fn default() -> Self {
        Self::unruffled()
    }
}

/// The recommended sender and the common ones, with their parameters as published.
impl Variant {
    /// Returns the recommended sender, `unruffled`: this project's own. It retransmits a segment
    /// that is overdue, and reduces the window only once the original is proved lost.
    pub fn unruffled() -> Self {
        Self::known("unruffled")
    }

    /// Returns `rack`: loss detection by time, as Linux has it (RFC 8985), with Reno's congestion
    /// control.
    pub fn rack() -> Self {
        Self::known("rack")
    }

    /// Returns `rack+cubic`: RACK with the congestion control of RFC 9438.
    pub fn rack_cubic() -> Self {
        Self::known("rack+cubic")
    }

    /// Returns `linux`: a model of present Linux at both ends.
    pub fn linux() -> Self {
        Self::known("linux")
    }

    /// Returns `sack`: the standard's loss recovery with selective acknowledgements (RFC 6675).
    pub fn sack() -> Self {
        Self::known("sack")
    }

    /// Returns `newreno`: the standard's loss recovery without selective acknowledgements (RFC
    /// 6582).
    pub fn newreno() -> Self {
        Self::known("newreno")
    }

    fn known(name: &str) -> Self {
        Self::parse(name).expect("a test parses each name given here")
    }
}

impl Variant {
    /// Parses a name: a row's, followed by the names of added parts, each after a `+`.
    ///
    /// # Errors
    /// [`VariantError`] if a name is unknown or the parts do not go together.
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

    /// Returns the sender called `name`, with its parameters as published, or `None` if there is
    /// none.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name).ok()
    }

    /// Replaces the loss detector by one from outside the crate, which `make` makes for each
    /// connection. `name` is appended to the sender's name after a `+`. `examples/own_detector.rs`
    /// of this crate implements one.
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

    /// Replaces the congestion control by one from outside the crate, which `make` makes for each
    /// connection. `name` is appended to the sender's name after a `+`.
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

    /// Appends the name of a part from outside, and drops the parameters of the part that it
    /// replaces.
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

    /// Sets a parameter from text in the parameter's unit.
    ///
    /// # Errors
    /// [`VariantError::UnknownParameter`], or [`VariantError::Value`] if `text` is not a value of
    /// it.
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

    /// Returns the name, with the added parts: `rr-ta+cubic`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the row that the sender is based on.
    pub fn row(&self) -> &'static Row {
        self.row
    }

    /// Returns whether only the simulator can run the sender; see [`Row::is_for_simulation_only`].
    pub fn is_for_simulation_only(&self) -> bool {
        self.row.is_for_simulation_only()
    }

    /// Parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&Parameter, f64)> {
        self.parameters.iter().zip(self.values.iter().copied())
    }

    /// Descriptions of the parts, each with the question that the part answers, in a fixed order.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        self.recipe.about()
    }

    /// Returns whether the sender uses SACK blocks.
    pub(crate) fn takes_sack(&self) -> bool {
        self.row.takes_sack()
    }

    /// Returns the settings of an end of a connection of this sender: `config` with what the row sets, and with
    /// timestamps offered where Eifel detection needs them.
    ///
    /// ```
    /// use unruffled_tcp::{Config, Variant};
    ///
    /// // Rows that model a stack have its buffers.
    /// let smoltcp = Variant::named("smoltcp").expect("a row");
    /// assert_eq!(smoltcp.settings(Config::default()).receive_buffer, 65_535);
    /// ```
    #[must_use]
    pub fn settings(&self, config: Config) -> Config {
        self.row.settings(config).with(|c| c.timestamps.offer |= self.added.eifel)
    }

    /// Returns the recipe of a connection's sender.
    pub(crate) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Makes a detector as a connection does.
    #[cfg(test)]
    pub(crate) fn detector(&self) -> Box<dyn LossDetector> {
        match &self.recipe {
            Recipe::Composed(parts) => Box::new((parts.detector)(&Config::simulated())),
            Recipe::Quic(parts) => Box::new((parts.detector)(&Config::simulated())),
            Recipe::TcpPr(_) => panic!("composed of parts"),
        }
    }
}

impl Added {
    /// Adds `part` to the parts of `row`; `name` is the whole sender's, for errors.
    fn add(&mut self, part: &Part, row: &Row, name: &str) -> Result<(), VariantError> {
        let name = name.to_owned();
        let part_name = part.name;
        if self.parts.contains(&part_name) {
            return Err(VariantError::PartTwice { name, part: part_name });
        }
        let MadeOf::Kinds(kinds) = &row.made_of else {
            return Err(VariantError::TakesNoParts { name, row: row.name });
        };
        let is_linux = kinds.host == Host::Linux;
        let replaceable =
            [reno::RENO.name, reno::NONE.name, GVISOR_RENO.name].contains(&kinds.control.name);
        let has_control = !replaceable && !is_linux;
        match part.change {
            Change::Control(_) if self.control.is_some() || has_control => {
                return Err(VariantError::SecondControl { name, part: part_name });
            }
            Change::Eifel | Change::FRto if is_linux => {
                return Err(VariantError::OwnRules { name, row: row.name, part: part_name });
            }
            Change::Control(_) => self.control = Some(part.change),
            Change::Eifel => self.eifel = true,
            Change::FRto => self.f_rto = true,
        }
        self.parts.push(part_name);
        Ok(())
    }
}

/// Returns the parameters of a sender, the union of its parts', and its recipe with these values,
/// or with the defaults.
fn assemble(row: &Row, added: &Added, values: Option<&[f64]>) -> (Vec<Parameter>, Recipe) {
    let mut union = Union::new(values);
    let recipe = match &row.made_of {
        MadeOf::Kinds(kinds) => Recipe::Composed(compose(kinds, added, &mut union)),
        MadeOf::TcpPr(version) => {
            let names: Vec<&str> = version.parameters.iter().map(|p| p.name).collect();
            Recipe::TcpPr((version.read)(&union.take(version.parameters, &names)))
        }
        MadeOf::Quic(kinds) => Recipe::Quic(quic::Composition {
            detector: union.read(&kinds.detector),
            restoration: union.read(&kinds.restoration),
            control: union.read(&kinds.control),
            recovery: kinds.recovery,
        }),
    };
    (union.into_parameters(), recipe)
}

fn compose(kinds: &Kinds, added: &Added, union: &mut Union<'_>) -> Composition {
    let confirms = kinds.detector.name == UNRUFFLED.name;
    let control = match added.control {
        Some(Change::Control(control)) if confirms && control.name == BBR3.name => BBR3_CONFIRMED,
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
        linux: kinds.host == Host::Linux,
        control: match &added.own_control {
            Some(own) => Arc::clone(own),
            None => union.read(&control),
        },
    }
}
