//! Presets: the built-in scenarios, and a scenario of each of the papers' experiments.

use serde::Serialize;
use unruffled_scenario::{BUILTIN, Scenario};

include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

/// A scenario of a paper's experiment.
pub(crate) struct PaperScenario {
    id: &'static str,
    paper: &'static str,
    figure: &'static str,
    title: &'static str,
    section: Option<&'static str>,
    point: Option<&'static str>,
    senders: &'static [&'static str],
    toml: &'static str,
}

/// The kind of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A built-in scenario.
    Gallery,
    /// An experiment of a paper.
    Paper,
}

/// A scenario to begin with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preset {
    /// The scenario's name, or `paper/` and the experiment's id.
    pub id: String,
    /// The kind.
    pub kind: Kind,
    /// The title, one line.
    pub title: String,
    /// The origin: paper, section, figure.
    pub source: String,
    /// The paper, such as `rr-tcp`.
    pub paper: Option<&'static str>,
    /// The point of the experiment's sweep.
    pub x: Option<&'static str>,
    /// The senders to compare.
    pub senders: Vec<String>,
    /// The scenario.
    pub toml: String,
}

/// Returns all presets: the built-in scenarios, then the papers' experiments, in their order.
pub fn presets() -> Vec<Preset> {
    let built_in = BUILTIN.iter().filter_map(|(id, text)| {
        let Scenario { title, source, variants, .. } = Scenario::parse(id, text, &[]).ok()?;
        Some(Preset {
            id: (*id).to_owned(),
            kind: Kind::Gallery,
            title,
            source,
            paper: None,
            x: None,
            senders: variants,
            toml: (*text).to_owned(),
        })
    });
    built_in.chain(EXPERIMENTS.iter().map(of_paper)).collect()
}

fn of_paper(experiment: &PaperScenario) -> Preset {
    let PaperScenario { id, paper, figure, title, section, point, senders, toml } = experiment;
    let section = section.map_or(String::new(), |section| format!("section {section}, "));
    Preset {
        id: format!("paper/{id}"),
        kind: Kind::Paper,
        title: (*title).to_owned(),
        source: format!("{paper}, {section}{figure}"),
        paper: Some(paper),
        x: *point,
        senders: senders.iter().map(|&sender| sender.to_owned()).collect(),
        toml: (*toml).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_a_scenario_with_senders() {
        let presets = presets();
        let gallery = presets.iter().filter(|preset| preset.kind == Kind::Gallery).count();
        assert_eq!(gallery, BUILTIN.len());
        assert!(presets.len() > gallery + 50, "{}", presets.len());
        for Preset { id, toml, senders, .. } in &presets {
            let scenario = Scenario::parse(id, toml, &[]).unwrap_or_else(|e| panic!("{id}: {e}"));
            assert!(!senders.is_empty(), "{id}");
            if scenario.of_variant().is_some() {
                scenario.senders(senders, "here").unwrap_or_else(|e| panic!("{id}: {e}"));
            }
        }
    }

    #[test]
    fn the_preset_of_a_sweep_is_its_middle() {
        let presets = presets();
        let rr_3 = presets.iter().find(|preset| preset.id == "paper/rr-3").expect("is a preset");
        assert_eq!(rr_3.x, Some("packets delayed (%) = 10"));
        assert_eq!(rr_3.source, "rr-tcp, section 5.1.1, Figure 3");
        assert!(rr_3.toml.contains("\"10 %\""), "{}", rr_3.toml);
    }
}
