//! A made-up comparison with plausible numbers, for the tests of tables and reports.

use unruffled_measure::{FlowRecord, SenderCounts, SenderMeans};

use crate::reference::{Limit, Reference};

use super::{Comparison, Medium, RunRow, SendKind, Sent, Trace, VariantRuns};

/// Seven variants, five seeds, 1000 s: plausible results on a path that delays 10 % of the packets.
pub(crate) fn comparison() -> Comparison {
    let variant = |(i, &shape): (usize, &Shape)| runs(i as u64, shape);
    let fact = |what: &str, value: &str| (what.to_owned(), value.to_owned());
    Comparison {
        scenario: "fake".to_owned(),
        title: "Ten per cent of the packets arrive late".to_owned(),
        source: "Doe and Roe, “Numbers made up for tests”, section 5.2, figure 7".to_owned(),
        scenario_toml: "name = \"fake\"\nseeds = 5\nduration = \"1000 s\"\n\n[path]\nrate = \"10 Mb/s\"\n\
                        delay = \"25 ms\"\nqueue = 100\n\n[path.reorder]\nshare = 0.1 # < 0.2 & > 0\n\
                        delay = { normal = [\"25 ms\", \"8 ms\"] }\n"
            .to_owned(),
        command: "unruffled compare scenario.toml".to_owned(),
        facts: vec![
            fact("Rate", "10 Mb/s"),
            fact("Propagation delay", "25 ms each way"),
            fact("Queue", "100 packets, drop tail"),
            fact("Late packets", "10 %, by N(25 ms, 8 ms)"),
            fact("Loss", "0.1 %, independent"),
        ],
        medium: Medium::Simulation,
        notes: Vec::new(),
        episodes: Vec::new(),
        reference: Reference::new(9.5e6, Limit::Links),
        beside: Vec::new(),
        flows: 1,
        compared: 1,
        variants: SHAPES.iter().enumerate().map(variant).collect(),
    }
}

/// Name, mean goodput in Mb/s, mean dupthresh, fast retransmits per run, and spurious ones among
/// them.
type Shape = (&'static str, f64, Option<f64>, u64, u64);

const SHAPES: [Shape; 7] = [
    ("sack", 1.22, Some(3.0), 9400, 9330),
    ("dsack-r", 4.10, Some(3.0), 8200, 8110),
    ("rr-fa", 7.90, Some(31.0), 420, 96),
    ("rr-fa-rtx", 8.35, Some(34.0), 380, 71),
    ("rr-ta", 8.60, Some(38.0), 350, 52),
    ("rr-ta-rtx", 8.90, Some(41.0), 310, 33),
    ("rack", 7.10, None, 900, 640),
];

fn runs(index: u64, shape: Shape) -> VariantRuns {
    let (name, mbps, dupthresh, fast, spuriously) = shape;
    let row = |seed: u64| {
        let mut random = Random(index * 1000 + seed);
        let goodput_bps = (mbps + 0.06 * (random.next() - 0.5)) * 1e6;
        let delivered_segments = (goodput_bps * 1000.0 / 8.0 / 1448.0) as u64;
        let flow = FlowRecord {
            duration_s: 1000.0,
            delivered_segments,
            goodput_bps,
            sending: SenderCounts {
                sent_segments: delivered_segments + fast,
                retransmits: fast + 12,
                fast_retransmits: fast + (random.next() * 20.0) as u64,
                false_fast_retransmits: spuriously + (random.next() * 9.0) as u64,
                timeouts: (random.next() * 4.0) as u64,
                loss_probes: 3,
                reordering_events: 60_000,
                dsacks: spuriously,
                ..SenderCounts::default()
            },
            means: SenderMeans {
                cwnd_mean: Some(mbps * 8.0),
                dupthresh_mean: dupthresh.map(|d| d + 0.2 * random.next() * f64::from(d > 3.0)),
                fa_ratio: dupthresh.map(|_| 0.9),
                srtt_mean_s: None,
            },
            ..FlowRecord::default()
        };
        RunRow { loss_rate: 0.001, out_of_order_rate: 0.1, ..RunRow::of("fake", name, seed, flow) }
    };
    VariantRuns {
        name: name.to_owned(),
        about: format!("what {name} does, in one line"),
        rows: (1..=5).map(row).collect(),
        trace: trace(index, shape),
        records: Vec::new(),
    }
}

fn trace(index: u64, (name, mbps, dupthresh, _, spuriously): Shape) -> Trace {
    let mut random = Random(index + 77);
    let mut trace = Trace::default();
    let mut cwnd = 2.0;
    let mut threshold = 3.0;
    for i in 0..2000 {
        let t = f64::from(i) * 0.5;
        cwnd += 0.5 * mbps / 2.0;
        if random.next() < 0.06 || cwnd > mbps * 12.0 {
            cwnd = f64::max(cwnd / 2.0, 2.0);
        }
        trace.cwnd.push((t, cwnd));
        if let Some(mean) = dupthresh {
            threshold += 0.05 * (mean - threshold) + (random.next() - 0.5) * 0.1 * (mean - 3.0);
            trace.dupthresh.push((t, f64::max(threshold, 3.0)));
        }
    }
    let rate = mbps * 1e6 / 8.0 / 1448.0;
    let (start, mut segment, mut acked) = (500.0, (rate * 500.0).floor(), 0.0);
    for round in 0..50 {
        let begins = start + f64::from(round) * 0.1;
        let burst = (rate * 0.1) as u32;
        for i in 0..burst {
            let time_s = begins + f64::from(i) * 0.0012;
            trace.sent.push(Sent { time_s, segment, kind: SendKind::New });
            segment += 1.0;
            trace.acked.push((time_s, f64::max(acked, segment - 1.4 * f64::from(burst))));
            acked = trace.acked.last().map_or(0.0, |a| a.1);
        }
        if random.next() < 0.15 + spuriously as f64 / 12_000.0 {
            let spurious = random.next() < 0.2 + spuriously as f64 / 12_000.0;
            let kind = if spurious { SendKind::SpuriousRetransmit } else { SendKind::Retransmit };
            let back = (random.next() * f64::from(burst)).floor() + 1.0;
            trace.sent.push(Sent { time_s: begins + 0.08, segment: segment - back, kind });
        }
    }
    if name != "rack" {
        trace.reordering_lengths = vec![0; 101];
    }
    for _ in 0..if name == "rack" { 0 } else { 20_000 } {
        let normal = (0..12).map(|_| random.next()).sum::<f64>() - 6.0;
        let length = (2.1 * mbps + 0.7 * mbps * normal).max(1.0) as usize;
        let tail = if random.next() < 0.01 { 60 } else { 0 };
        trace.reordering_lengths[(length + tail).min(100)] += 1;
    }
    trace
}

/// SplitMix64, as numbers in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}
