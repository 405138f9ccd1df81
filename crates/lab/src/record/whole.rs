//! Serialization of rows with all counts, for other processes. JSON and CSV have only the metrics
//! of a row.

use serde::{Deserialize, Deserializer, Serializer};
use unruffled_measure::FlowRecord;

use crate::row::RunRow;

/// The fields of a [`RunRow`], in order.
type Fields = (String, String, u64, FlowRecord, f64, f64);

pub(crate) fn serialize<S: Serializer>(rows: &[RunRow], serializer: S) -> Result<S::Ok, S::Error> {
    let fields = |row: &RunRow| -> Fields {
        let RunRow { scenario, variant, seed, flow, loss_rate, out_of_order_rate } = row.clone();
        (scenario, variant, seed, flow, loss_rate, out_of_order_rate)
    };
    serializer.collect_seq(rows.iter().map(fields))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<RunRow>, D::Error> {
    let row = |fields: Fields| {
        let (scenario, variant, seed, flow, loss_rate, out_of_order_rate) = fields;
        RunRow { scenario, variant, seed, flow, loss_rate, out_of_order_rate }
    };
    Ok(Vec::deserialize(deserializer)?.into_iter().map(row).collect())
}
