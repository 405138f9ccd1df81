//! The values of a TOML file, each with its span.

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

/// The keys and values of a table, in the order of the file.
pub(crate) type Nodes = Vec<(Spanned<String>, Spanned<Node>)>;

/// A value of a TOML file.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A value that holds no others.
    Value(Value),
    Array(Vec<Spanned<Node>>),
    Table(Nodes),
}

impl Node {
    /// The value without its spans; none if it holds tables or dates.
    pub(crate) fn plain(&self) -> Option<Value> {
        match self {
            Self::Table(_) | Self::Value(Value::Datetime(_)) => None,
            Self::Value(value) => Some(value.clone()),
            Self::Array(values) => {
                let values = values.iter().map(|value| value.get_ref().plain());
                Some(Value::Array(values.collect::<Option<_>>()?))
            }
        }
    }

    /// The text of the key `name` in a table.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let Self::Table(nodes) = self else { return None };
        let (_, value) = nodes.iter().find(|(key, _)| key.get_ref() == name)?;
        match value.get_ref() {
            Self::Value(value) => value.as_str(),
            Self::Array(_) | Self::Table(_) => None,
        }
    }
}

/// The keys and values of a parsed table.
pub(super) fn of_table(table: &DeTable<'_>) -> Nodes {
    let entry = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &Spanned<std::borrow::Cow<'_, str>> = name;
        (Spanned::new(name.span(), name.get_ref().to_string()), of_value(value))
    };
    table.iter().map(entry).collect()
}

fn of_value(value: &Spanned<DeValue<'_>>) -> Spanned<Node> {
    let node = match value.get_ref() {
        DeValue::String(text) => Node::Value(Value::String(text.to_string())),
        // A number that does not fit is out of every range: the reader of the key rejects its text.
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Node::Value(Value::Integer(n)),
            Err(_) => Node::Value(Value::String(n.as_str().to_owned())),
        },
        DeValue::Float(n) => match n.as_str().parse() {
            Ok(n) => Node::Value(Value::Float(n)),
            Err(_) => Node::Value(Value::String(n.as_str().to_owned())),
        },
        DeValue::Boolean(is) => Node::Value(Value::Boolean(*is)),
        DeValue::Datetime(date) => Node::Value(Value::Datetime(*date)),
        DeValue::Array(values) => Node::Array(values.iter().map(of_value).collect()),
        DeValue::Table(table) => Node::Table(of_table(table)),
    };
    Spanned::new(value.span(), node)
}
