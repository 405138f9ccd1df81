//! `unruffled variants`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use unruffled_lab::senders;
use unruffled_tcp::variant::PARTS;
use unruffled_tcp::{Parameter, Unit, Variant};

use crate::Printed;
use crate::output::{columns, hanging};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Show one sender: its parts and parameters
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let chosen: Vec<Variant> = match &arguments.name {
        None => senders::all(),
        Some(name) => match Variant::parse(name) {
            Ok(variant) => vec![variant],
            Err(reason) => return crate::refuse(reason),
        },
    };
    if arguments.json {
        return crate::print(Printed::Json(format!("{}\n", senders::json(&chosen))));
    }
    let text = match (&arguments.name, chosen.as_slice()) {
        (Some(_), [variant]) => in_full(variant),
        _ => listing(&chosen),
    };
    crate::print(Printed::People(text))
}

/// Returns a line and the source for each sender, then for each part.
fn listing(variants: &[Variant]) -> String {
    let rows = variants.iter().map(|v| (v.name(), v.row().about, v.row().source));
    let width = rows.clone().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut list = |name: &str, about: &str, source: &str| {
        text += &hanging(&format!("{name:width$}  "), about, columns());
        text += &hanging(&format!("{:width$}    ", ""), source, columns());
    };
    for (name, about, source) in rows {
        list(name, about, source);
    }
    for part in PARTS {
        list(&format!("+{}", part.name), part.about, part.source);
    }
    text
}

fn in_full(variant: &Variant) -> String {
    let row = variant.row();
    let mut text = format!("{}: {}\nsource: {}\n", variant.name(), row.about, row.source);
    let _ = writeln!(text, "\nparts");
    for (part, what) in variant.parts() {
        text += &hanging(&format!("  {part:20}  "), &what, columns());
    }
    if variant.parameters().next().is_some() {
        let _ = writeln!(text, "\nparameters (--set variant.{}.NAME=VALUE)", variant.name());
        for (p, _) in variant.parameters() {
            let range = format!("{}, {}", brief(p), p.expected());
            text += &hanging(&format!("  {:16}  ", p.name), &range, columns());
            let about = format!("{} ({})", p.about, p.source);
            text += &hanging(&format!("  {:16}    ", ""), &about, columns());
        }
    }
    text
}

/// Returns a parameter's default for people: a fraction with many digits is rounded to three.
fn brief(parameter: &Parameter) -> String {
    const MAX_DIGITS: usize = 8;
    let exact = parameter.show(parameter.default);
    match parameter.unit {
        Unit::Number | Unit::Windows if exact.len() > MAX_DIGITS => {
            let rounded = format!("{:.2e}", parameter.default).parse();
            parameter.show(rounded.unwrap_or(parameter.default))
        }
        _ => exact,
    }
}
