//! What the page requests: a scenario with overrides, and senders.

use serde::{Deserialize, Serialize};
use unruffled_lab::compare::Plan;
use unruffled_scenario::{Error, Scenario, flags, place_of_variants};
use unruffled_tcp::Variant;

/// The name that errors give a scenario in text.
const FILE: &str = "scenario.toml";

/// A scenario and senders, as `unruffled compare` takes them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The scenario as TOML, or the name of a built-in or random one.
    pub toml: String,
    /// The name that errors give the text.
    pub name: Option<String>,
    /// The senders, instead of the scenario's.
    pub senders: Option<Vec<String>>,
    /// The number of seeds, instead of the scenario's.
    pub seeds: Option<u64>,
    /// The simulated time, instead of the scenario's.
    pub duration: Option<String>,
    /// Overrides of keys, as `KEY=VALUE`.
    pub set: Vec<String>,
}

/// A request that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Checked {
    pub(crate) scenario: Scenario,
    pub(crate) variants: Vec<Variant>,
}

impl Request {
    /// Reads the scenario and the senders.
    ///
    /// # Errors
    /// The line that the command prints.
    pub(crate) fn checked(&self) -> Result<Checked, String> {
        self.read().map_err(|error| error.to_string())
    }

    fn read(&self) -> Result<Checked, Error> {
        let mut overrides = self.set.clone();
        overrides.extend(self.seeds.map(|n| format!("seeds={n}")));
        overrides.extend(self.duration.as_ref().map(|t| format!("duration={t}")));
        let given = flags::given(
            &self.set,
            [
                ("variants", "--variants", self.senders.is_some()),
                ("seeds", "--seeds", self.seeds.is_some()),
                ("duration", "--duration", self.duration.is_some()),
            ],
        )?;
        let is_text = self.toml.contains(['\n', '=', '[']);
        let file = if is_text { self.name.as_deref().unwrap_or(FILE) } else { &self.toml };
        let text = match is_text {
            true => {
                flags::once(file, &self.toml, &self.set)?;
                self.toml.clone()
            }
            false => flags::text(&self.toml, &self.set)?,
        };
        let scenario =
            Scenario::parse(file, &text, &overrides).map_err(|error| error.by_flag(&given))?;
        let variants = match &self.senders {
            None => scenario.senders(&scenario.variants, &place_of_variants(file, &self.set))?,
            Some(names) => scenario.senders(names, "--variants")?,
        };
        Ok(Checked { scenario, variants })
    }
}

/// What a request would run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// The scenario's name.
    pub name: String,
    /// The title, one line.
    pub title: String,
    /// The origin: paper, section, figure.
    pub source: String,
    /// The simulated time, in seconds.
    pub duration_s: f64,
    /// The time at the beginning that is not measured, in seconds.
    pub warmup_s: f64,
    /// The number of seeds.
    pub seeds: u64,
    /// The full names of the senders.
    pub senders: Vec<String>,
    /// The octets of payload in a full segment.
    pub mss: u32,
    /// The number of flows.
    pub flows: u64,
    /// The number of runs of a comparison.
    pub runs: usize,
    /// Names and descriptions of the path and the ends.
    pub facts: Vec<(String, String)>,
    /// The scenario with every override.
    pub toml: String,
}

/// Returns what a request would run, without running it.
///
/// # Errors
/// The line that the command prints.
pub fn check(request: &Request) -> Result<Facts, String> {
    let Checked { scenario, variants } = request.checked()?;
    let names: Vec<&str> = variants.iter().map(Variant::name).collect();
    Ok(Facts {
        name: scenario.name.clone(),
        title: scenario.title.clone(),
        source: scenario.source.clone(),
        duration_s: scenario.duration.as_secs_f64(),
        warmup_s: scenario.warmup.as_secs_f64(),
        seeds: scenario.seeds,
        senders: names.iter().map(|&name| name.to_owned()).collect(),
        mss: scenario.sender.mss,
        flows: scenario.sources(),
        runs: Plan::new(&scenario, &variants).jobs().len(),
        facts: scenario.facts(),
        toml: scenario.to_toml(&names),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(toml: &str) -> Request {
        Request { toml: toml.to_owned(), ..Request::default() }
    }

    #[test]
    fn a_scenario_is_a_name_or_a_text() {
        let by_name = check(&request("rr-3")).expect("is built in");
        let text = Scenario::text("rr-3").expect("is built in");
        assert_eq!(check(&request(&text)), Ok(by_name.clone()));
        assert_eq!((by_name.seeds, by_name.senders.len(), by_name.runs), (5, 8, 41));
        assert_eq!(check(&request("7-12")).expect("is drawn").name, "7-12");
    }

    #[test]
    fn a_mistake_is_one_line_with_its_place() {
        let error = |request: &Request| check(request).expect_err("is wrong");
        let text = "duration = \"1 s\"\nvariants = [\"sack\"]\npath.hops = [\"a\"]\nlink.a.dealy = \"1 ms\"";
        assert!(error(&request(text)).starts_with("scenario.toml:4: link.a.dealy: unknown key"));
        let rr_3 = request("rr-3");
        let seeds = Request { seeds: Some(0), ..rr_3.clone() };
        assert!(error(&seeds).starts_with("--seeds: seeds: expected"), "{}", error(&seeds));
        let both = Request { set: vec!["seeds=2".to_owned()], seeds: Some(1), ..rr_3.clone() };
        assert_eq!(error(&both), "--set: seeds: expected this or --seeds, not both");
        let sender = Request { senders: Some(vec!["sak".to_owned()]), ..rr_3 };
        assert!(error(&sender).starts_with("--variants: "), "{}", error(&sender));
        assert!(error(&request("rr-4")).contains("no such scenario"));
    }
}
