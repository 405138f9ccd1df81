//! Explore.
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_capture::{Analyzer, Direction, Limits, Source, read};
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::{Scenario, run};
use unruffled_measure::End;
use unruffled_tcp::Variant;

const SEED: u64 = 500;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Window(u64),
    Ranges(u64),
    Paws,
    Late,
    LateAndLost,
    Lost,
    InOrder,
    ConstantAndLost,
    UniformAndLost,
}

fn random(kind: Kind, random: &mut Xoshiro256PlusPlus) -> (String, &'static str) {
    let mbits: f64 = 5.0 * 20_f64.powf(random.random());
    let delay_ms: f64 = 5.0 * 10_f64.powf(random.random());
    let in_flight = mbits * 1e6 * delay_ms * 2e-3 / 12_000.0;
    let queue = (in_flight * random.random_range(0.5..2.0)).max(20.0) as u64;
    let lost = match kind {
        Kind::Lost | Kind::LateAndLost | Kind::ConstantAndLost | Kind::UniformAndLost => {
            0.3 * 10_f64.powf(random.random())
        }
        _ => 0.0,
    };
    let mut late = 0.0;
    let mut late_ms = 0.0;
    if !matches!(kind, Kind::Lost | Kind::InOrder) {
        late = 1.0 * 20_f64.powf(random.random());
        late_ms = delay_ms * 2.0 * 0.2 * 10_f64.powf(random.random());
        if let Kind::Window(w) = kind {
            // packets behind at full rate: around the window
            let behind = w as f64 * random.random_range(0.5..2.0);
            late_ms = behind * 12.0 / mbits;
        }
    }
    let timestamps: bool = matches!(kind, Kind::Paws) || random.random();
    let senders =
        ["rack+cubic", "linux-reordering+cubic", "rr-ta", "sack", "unruffled", "unruffled+bbr"];
    let sender = senders[random.random_range(0..senders.len())];
    let exit = match kind {
        Kind::Window(w) => format!("replay_window = {w}\n"),
        Kind::Ranges(n) => format!("ranges = {n}\n"),
        _ => String::new(),
    };
    let dist = match kind {
        Kind::ConstantAndLost => format!("distribution = 'constant', value = '{late_ms:.2} ms'"),
        Kind::UniformAndLost => {
            format!("distribution = 'uniform', low = '0 ms', high = '{:.2} ms'", 2.0 * late_ms)
        }
        _ if random.random() => format!("distribution = 'exponential', mean = '{late_ms:.2} ms'"),
        _ => format!("mean = '{late_ms:.2} ms', deviation = '{:.2} ms'", late_ms / 3.0),
    };
    let text = format!(
        "name = 'case'\nduration = '20 s'\nvariants = ['sack']\n\
         [tcp]\nmss = '1460 B'\nheader = '40 B'\nwindow = 4000\ninitial_window = 10\n\
         min_rto = '200 ms'\ndelayed_ack = '40 ms'\nbyte_counting = 2\n\
         timestamps = {timestamps}\npaws = {timestamps}\n\
         [path]\nhops = ['l']\n\
         [link.l]\nrate = '{mbits:.2} Mbit/s'\ndelay = '{delay_ms:.2} ms'\nqueue = {queue}\n{exit}\
         loss = {{ fraction = '{lost:.3} %', packets = 'data' }}\n\
         delayed = {{ fraction = '{late:.2} %', {dist}, packets = 'data' }}\n",
    );
    (text, sender)
}

fn analysed(capture: Vec<u8>) -> Direction {
    let source = Source::new(Box::new(std::io::Cursor::new(capture)), None).expect("a capture");
    let mut analyzer = Analyzer::new(Limits::default());
    assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
    let [client, _] = analyzer.finish().connections.remove(0).directions;
    client
}

#[test]
fn explore() {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let kinds = [
        Kind::Window(32),
        Kind::Window(64),
        Kind::Window(128),
        Kind::Window(1024),
        Kind::Ranges(3),
        Kind::Ranges(10), Kind::Ranges(1), Kind::Ranges(30), 
        Kind::Paws,
        Kind::Late,
        Kind::LateAndLost,
        Kind::Lost,
        Kind::InOrder,
        Kind::ConstantAndLost,
        Kind::UniformAndLost,
    ];
    for kind in kinds {
        for _ in 0..4 {
            let (text, sender) = random(kind, &mut dice);
            let scenario = Scenario::parse("case", &text, &[]).unwrap();
            let variant = Variant::parse(sender).unwrap();
            let mut near = Vec::new();
            let mut far = Vec::new();
            let mut captures = (
                Capture::at(End::Sender, &mut near).unwrap(),
                Capture::at(End::Receiver, &mut far).unwrap(),
            );
            let row = run::run(&scenario, &variant, 1, Some(&mut captures), never()).unwrap();
            captures.0.finish().unwrap();
            captures.1.finish().unwrap();
            println!(
                "{kind:?} {sender} {:.2} Mb/s {:?}",
                row.flow.goodput_bps / 1e6,
                row.flow.exits.map(|e| (e.replay_drops, e.range_drops))
            );
            for (end, octets) in [("sender", near), ("receiver", far)] {
                let d = analysed(octets);
                let r = d.reordering();
                let cut: Vec<_> = r
                    .cutoffs
                    .iter()
                    .filter(|c| c.expected > 0.5)
                    .map(|c| format!("{}:{:.0}/{}", c.window, c.expected, c.arrived))
                    .collect();
                println!(
                    "   {end}: lost {} late {}/{} max {} cut {cut:?} outd {} rng {:?} here {} not {} refused {} rtx {}/{}",
                    d.losses.lost,
                    r.reordered,
                    r.packets,
                    r.replay.max_behind,
                    d.loss_evidence.outdated,
                    d.loss_evidence.ranges,
                    d.loss_evidence.passed_here,
                    d.loss_evidence.not_passed_here,
                    d.loss_evidence.refused,
                    d.retransmissions.total,
                    d.retransmissions.spurious
                );
            }
        }
    }
}
