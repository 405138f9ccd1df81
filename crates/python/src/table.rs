//! Tables in Arrow's layout. Other libraries read them without copies through the Arrow PyCapsule interface
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, RecordBatchIterator};
use arrow_array::{LargeStringArray, RecordBatchOptions, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyCapsule, PyDict, PyList, PySlice, PyString};
use serde::{Deserialize, Serialize};

use crate::html;
use crate::pickle::{self, Kept};

/// A table of results: columns in Arrow's layout.
///
/// Every library that reads Arrow can read it: ``polars.DataFrame(table)``,
/// ``pyarrow.table(table)``, ``duckdb.sql("FROM table")``. Numbers are not copied.
///
/// ``len(table)`` is the number of rows, and iteration gives each row as a dictionary.
/// ``table["variant"]`` is a column as a list, ``table[0]`` a row, ``table[:3]`` a table of three
/// rows; ``"variant" in table`` tests whether there is such a column.
#[pyclass(frozen, module = "unruffled")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    batch: RecordBatch,
}

/// Maximum octets of a column of texts with offsets of 32 bits.
const MAX_TEXT_OCTETS: usize = i32::MAX as usize;

/// A column as plain values.
#[derive(Serialize, Deserialize)]
pub(crate) enum Column {
    Text(Vec<String>),
    Count(Vec<u64>),
    Number(Vec<Option<f64>>),
}

impl Column {
    /// Returns the values at these places.
    fn at(&self, places: &[usize]) -> Self {
        match self {
            Self::Text(texts) => Self::Text(places.iter().map(|&at| texts[at].clone()).collect()),
            Self::Count(counts) => Self::Count(places.iter().map(|&at| counts[at]).collect()),
            Self::Number(numbers) => Self::Number(places.iter().map(|&at| numbers[at]).collect()),
        }
    }

    fn finish(self) -> (DataType, bool, ArrayRef) {
        match self {
            Self::Text(texts) if texts.iter().map(String::len).sum::<usize>() > MAX_TEXT_OCTETS => {
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
    /// Creates a table of these columns, which have the same length.
    pub(crate) fn of<N: Into<String>>(columns: Vec<(N, Column)>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut arrays = Vec::new();
        for (name, column) in columns {
            let (kind, nullable, array) = column.finish();
            fields.push(Field::new(name, kind, nullable));
            arrays.push(array);
        }
        // A table without columns needs an explicit length.
        let height = arrays.first().map_or(0, Array::len);
        let options = RecordBatchOptions::new().with_row_count(Some(height));
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options);
        Ok(Self { batch: batch.map_err(broken)? })
    }

    /// Returns the columns as plain values, with their names.
    fn columns(&self) -> Vec<(String, Column)> {
        let schema = self.batch.schema();
        let column = |(field, array): (&Arc<Field>, &ArrayRef)| {
            let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
            let column = match array.data_type() {
                DataType::Utf8 => Column::Text(array.as_string::<i32>().iter().map(text).collect()),
                DataType::LargeUtf8 => {
                    Column::Text(array.as_string::<i64>().iter().map(text).collect())
                }
                DataType::UInt64 => {
                    Column::Count(array.as_primitive::<UInt64Type>().values().to_vec())
                }
                _ => Column::Number(array.as_primitive::<Float64Type>().iter().collect()),
            };
            (field.name().clone(), column)
        };
        schema.fields().iter().zip(self.batch.columns()).map(column).collect()
    }

    /// Returns a table with the same columns and no rows.
    pub(crate) fn emptied(&self) -> Self {
        Self { batch: self.batch.slice(0, 0) }
    }

    /// Returns the table as an Arrow stream in a capsule.
    pub(crate) fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let batches = [Ok(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the table's schema in a capsule.
    pub(crate) fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns the number of rows.
    pub(crate) fn height(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns the names of the columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns the column of a name, the row of a number, or the rows of a slice.
    pub(crate) fn item<'py>(&self, of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = of.py();
        let rows = self.height();
        if let Ok(name) = of.cast::<PyString>() {
            let at = self.batch.schema().index_of(&name.to_string_lossy());
            let at = at.map_err(|_| PyKeyError::new_err(name.clone().unbind()))?;
            return Ok(self.list(py, at)?.into_any());
        }
        if let Ok(slice) = of.cast::<PySlice>() {
            let indices = slice.indices(rows.try_into()?)?;
            let from = indices.start;
            let step = indices.step;
            let chosen = match usize::try_from(from) {
                Ok(from) if step == 1 => {
                    Self { batch: self.batch.slice(from, indices.slicelength) }
                }
                _ => {
                    let at = (0..indices.slicelength as isize).map(|n| (from + n * step) as usize);
                    let at: Vec<usize> = at.collect();
                    let columns = self.columns().into_iter();
                    Self::of(columns.map(|(name, column)| (name, column.at(&at))).collect())?
                }
            };
            return Ok(Bound::new(py, chosen)?.into_any());
        }
        let Ok(number) = of.call_method0("__index__").and_then(|number| number.extract::<isize>())
        else {
            let kind = of.get_type().name()?;
            let expected = "expected a column's name, a row's number or a slice of rows";
            return Err(PyTypeError::new_err(format!("{expected}, found {kind}")));
        };
        let at = if number < 0 { number.checked_add_unsigned(rows) } else { Some(number) };
        match at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < rows) {
            Some(at) => Ok(self.row(py, at)?.into_any()),
            None => Err(PyIndexError::new_err(format!("row {number}: the table has {rows}"))),
        }
    }

    /// Returns a row as a dictionary.
    fn row<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        for (column, field) in self.batch.schema_ref().fields().iter().enumerate() {
            // All rows share the key.
            row.set_item(PyString::intern(py, field.name()), self.cell(py, column, at)?)?;
        }
        Ok(row)
    }

    fn cell<'py>(&self, py: Python<'py>, column: usize, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let array = self.batch.column(column);
        if array.is_null(row) {
            return Ok(py.None().into_bound(py));
        }
        match array.data_type() {
            DataType::Utf8 => Ok(PyString::new(py, array.as_string::<i32>().value(row)).into_any()),
            DataType::LargeUtf8 => {
                Ok(PyString::new(py, array.as_string::<i64>().value(row)).into_any())
            }
            DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into_bound_py_any(py),
            _ => array.as_primitive::<Float64Type>().value(row).into_bound_py_any(py),
        }
    }

    /// Returns the rows as dictionaries.
    pub(crate) fn pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        for at in 0..self.height() {
            rows.append(self.row(py, at)?)?;
        }
        Ok(rows)
    }

    /// Returns the columns as lists.
    pub(crate) fn pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (at, name) in self.names().iter().enumerate() {
            columns.set_item(name, self.list(py, at)?)?;
        }
        Ok(columns)
    }

    /// Returns a pandas data frame.
    pub(crate) fn pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pandas = py.import("pandas")?;
        let frame = pandas.getattr("DataFrame")?;
        // pandas reads Arrow with pyarrow, which may be missing.
        if frame.hasattr("from_arrow")? && py.import("pyarrow").is_ok() {
            return frame.call_method1("from_arrow", (self.clone(),));
        }
        let columns = PyDict::new(py);
        for (at, name) in self.names().iter().enumerate() {
            let kind = match self.batch.column(at).data_type() {
                DataType::UInt64 => "uint64",
                DataType::Float64 => "float64",
                _ => "str",
            };
            let of_kind = [("dtype", kind)].into_py_dict(py)?;
            columns.set_item(
                name,
                pandas.getattr("Series")?.call((self.list(py, at)?,), Some(&of_kind))?,
            )?;
        }
        frame.call1((columns,))
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
    PyRuntimeError::new_err(format!("unruffled: an invalid table: a bug: {error}"))
}

/// Classes that are Arrow tables of their rows.
pub(crate) trait Tabular {
    /// Returns the rows.
    fn rows_as_table(&self, py: Python<'_>) -> PyResult<Table>;
}

/// Implements the table methods of a [`Tabular`] class.
macro_rules! tabular {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Names of the columns.
            #[getter]
            fn column_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
                Ok(self.rows_as_table(py)?.names())
            }

            /// The number of rows.
            #[getter]
            fn num_rows(&self, py: Python<'_>) -> PyResult<usize> {
                Ok(self.rows_as_table(py)?.height())
            }

            fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
                Ok(self.rows_as_table(py)?.height())
            }

            fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                self.rows_as_table(key.py())?.item(key)
            }

            fn __iter__(&self, py: Python<'_>) -> PyResult<$crate::table::Rows> {
                Ok(self.rows_as_table(py)?.into())
            }

            fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
                let table = self.rows_as_table(key.py())?;
                match key.cast::<pyo3::types::PyString>() {
                    Ok(name) => {
                        Ok(table.names().iter().any(|column| **column == name.to_string_lossy()))
                    }
                    Err(_) => table.pylist(key.py())?.contains(key),
                }
            }

            /// Return the columns as lists, by their names.
            fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
                self.rows_as_table(py)?.pydict(py)
            }

            /// Return the rows as dictionaries.
            fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyList>> {
                self.rows_as_table(py)?.pylist(py)
            }

            /// Return the rows as a Polars data frame, without copying the numbers.
            fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                py.import("polars")?.call_method1("DataFrame", (self.rows_as_table(py)?,))
            }

            /// Return the rows as a pandas data frame.
            fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.rows_as_table(py)?.pandas(py)
            }

            #[pyo3(signature = (requested_schema = None))]
            fn __arrow_c_stream__<'py>(
                &self,
                py: Python<'py>,
                requested_schema: Option<Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, pyo3::types::PyCapsule>> {
                // The interface allows a producer to ignore the requested schema.
                drop(requested_schema);
                self.rows_as_table(py)?.stream(py)
            }

            fn __arrow_c_schema__<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<Bound<'py, pyo3::types::PyCapsule>> {
                self.rows_as_table(py)?.schema(py)
            }
        }
    };
}
pub(crate) use tabular;

impl Tabular for Table {
    fn rows_as_table(&self, _: Python<'_>) -> PyResult<Table> {
        Ok(self.clone())
    }
}

tabular!(Table);

/// Rows at the start and at the end of a long table that a notebook shows.
const SHOWN_ROWS: usize = 5;

#[pymethods]
impl Table {
    fn __eq__(&self, other: &Self) -> bool {
        self == other
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Kept<'py>> {
        pickle::kept(py, "Table", &self.columns())
    }

    fn __repr__(&self) -> String {
        format!("<unruffled.Table: {} rows of {}>", self.height(), self.names().join(", "))
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let names = self.names();
        let height = self.height();
        let line = |at: usize| -> PyResult<Vec<String>> {
            let cell = |column| match self.cell(py, column, at)? {
                cell if cell.is_none() => Ok("–".to_owned()),
                cell => Ok(cell.str()?.to_string()),
            };
            (0..names.len()).map(cell).collect()
        };
        let shown = (0..height).filter(|at| *at < SHOWN_ROWS || at + SHOWN_ROWS >= height);
        let mut lines = shown.map(line).collect::<PyResult<Vec<_>>>()?;
        if height > lines.len() {
            lines.insert(SHOWN_ROWS, vec!["…".to_owned(); names.len()]);
        }
        let caption = format!("{height} rows");
        let heads: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(html::table(&caption, &heads, &lines))
    }
}

/// The rows of a table, one after another.
#[pyclass(module = "unruffled._core")]
pub(crate) struct Rows {
    table: Table,
    next: usize,
}

impl From<Table> for Rows {
    fn from(table: Table) -> Self {
        Self { table, next: 0 }
    }
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.next >= self.table.height() {
            return Ok(None);
        }
        self.next += 1;
        self.table.row(py, self.next - 1).map(Some)
    }
}
