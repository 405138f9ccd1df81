//! The flags of `unruffled compare`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use unruffled_lab::Error;
use unruffled_scenario::flags::{self, Flags};

use crate::number;
use crate::output::Results;

#[derive(Args)]
pub(crate) struct Arguments {
    /// A built-in scenario (few-late, half-late, rr-3, …), a random path (SEED-NUMBER, such as 7-12) or
    /// a TOML file
    #[arg(default_value = "few-late", value_parser = NonEmptyStringValueParser::new())]
    pub(super) scenario: String,
    /// Senders to compare, instead of the scenario's (see `unruffled variants`)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(super) variants: Vec<String>,
    /// Number of seeds, instead of the scenario's
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) seeds: Option<String>,
    /// Simulated time, instead of the scenario's, such as "100 s"
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) duration: Option<String>,
    /// Replace any key of the scenario; its beginning may be left out: delayed.fraction=30%
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
    #[command(flatten)]
    pub(super) paths: Paths,
    #[command(flatten)]
    pub(super) results: Results,
    /// Write the packets at the first variant's sender, first seed, as pcapng
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "random"])]
    pub(super) pcap: Option<PathBuf>,
    /// Plot how long, or for how many segments, each variant waits, as SVG (first seed)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "random"])]
    pub(super) thresholds: Option<PathBuf>,
    /// Threads to run on [default: all cores]; the result is the same on any number
    #[arg(long, value_name = "N", value_parser = number::within::<u16>(1..=1024))]
    #[arg(allow_negative_numbers = true)]
    jobs: Option<u16>,
}

impl Arguments {
    /// Returns the overrides of all flags, and the flag of each key.
    ///
    /// # Errors
    /// If `--set` replaces the key of another flag.
    pub(super) fn overrides(&self) -> Result<(Vec<String>, Flags), Error> {
        let mut overrides = self.set.clone();
        overrides.extend(self.seeds.as_ref().map(|n| format!("seeds={n}")));
        overrides.extend(self.duration.as_ref().map(|t| format!("duration={t}")));
        let flags = [
            ("variants", "--variants", !self.variants.is_empty()),
            ("seeds", "--seeds", self.seeds.is_some()),
            ("duration", "--duration", self.duration.is_some()),
        ];
        Ok((overrides, flags::given(&self.set, flags)?))
    }

    /// Returns the threads to run on.
    pub(super) fn pool(&self) -> Result<rayon::ThreadPool, Error> {
        crate::pool(self.jobs)
    }
}

/// Flags that select several paths.
#[derive(Args)]
pub(super) struct Paths {
    /// Run all senders but Westwood and those for simulation only, and three with BBR, over all built-in
    /// scenarios, each for 100 s at most
    #[arg(long, conflicts_with_all = ["scenario", "random"])]
    pub(super) all: bool,
    /// Like --all, over N paths drawn at random
    #[arg(long, value_name = "N", conflicts_with = "scenario", allow_negative_numbers = true,
          value_parser = number::within::<u32>(1..=10_000))]
    pub(super) random: Option<u32>,
    /// The seed of the random paths
    #[arg(long, value_name = "SEED", default_value_t = 1, requires = "random")]
    #[arg(allow_negative_numbers = true, value_parser = number::seed)]
    pub(super) draw: u64,
}

impl Paths {
    /// Returns whether several paths are selected.
    pub(super) fn several(&self) -> bool {
        self.all || self.random.is_some()
    }
}
