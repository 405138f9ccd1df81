//! A sender's parameters: the union of its parts'.

use crate::parameter::Parameter;
use crate::parts::{Kind, Maker};

/// Collects the parameters of parts, one part after the other, and gives each part its values. One
/// parameter that two parts share is one; two of the same name are told apart by their part's.
pub(super) struct Union<'a> {
    parameters: Vec<Parameter>,
    /// What is set, in the order of the union; none for the defaults.
    values: Option<&'a [f64]>,
}

impl<'a> Union<'a> {
    pub(super) fn new(values: Option<&'a [f64]>) -> Self {
        Self { parameters: Vec::new(), values }
    }

    /// All parameters of the parts so far.
    pub(super) fn into_parameters(self) -> Vec<Parameter> {
        self.parameters
    }

    /// The maker of a part of this kind, with its values read.
    pub(super) fn read<T>(&mut self, kind: &Kind<T>) -> Maker<T> {
        (kind.read)(&self.take(kind.parameters, kind.qualified))
    }

    /// The values of a part's parameters; `qualified` are names that no other part has.
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
