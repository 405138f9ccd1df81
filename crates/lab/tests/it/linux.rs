//! The sender `linux` beside the kernel that it models.

use rayon::prelude::*;
use unruffled_lab::Scenario;
use unruffled_lab::cancel::never;
use unruffled_lab::run::run;
use unruffled_tcp::Variant;

/// Two mobile lines of 26 Mb/s in turn, the second 10 ms longer, with a jitter of Exp(15 ms).
const TWO_LINES: &str = r#"
name = "two-lines"
duration = "10 s"
seeds = 20
variants = ["linux"]
[tcp]
window = 2000
min_rto = "200 ms"
delayed_ack = "40 ms"
byte_counting = 2
[path]
hops = ["wan"]
[link.wan]
rate = "52 Mbit/s"
delay = "25 ms"
queue = 300
[link.wan.alternate]
every = 2
extra = "10 ms"
[link.wan.delayed]
fraction = "100 %"
distribution = "exponential"
mean = "15 ms"
packets = "data"
"#;

/// Returns the median goodput of 20 runs, in Mb/s.
fn median(sender: &str) -> f64 {
    let scenario = Scenario::parse("two-lines", TWO_LINES, &[]).expect("a valid scenario");
    let variant = Variant::parse(sender).expect("a sender");
    let goodput =
        |seed| run(&scenario, &variant, seed, None, never()).expect("runs").flow.goodput_bps;
    let mut all: Vec<f64> = (1..=20_u64).into_par_iter().map(goodput).collect();
    all.sort_by(f64::total_cmp);
    (all[9] + all[10]) / 2e6
}

/// The median of 20 transfers of Linux 6.18.44 with CUBIC over this path, in Mb/s.
///
/// `sudo unruffled race two-4g-lines.toml --kernel cubic --variants none --duration 10s --seeds 10`,
/// and races of two, two and six seeds, measured it on 28 November 2026, beside other work. The
/// transfers range from 6.5 to 47.7 Mb/s. The same seed gives 6.5 in one race and 46.5 in another, so
/// one transfer says little: a single race of the same path had 9.1.
///
/// Only medians agree. The kernel's mean is 19.4, that of `linux` 13.0: four transfers of the kernel
/// reach 47 Mb/s, which no run of the model does.
const KERNEL_MEDIAN: f64 = 12.9;

#[test]
fn linux_delivers_what_the_kernel_delivers_on_two_mobile_lines() {
    let ratio = median("linux") / KERNEL_MEDIAN;
    assert!((0.85..1.15).contains(&ratio), "{ratio:.2} of the kernel");
}

#[test]
fn rack_with_cubic_alone_is_not_the_kernel() {
    // PAWS and the limit of one undo are missing: docs/senders/linux.md has the share of each.
    let ratio = median("rack+cubic") / KERNEL_MEDIAN;
    assert!(ratio > 1.5, "{ratio:.2} of the kernel");
}
