//! The senders that a scenario compares.

use unruffled_sim::App;
use unruffled_tcp::{Variant, VariantError};

use crate::error::Error;
use crate::flags;
use crate::scenario::Scenario;
use crate::traffic::Traffic;

impl Scenario {
    /// Returns the senders of these names, in their order, with the scenario's parameters. `place`
    /// is the place of the names, for errors.
    ///
    /// # Errors
    /// An unknown sender, an invalid parameter, or a scenario without traffic of the compared
    /// sender.
    pub fn senders(&self, names: &[String], place: &str) -> Result<Vec<Variant>, Error> {
        if self.of_variant().is_none() {
            return Err(Error::NothingCompared { place: place.to_owned() });
        }
        let mut variants: Vec<Variant> = Vec::new();
        for name in names.iter().map(|name| name.trim()) {
            if variants.iter().any(|earlier| earlier.name() == name) {
                return Err(Error::Twice { place: place.to_owned(), name: name.to_owned() });
            }
            let refused = |source: VariantError| Error::Variant { place: place.to_owned(), source };
            let mut variant = Variant::parse(name).map_err(refused)?;
            self.parametrise(&mut variant)?;
            variants.push(variant);
        }
        Ok(variants)
    }

    /// Returns the first traffic whose sender is the variant that is compared.
    pub fn of_variant(&self) -> Option<&Traffic> {
        let datagrams = |group: &Traffic| matches!(group.app, App::Datagrams { .. });
        self.traffic.iter().find(|group| group.sender.is_none() && !datagrams(group))
    }
}

/// Returns the place of the names of a scenario's own senders: in `file`, unless `set` replaces
/// them.
pub fn place_of_variants(file: &str, set: &[String]) -> String {
    let place = if set.iter().any(|set| flags::key(set) == "variants") { "--set" } else { file };
    format!("{place}: variants")
}
