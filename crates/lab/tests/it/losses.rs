//! The causes of losses: the decisions from captures over random paths, compared with the impairments
//! of those paths. A decision may be undecided, but never wrong.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_capture::{Analyzer, Direction, Limits, Source, read};
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::fit::{LossOrigin, losses};
use unruffled_lab::{Scenario, run};
use unruffled_measure::End;
use unruffled_tcp::Variant;

/// The seed of the paths. The rules were developed with the seeds 1 to 8.
const SEED: u64 = 100;

/// The number of paths of each kind.
const PATHS: usize = 16;

/// The impairments of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Late,
    LateAndLost,
    Lost,
    InOrder,
}

/// Returns a random path of this kind, the sender, and whether timestamps are in use.
fn random(kind: Kind, random: &mut Xoshiro256PlusPlus) -> (String, &'static str, bool) {
    let mbits: f64 = 2.0 * 15_f64.powf(random.random());
    let delay_ms: f64 = 5.0 * 16_f64.powf(random.random());
    let in_flight = mbits * 1e6 * delay_ms * 2e-3 / 12_000.0;
    let queue = (in_flight * random.random_range(0.3..2.0)).max(10.0) as u64;
    let lost = match kind {
        Kind::Lost | Kind::LateAndLost => 0.3 * 10_f64.powf(random.random()),
        _ => 0.0,
    };
    let mut late = 0.0;
    let mut late_ms = 0.0;
    if matches!(kind, Kind::Late | Kind::LateAndLost) {
        late = 1.0 * 15_f64.powf(random.random());
        late_ms = delay_ms * 2.0 * 0.2 * 15_f64.powf(random.random());
    }
    // Like Linux, a receiver with timestamps discards segments whose timestamp is old (PAWS).
    let timestamps: bool = random.random();
    let senders = ["rack+cubic", "linux-reordering+cubic", "rr-ta", "sack", "unruffled"];
    let sender = senders[random.random_range(0..senders.len())];
    let text = format!(
        "name = 'case'\nduration = '20 s'\nvariants = ['sack']\n\
         [tcp]\nmss = '1460 B'\nheader = '40 B'\nwindow = 2000\ninitial_window = 10\n\
         min_rto = '200 ms'\ndelayed_ack = '40 ms'\nbyte_counting = 2\n\
         timestamps = {timestamps}\npaws = {timestamps}\n\
         [path]\nhops = ['l']\n\
         [link.l]\nrate = '{mbits:.2} Mbit/s'\ndelay = '{delay_ms:.2} ms'\nqueue = {queue}\n\
         loss = {{ fraction = '{lost:.3} %', packets = 'data' }}\n\
         delayed = {{ fraction = '{late:.2} %', mean = '{late_ms:.2} ms', \
         deviation = '{:.2} ms', packets = 'data' }}\n",
        late_ms / 3.0
    );
    (text, sender, timestamps)
}

/// Analyses a capture with one connection, and returns the direction of the data.
fn analysed(capture: Vec<u8>) -> Direction {
    let source = Source::new(Box::new(std::io::Cursor::new(capture)), None).expect("a capture");
    let mut analyzer = Analyzer::new(Limits::default());
    assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
    let [client, _] = analyzer.finish().connections.remove(0).directions;
    client
}

#[test]
fn the_cause_of_losses_is_never_decided_wrongly() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(number("UNRUFFLED_SEED").unwrap_or(SEED));
    let mut wrong = Vec::new();
    let mut decided = 0;
    let mut all = 0;
    for kind in [Kind::Late, Kind::LateAndLost, Kind::Lost, Kind::InOrder] {
        for path in 0..PATHS {
            let (text, sender, timestamps) = random(kind, &mut dice);
            let scenario = Scenario::parse("case", &text, &[]).unwrap();
            let variant = Variant::parse(sender).unwrap();
            let mut near = Vec::new();
            let mut far = Vec::new();
            let mut captures = (
                Capture::at(End::Sender, &mut near).unwrap(),
                Capture::at(End::Receiver, &mut far).unwrap(),
            );
            run::run(&scenario, &variant, 1, Some(&mut captures), never()).unwrap();
            captures.0.finish().unwrap();
            captures.1.finish().unwrap();
            for (end, octets) in [("sender", near), ("receiver", far)] {
                let found = analysed(octets);
                let losses = losses(&found);
                let right = match losses.decision {
                    LossOrigin::Undecided => true,
                    LossOrigin::Path => matches!(kind, Kind::Lost | Kind::LateAndLost),
                    _ => matches!(kind, Kind::Late | Kind::InOrder),
                };
                let line = format!(
                    "{kind:?} {path} {sender} {timestamps} at the {end}: {:?} {} of {}: {:?}",
                    losses.decision, found.losses.lost, found.traffic.segments, found.loss_evidence
                );
                println!("{}{line}", if right { "" } else { "WRONG " });
                if !right {
                    wrong.push(line);
                }
                if end == "sender" {
                    all += 1;
                    decided += usize::from(losses.decision != LossOrigin::Undecided);
                }
            }
        }
    }
    println!("{decided} of {all} decided at the sender");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(decided * 2 >= all, "{decided} of {all}");
}
