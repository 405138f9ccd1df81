//! A sender's parameters: the union of its parts'.

use crate::parameter::Parameter;
use crate::parts::{Kind, Maker};

/// Collects the parameters of the parts of a sender, and gives each part its values. A parameter
/// that two parts share appears once. If two different parameters have the same name, the second
/// gets its qualified name.
pub(super) struct Union<'a> {
    parameters: Vec<Parameter>,
    /// Values set, in the order of the union; `None` for the defaults.
    values: Option<&'a [f64]>,
}

impl<'a> Union<'a> {
    pub(super) fn new(values: Option<&'a [f64]>) -> Self {
        Self { parameters: Vec::new(), values }
    }

    /// Returns all parameters collected so far.
    pub(super) fn into_parameters(self) -> Vec<Parameter> {
        self.parameters
    }

    /// Returns the maker of a part of this kind with its values.
    pub(super) fn read<T>(&mut self, kind: &Kind<T>) -> Maker<T> {
        (kind.read)(&self.take(kind.parameters, kind.qualified))
    }

    /// Returns the values of a part's parameters; `qualified` are names that no other part has.
    pub(super) fn take(
        &mut self,
        parameters: &[Parameter],
        qualified: &[&'static str],
    ) -> Vec<f64> {
        let each = parameters.iter().zip(qualified);
        each.map(|(parameter, name)| self.value(parameter, name)).collect()
    }

    fn value(&mut self, parameter: &Parameter, qualified: &'static str) -> f64 {
        let at = self.parameters.iter().position(|known| known == parameter).unwrap_or_else(|| {
            let taken = self.parameters.iter().any(|known| known.name == parameter.name);
            let name = if taken { qualified } else { parameter.name };
            self.parameters.push(Parameter { name, ..*parameter });
            self.parameters.len() - 1
        });
        self.values.map_or(parameter.default, |values| values[at])
    }
}
