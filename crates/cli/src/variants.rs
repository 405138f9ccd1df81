//! `unruffled variants`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use unruffled_tcp::{VARIANTS, Variant};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Show one sender: its parts and parameters
    name: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let chosen: Vec<&Variant> = match &arguments.name {
        None => VARIANTS.iter().collect(),
        Some(name) => match Variant::named(name) {
            Some(variant) => vec![variant],
            None => {
                let known: Vec<&str> = VARIANTS.iter().map(|v| v.name).collect();
                let known = known.join(", ");
                return crate::refuse(format!("{name}: no such variant: expected one of {known}"));
            }
        },
    };
    if arguments.json {
        let list: Vec<Value> = chosen.into_iter().map(as_json).collect();
        return crate::print(&format!("{}\n", json!({ "variants": list })));
    }
    let text = match (&arguments.name, chosen.as_slice()) {
        (Some(_), [variant]) => in_full(variant),
        _ => listing(&chosen),
    };
    crate::print(&text)
}

fn as_json(variant: &Variant) -> Value {
    let parts: serde_json::Map<String, Value> =
        variant.parts().into_iter().map(|(part, what)| (part.to_owned(), what.into())).collect();
    let parameters: Vec<Value> = variant
        .parameters
        .iter()
        .map(|(name, default, about)| json!({ "name": name, "default": default, "about": about }))
        .collect();
    json!({
        "name": variant.name,
        "about": variant.about,
        "source": variant.source,
        "parts": parts,
        "parameters": parameters,
    })
}

fn listing(variants: &[&Variant]) -> String {
    let width = variants.iter().map(|v| v.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for variant in variants {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {}", variant.name, variant.about);
        let _ = writeln!(text, "{:width$}    {}", "", variant.source);
    }
    text
}

fn in_full(variant: &Variant) -> String {
    let mut text = format!("{}: {}\nsource: {}\n", variant.name, variant.about, variant.source);
    let _ = writeln!(text, "\nparts");
    for (part, what) in variant.parts() {
        let _ = writeln!(text, "  {part:20}  {what}");
    }
    if !variant.parameters.is_empty() {
        let _ = writeln!(text, "\nparameters");
        for (name, default, about) in variant.parameters {
            let _ = writeln!(text, "  {name:16}  {default:12}  {about}");
        }
    }
    text
}
