//! `unruffled scenarios`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use unruffled_lab::{Error, Scenario, files};
use unruffled_scenario as scenario;

use crate::Printed;
use crate::output::{self, Rule, Written, columns};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Print the file of a built-in scenario, or of a random path (SEED-NUMBER, such as 7-12)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    #[arg(conflicts_with = "save")]
    show: Option<String>,
    /// Write that file, to change it: to FILE, or NAME.toml in this folder
    #[arg(long, num_args = 1..=2, value_names = ["NAME", "FILE"])]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    save: Option<Vec<String>>,
    /// Print a scenario with what netem does: in-order with the options of a tc command line, such as "delay
    /// 10ms reorder 25% 50%"
    #[arg(long, value_name = "OPTIONS", conflicts_with_all = ["show", "save", "json"])]
    netem: Option<String>,
    /// Replace an existing file
    #[arg(long, requires = "save")]
    force: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "save")]
    json: bool,
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    match execute(arguments) {
        Ok(text) => crate::print(text),
        Err(error) => crate::refuse(error),
    }
}

fn execute(arguments: &Arguments) -> Result<Printed, Error> {
    if let Some(save) = &arguments.save {
        save_as(save, arguments.force)?;
        return Ok(Printed::People(String::new()));
    }
    if let Some(options) = &arguments.netem {
        return netem(options).map(Printed::Data);
    }
    if let Some(name) = &arguments.show {
        let text = Scenario::text(name)?;
        return Ok(match arguments.json {
            true => Printed::Json(format!("{:#}\n", scenario::description(name, &text)?)),
            // The text of a file is not wrapped.
            false => Printed::Data(text),
        });
    }
    if arguments.json {
        let all = scenario::BUILTIN.iter().map(|(name, text)| scenario::description(name, text));
        let all = serde_json::Value::Array(all.collect::<Result<_, _>>()?);
        return Ok(Printed::Json(format!("{all:#}\n")));
    }
    listing().map(Printed::People)
}

/// Returns a line for each built-in scenario.
fn listing() -> Result<String, Error> {
    let width = scenario::BUILTIN.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, toml) in scenario::BUILTIN {
        let title = Scenario::parse(name, toml, &[])?.title;
        text += &output::hanging(&format!("{name:width$}  "), &title, columns());
    }
    Ok(text)
}

/// Returns the scenario `in-order` with netem on the way of the data.
fn netem(options: &str) -> Result<String, Error> {
    let options = options.split_whitespace().collect::<Vec<_>>().join(" ");
    let overrides = [
        "name=netem".to_owned(),
        format!("title=netem {options}"),
        format!("link.bottleneck.netem={options}"),
    ];
    let flags = [("link.bottleneck.netem", "--netem")];
    let scenario = Scenario::load("in-order", &overrides).map_err(|error| error.by_flag(&flags))?;
    Ok(scenario.to_toml(&[]))
}

/// Writes the scenario `save[0]` to the file `save[1]`, or to its default name.
fn save_as(save: &[String], force: bool) -> Result<(), Error> {
    let Some(name) = save.first() else { return Ok(()) };
    let text = Scenario::text(name)?;
    let path = save.get(1).map_or_else(|| PathBuf::from(format!("{name}.toml")), PathBuf::from);
    output::check(
        &[("the scenario", Some(Path::new(name)))],
        &[Written("the file", Some(&path), Rule::Nothing)],
        force || files::holds(&path, &text),
    )?;
    output::write_text(&path, &text).map_err(|e| Error::output(&path, e))?;
    crate::print_notice(&format!("scenario: {}", path.display()));
    Ok(())
}
