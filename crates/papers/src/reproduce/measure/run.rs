//! The record of a run as expressions see it.

use serde::Serialize;
use serde_json::{Map, Value};
use unruffled_measure::{Quantity, RunRecord};

use super::super::curve::TimeSeries;
use crate::expression::Evaluated;

/// A run's record as expressions see it.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) record: RunRecord,
    /// The fields of each flow by name.
    pub(super) flows: Vec<Map<String, Value>>,
    pub(super) links: Vec<Map<String, Value>>,
    /// The group of the line.
    pub(super) group: Option<String>,
}

impl Run {
    /// Returns the values of `field` of the flows of a group. Without a group, they are those of
    /// the line's group, or of all flows.
    pub(super) fn values(&self, field: &str, group: Option<&str>) -> Evaluated<Vec<f64>> {
        let group = group.or(self.group.as_deref());
        let mut values = Vec::new();
        for (flow, fields) in self.record.flows.iter().zip(&self.flows) {
            if group.is_none_or(|group| group == flow.group) {
                values.push(value(fields, field)?);
            }
        }
        match group {
            Some(group) if values.is_empty() => {
                let mut names: Vec<&str> = Vec::new();
                for flow in &self.record.flows {
                    if !names.contains(&flow.group.as_str()) {
                        names.push(&flow.group);
                    }
                }
                let expected = names.join(", ");
                Err(format!("no flows of {group:?}: expected one of {expected}").into())
            }
            _ => Ok(values),
        }
    }

    pub(super) fn series(&self, subject: &str, quantity: &str) -> Evaluated<TimeSeries> {
        let requested =
            Quantity::ALL.into_iter().find(|q| q.name() == quantity).ok_or_else(|| {
                let names = Quantity::ALL.map(Quantity::name).join(", ");
                format!("no quantity {quantity:?}: expected one of {names}")
            })?;
        let found =
            self.record.series.iter().find(|s| s.subject == subject && s.quantity == requested);
        let found = found.ok_or_else(|| {
            let known = self.record.series.iter().filter(|s| s.quantity == requested);
            let known: Vec<&str> = known.map(|s| s.subject.as_str()).collect();
            let expected = if known.is_empty() {
                format!("record.series = [{quantity:?}] in the scenario")
            } else {
                format!("one of {}", known.join(", "))
            };
            format!("no {quantity} of {subject:?}: expected {expected}")
        })?;
        Ok(TimeSeries::new(found.points.clone()))
    }
}

/// Returns the fields of a record by name.
pub(super) fn fields(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Returns a field as a number; NaN if the sender lacks it.
pub(super) fn value(fields: &Map<String, Value>, name: &str) -> Evaluated<f64> {
    match fields.get(name) {
        Some(Value::Null) => Ok(f64::NAN),
        Some(Value::Number(number)) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        _ => {
            let numeric = fields.iter().filter(|(_, v)| !v.is_string() && !v.is_array());
            let names: Vec<&str> = numeric.map(|(name, _)| name.as_str()).collect();
            Err(format!("no number {name:?}: expected one of {}", names.join(", ")).into())
        }
    }
}
