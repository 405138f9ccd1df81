//! The senders that a scenario compares.

use unruffled_sim::App;
use unruffled_tcp::{Variant, VariantError};

use crate::error::Error;
use crate::flags;
use crate::scenario::Scenario;
use crate::traffic::Traffic;

impl Scenario {
    /// The senders of the given names, in their order, with the scenario's parameters.
    ///
    /// # Errors
    /// A name that no sender has, a parameter that does not fit, or a scenario in which nothing is of
    /// these senders; `place` says where the names stand.
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

    /// The first traffic whose sender is the variant that is compared.
    pub fn of_variant(&self) -> Option<&Traffic> {
        let datagrams = |group: &Traffic| matches!(group.app, App::Datagrams { .. });
        self.traffic.iter().find(|group| group.sender.is_none() && !datagrams(group))
    }
}

/// Where the names of a scenario's own senders stand: in `file`, unless `set` has replaced them.
pub fn place_of_variants(file: &str, set: &[String]) -> String {
    let place = if set.iter().any(|set| flags::key(set) == "variants") { "--set" } else { file };
    format!("{place}: variants")
}
