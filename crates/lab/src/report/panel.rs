//! Small multiples: plots of one kind side by side.

use minijinja::{Value, context};

use super::look;
use crate::record::VariantRuns;

/// One plot of several of the same kind.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) variant: String,
    /// The custom property with the variant's colour.
    pub(super) colour: String,
    pub(super) note: String,
    pub(super) svg: String,
}

impl Panel {
    pub(super) fn new(variant: &VariantRuns, note: &str, svg: String) -> Self {
        let (variant, note) = (variant.name.clone(), note.to_owned());
        Self { colour: look::of(&variant).ink.property(), variant, note, svg }
    }
}

/// Returns the values of the panels for the template.
pub(super) fn values(panels: Vec<Panel>) -> Vec<Value> {
    let value = |Panel { variant, colour, note, svg }| {
        context! { variant, colour, note, svg => Value::from_safe_string(svg) }
    };
    panels.into_iter().map(value).collect()
}
