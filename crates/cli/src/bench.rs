//! `unruffled bench`: the speed of the simulator on this machine, on one thread.

use std::process::ExitCode;
use std::time::Instant;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::json;
use unruffled_lab::cancel::never;
use unruffled_lab::{Scenario, run};
use unruffled_scenario::{flags, place_of_variants};

use crate::Printed;

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// One run of a scenario on one thread: data packets per second of wall clock
    Sim {
        /// A built-in scenario, a random path (SEED-NUMBER, such as 7-12) or a TOML file
        #[arg(default_value = "rr-3", value_parser = NonEmptyStringValueParser::new())]
        scenario: String,
        /// Share of the packets delayed at the bottleneck, in place of the scenario's
        #[arg(long, allow_hyphen_values = true)]
        delayed: Option<String>,
        /// The sender, in place of the scenario's first [default for rr-3: sack]
        #[arg(long, value_parser = NonEmptyStringValueParser::new())]
        variant: Option<String>,
        /// Simulated time, in place of the scenario's [default for rr-3: 10000 s]
        #[arg(long, allow_hyphen_values = true)]
        duration: Option<String>,
        /// Replace any key of the scenario, as `compare` does
        #[arg(long = "set", value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Key that `--delayed` replaces.
const DELAYED_KEY: &str = "link.bottleneck.delayed.fraction";

/// Returns whether a scenario delays no packets at a bottleneck, so that it rejects every share.
fn delays_nothing(name: &str, overrides: &[String]) -> bool {
    let share = [overrides, &[format!("{DELAYED_KEY}=10 %")]].concat();
    Scenario::load(name, &share).is_err()
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let What::Sim { scenario: name, delayed, variant, duration, set, json } = &arguments.what;
    // A run of the built-in rr-3 would be too short to measure. The defaults come first, so that flags
    // replace them.
    let defaults: &[&str] =
        if name == "rr-3" { &["duration=10000 s", "variants=sack"] } else { &[] };
    let mut overrides: Vec<String> = defaults.iter().map(|&set| set.to_owned()).collect();
    overrides.extend_from_slice(set);
    overrides.extend(duration.iter().map(|time| format!("duration={time}")));
    let others = overrides.clone();
    overrides.extend(delayed.iter().map(|share| format!("{DELAYED_KEY}={share}")));
    let flags = [
        (DELAYED_KEY, "--delayed", delayed.is_some()),
        ("duration", "--duration", duration.is_some()),
        ("variants", "--variant", variant.is_some()),
    ];
    let flags = match flags::given(set, flags) {
        Ok(flags) => flags,
        Err(error) => return crate::refuse(error),
    };
    let prepared = flags::text(name, set).and_then(|text| {
        let scenario = Scenario::parse(name, &text, &overrides)?;
        let variants = match variant.clone() {
            Some(variant) => scenario.senders(&[variant], "--variant")?,
            None => {
                let place = place_of_variants(name, set);
                scenario.senders(&scenario.variants, &place)?
            }
        };
        Ok((scenario, variants))
    });
    let (scenario, variants) = match prepared {
        Ok(prepared) => prepared,
        Err(_) if delayed.is_some() && delays_nothing(name, &others) => {
            return match Scenario::load(name, &others) {
                Ok(_) => crate::refuse(format!(
                    "--delayed: {name} delays no packets at a bottleneck: expected a scenario with \
                     [link.bottleneck.delayed], such as rr-3, or --set"
                )),
                // The share is not the cause of the error.
                Err(error) => crate::refuse(error.by_flag(&flags)),
            };
        }
        Err(error) => return crate::refuse(error.by_flag(&flags)),
    };
    let variant = variants.first().expect("a list of senders is never empty");
    let start = Instant::now();
    let row = match run::run(&scenario, variant, 1, None, never()) {
        Ok(row) => row,
        Err(error) => return crate::refuse(error),
    };
    let wall_s = start.elapsed().as_secs_f64();
    let rate = row.flow.sending.sent_segments as f64 / wall_s;
    let about = match delayed {
        Some(share) => format!("{}, {share} delayed", scenario.name),
        None => scenario.name.clone(),
    };
    crate::print(if *json {
        let result = json!({
            "scenario": scenario.name,
            "variant": variant.name(),
            "delayed": delayed,
            "simulated_s": row.flow.duration_s,
            "data_packets": row.flow.sending.sent_segments,
            "retransmits": row.flow.sending.retransmits,
            "goodput_bps": row.flow.goodput_bps,
            "wall_s": wall_s,
            "packets_per_wall_second": rate,
            "peak_memory_kib": peak_memory_kib(),
        });
        Printed::Json(format!("{result}\n"))
    } else {
        Printed::People(format!(
            "{} over {about}: {} data packets in {wall_s:.2} s, {rate:.0} per second\n",
            variant.name(),
            row.flow.sending.sent_segments
        ))
    })
}

/// Returns the peak memory of this process, on Linux.
fn peak_memory_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
