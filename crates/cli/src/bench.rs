//! `unruffled bench`: how fast this machine simulates, on one thread.

use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, Subcommand};
use serde_json::json;
use unruffled_lab::{Scenario, compare, run};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Path rr (scenario rr-3) on one thread: data packets per second of wall clock
    Sim {
        /// Share of the packets delayed
        #[arg(long, default_value = "10%")]
        delayed: String,
        /// The sender
        #[arg(long, default_value = "sack")]
        variant: String,
        /// Simulated time
        #[arg(long, default_value = "10000 s")]
        duration: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let What::Sim { delayed, variant, duration, json } = &arguments.what;
    let overrides =
        [format!("link.bottleneck.delayed.fraction={delayed}"), format!("duration={duration}")];
    let prepared = Scenario::load("rr-3", &overrides).and_then(|scenario| {
        let variants = compare::variants(&scenario, std::slice::from_ref(variant), "--variant")?;
        Ok((scenario, variants))
    });
    let (scenario, variants) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let flags =
                [("link.bottleneck.delayed.fraction", "--delayed"), ("duration", "--duration")];
            return crate::refuse(crate::blame(error, &flags));
        }
    };
    let Some(variant) = variants.first() else { return ExitCode::from(2) };
    let start = Instant::now();
    let row = match run::run(&scenario, variant, 1, ()) {
        Ok((row, ())) => row,
        Err(error) => return crate::refuse(error),
    };
    let wall_s = start.elapsed().as_secs_f64();
    let rate = row.flow.sending.sent_segments as f64 / wall_s;
    crate::print(&if *json {
        let result = json!({
            "variant": variant.name(),
            "delayed": delayed,
            "simulated_s": row.flow.duration_s,
            "data_packets": row.flow.sending.sent_segments,
            "wall_s": wall_s,
            "packets_per_wall_second": rate,
        });
        format!("{result}\n")
    } else {
        format!(
            "{} over path rr, {delayed} delayed: {} data packets in {wall_s:.2} s, {rate:.0} per second\n",
            variant.name(),
            row.flow.sending.sent_segments
        )
    })
}
