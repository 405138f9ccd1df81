//! Makes a comparison in steps, as the web page does, and prints how many milliseconds it took.
//!
//! Usage: `native SCENARIO DURATION SENDERS [TIMES]`; scripts/web.sh bench calls it.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use unruffled_web::{Comparison, Request};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scenario, duration, senders, times @ ..] = arguments.as_slice() else {
        eprintln!("usage: native SCENARIO DURATION SENDERS [TIMES]");
        return ExitCode::from(2);
    };
    let request = Request {
        toml: scenario.clone(),
        senders: Some(senders.split(',').map(str::to_owned).collect()),
        seeds: Some(1),
        duration: Some(duration.clone()),
        ..Request::default()
    };
    let times = times.first().and_then(|times| times.parse().ok()).unwrap_or(1);
    for _ in 0..times {
        let begun = Instant::now();
        let mut comparison = match Comparison::new(&request) {
            Ok(comparison) => comparison,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::from(2);
            }
        };
        loop {
            let until = Instant::now() + Duration::from_millis(50);
            if comparison.step(|| Instant::now() >= until).done {
                break;
            }
        }
        println!("{:.1}", begun.elapsed().as_secs_f64() * 1e3);
    }
    ExitCode::SUCCESS
}
