//! The runs of a store as CSV.

use std::path::Path;

use unruffled_measure::FlowRecord;

use super::{Store, StoreError};
use crate::error::Error;

impl Store {
    /// Passes all runs as CSV to `line`: a header, then a line for each flow.
    ///
    /// # Errors
    /// A damaged file, or a failure of `line`.
    pub fn csv(&self, mut line: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<(), Error> {
        let mut read = || -> rusqlite::Result<Result<(), Error>> {
            let mut query = self.connection.prepare(
                "SELECT key, model, made_for, variant, seed, seconds, record, hash FROM run
                 ORDER BY model, made_for, variant, seed, key",
            )?;
            let mut rows = query.query([])?;
            let mut heads: Vec<String> = Vec::new();
            while let Some(row) = rows.next()? {
                let bytes: Vec<u8> = row.get(6)?;
                if blake3::hash(&bytes).as_bytes()[..] != row.get::<_, Vec<u8>>(7)? {
                    return Ok(Err(self.error(StoreError::Damaged)));
                }
                // Records of other versions may have other fields. The header has those of the first.
                let Ok(record) = ciborium::from_reader::<ciborium::Value, _>(bytes.as_slice())
                else {
                    return Ok(Err(self.error(StoreError::NoRecord)));
                };
                for (flow, fields) in flows(&record).into_iter().enumerate() {
                    let mut writer = csv::Writer::from_writer(Vec::new());
                    if heads.is_empty() {
                        heads = write_header(&mut writer, &fields);
                    }
                    let key: Vec<u8> = row.get(0)?;
                    let key: String = key.iter().take(8).map(|b| format!("{b:02x}")).collect();
                    let mut cells = vec![key, row.get(1)?, row.get(2)?, row.get(3)?];
                    cells.push(row.get::<_, i64>(4)?.to_string());
                    cells.push(format!("{:.3}", row.get::<_, f64>(5)?));
                    cells.push((flow + 1).to_string());
                    cells.extend(heads.iter().map(|head| {
                        let field = fields.iter().find(|(name, _)| name == head);
                        field.map_or(String::new(), |(_, value)| value.clone())
                    }));
                    writer.write_record(&cells).expect("memory takes every write");
                    let text = writer.into_inner().expect("memory takes every write");
                    if let Err(reason) = line(&text) {
                        return Ok(Err(Error::output(Path::new("the CSV file"), reason)));
                    }
                }
            }
            if heads.is_empty() {
                // A store without runs gives the header alone.
                let flow = ciborium::Value::serialized(&FlowRecord::default());
                let mut writer = csv::Writer::from_writer(Vec::new());
                write_header(&mut writer, &fields(&flow.expect("has names for keys")));
                let text = writer.into_inner().expect("memory takes every write");
                return Ok(line(&text).map_err(|e| Error::output(Path::new("the CSV file"), e)));
            }
            Ok(Ok(()))
        };
        read().map_err(|e| self.error(e))?
    }
}

/// A field of a flow: its name and its value.
type Field = (String, String);

/// Writes the header and returns the names of `fields`.
fn write_header(writer: &mut csv::Writer<Vec<u8>>, fields: &[Field]) -> Vec<String> {
    let fixed = ["run", "model", "made_for", "variant", "seed", "seconds", "flow"];
    let heads: Vec<String> = fields.iter().map(|(name, _)| name.clone()).collect();
    let all = fixed.into_iter().chain(heads.iter().map(String::as_str));
    writer.write_record(all).expect("memory takes every write");
    heads
}

/// Returns the fields of each flow of a record.
fn flows(record: &ciborium::Value) -> Vec<Vec<Field>> {
    let all = record.as_map().into_iter().flatten();
    let flows = all.filter(|(name, _)| name.as_text() == Some("flows"));
    flows.filter_map(|(_, flows)| flows.as_array()).flatten().map(fields).collect()
}

/// Returns the fields of a flow, in order.
fn fields(flow: &ciborium::Value) -> Vec<Field> {
    let text = |value: &ciborium::Value| match value {
        ciborium::Value::Text(text) => text.clone(),
        ciborium::Value::Integer(n) => i128::from(*n).to_string(),
        ciborium::Value::Float(f) => f.to_string(),
        ciborium::Value::Bool(b) => b.to_string(),
        _ => String::new(),
    };
    let fields = flow.as_map().into_iter().flatten();
    fields.filter_map(|(name, value)| Some((name.as_text()?.to_owned(), text(value)))).collect()
}
