//! Writes the scenarios of the papers' experiments, which need an interpreter of expressions, as data.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use unruffled_papers::experiment::{Example, Experiment};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let experiments = Experiment::all(true).expect("are valid");
    let mut table = "/// The papers' experiments: one scenario of each.\n\
                     pub(crate) const EXPERIMENTS: &[PaperScenario] = &[\n"
        .to_owned();
    for experiment in experiments {
        let example = experiment.example().expect("is valid");
        let Some(Example { scenario, senders, point }) = example else { continue };
        let names: Vec<&str> = senders.iter().map(String::as_str).collect();
        let toml = scenario.to_toml(&names);
        let title = &experiment.title;
        let (id, paper, figure) = (&experiment.id, &experiment.paper, &experiment.figure);
        writeln!(
            table,
            "    PaperScenario {{ id: {id:?}, paper: {paper:?}, figure: {figure:?}, title: {title:?}, \
             section: {:?}, point: {point:?}, senders: &{senders:?}, toml: {toml:?} }},",
            experiment.section,
        )
        .expect("memory takes it");
    }
    table += "];\n";
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("experiments.rs"), table).expect("can be written");
}
