//! Tables in Arrow's layout, handed to whoever asks through the Arrow PyCapsule interface
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>): the columns are
//! lent, not copied.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator};
use arrow_array::{LargeStringArray, RecordBatchOptions, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

/// A table of results: columns in Arrow's layout.
///
/// Whatever reads Arrow reads it without a copy: ``polars.DataFrame(table)``,
/// ``pandas.DataFrame.from_arrow(table)``, ``pyarrow.table(table)``, ``duckdb.sql("FROM table")``.
#[pyclass(frozen, module = "unruffled")]
#[derive(Clone, Debug)]
pub(crate) struct Table {
    batch: RecordBatch,
}

/// Octets of a column of texts at most, unless its offsets have 64 bits.
const MOST_TEXT: usize = i32::MAX as usize;

/// A column that is being filled.
pub(crate) enum Column {
    Text(Vec<String>),
    Count(Vec<u64>),
    Number(Vec<Option<f64>>),
}

impl Column {
    fn finish(self) -> (DataType, bool, ArrayRef) {
        match self {
            // Offsets of 32 bits reach so far.
            Self::Text(texts) if texts.iter().map(String::len).sum::<usize>() > MOST_TEXT => {
                (DataType::LargeUtf8, false, Arc::new(LargeStringArray::from_iter_values(texts)))
            }
            Self::Text(texts) => {
                (DataType::Utf8, false, Arc::new(StringArray::from_iter_values(texts)))
            }
            Self::Count(counts) => (DataType::UInt64, false, Arc::new(UInt64Array::from(counts))),
            Self::Number(numbers) => {
                (DataType::Float64, true, Arc::new(Float64Array::from(numbers)))
            }
        }
    }
}

impl Table {
    /// A table of these columns, all of one length.
    pub(crate) fn of<N: Into<String>>(columns: Vec<(N, Column)>) -> PyResult<Self> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for (name, column) in columns {
            let (kind, nullable, array) = column.finish();
            fields.push(Field::new(name, kind, nullable));
            arrays.push(array);
        }
        // A table without columns tells its length nowhere else.
        let height = arrays.first().map_or(0, Array::len);
        let options = RecordBatchOptions::new().with_row_count(Some(height));
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options);
        Ok(Self { batch: batch.map_err(broken)? })
    }

    /// The same columns, without rows.
    pub(crate) fn emptied(&self) -> Self {
        Self { batch: self.batch.slice(0, 0) }
    }

    /// The table as an Arrow stream in a capsule.
    pub(crate) fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = [Ok(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The table's schema in a capsule.
    pub(crate) fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The number of rows.
    pub(crate) fn height(&self) -> usize {
        self.batch.num_rows()
    }

    fn list<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyList>> {
        let array = self.batch.column(column);
        match array.data_type() {
            DataType::Utf8 => PyList::new(py, array.as_string::<i32>()),
            DataType::LargeUtf8 => PyList::new(py, array.as_string::<i64>()),
            DataType::UInt64 => PyList::new(py, array.as_primitive::<UInt64Type>()),
            _ => PyList::new(py, array.as_primitive::<Float64Type>()),
        }
    }
}

fn broken(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("unruffled: a table that makes no sense: a bug: {error}"))
}

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish that need not be granted, says the interface.
        drop(requested_schema);
        self.stream(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.schema(py)
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        let at = self.batch.schema().index_of(column);
        self.list(py, at.map_err(|_| PyKeyError::new_err(column.to_owned()))?)
    }

    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (at, name) in self.column_names().iter().enumerate() {
            columns.set_item(name, self.list(py, at)?)?;
        }
        Ok(columns)
    }

    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let columns = (0..self.batch.num_columns()).map(|at| self.list(py, at));
        let columns = columns.collect::<PyResult<Vec<_>>>()?;
        let names = self.column_names();
        let rows = PyList::empty(py);
        for at in 0..self.batch.num_rows() {
            let row = PyDict::new(py);
            for (name, column) in names.iter().zip(&columns) {
                row.set_item(name, column.get_item(at)?)?;
            }
            rows.append(row)?;
        }
        Ok(rows)
    }

    fn to_polars<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    fn to_pandas<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let frame = py.import("pandas")?.getattr("DataFrame")?;
        // What pandas reads Arrow with is pyarrow, which not everybody has.
        if frame.hasattr("from_arrow")? && py.import("pyarrow").is_ok() {
            return frame.call_method1("from_arrow", (slf,));
        }
        frame.call1((slf.get().to_pydict(py)?,))
    }

    fn __repr__(&self) -> String {
        let names = self.column_names().join(", ");
        format!("<unruffled.Table: {} rows of {names}>", self.batch.num_rows())
    }
}
