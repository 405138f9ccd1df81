//! Panels: small plots of the same kind, one for each variant.

use minijinja::{Value, context};

use super::look;
use crate::record::VariantRuns;

/// A small plot of one variant.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) variant: String,
    /// The custom property with the colour of the variant.
    pub(super) colour: String,
    pub(super) note: String,
    pub(super) svg: String,
}

impl Panel {
    pub(super) fn new(variant: &VariantRuns, note: &str, svg: String) -> Self {
        Self {
            variant: variant.name.clone(),
            colour: look::of(&variant.name).ink.property(),
            note: note.to_owned(),
            svg,
        }
    }
}

/// Returns the values of panels for the template.
pub(super) fn values(panels: Vec<Panel>) -> Vec<Value> {
    let value = |Panel { variant, colour, note, svg }| {
        context! { variant, colour, note, svg => Value::from_safe_string(svg) }
    };
    panels.into_iter().map(value).collect()
}
