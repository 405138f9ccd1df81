//! The cost of reordering for transfers that share a path: the estimates from their captures, compared
//! with simulations of the same path in order.

use unruffled_capture::{Analysis, Analyzer, Limits, Source, read};
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::fit::FitError;
use unruffled_lab::transfer::{Transfer, price, transfers};
use unruffled_lab::{Scenario, run};
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::{Segment, Variant};
use unruffled_units::Instant;

/// The number of transfers that share the path.
const FLOWS: usize = 3;

/// Captures of all flows, each at its sender.
struct SenderCaptures<'a>(Vec<Capture<&'a mut Vec<u8>>>);

impl Monitor for SenderCaptures<'_> {
    fn opened(&mut self, flow: FlowId, source: u32, now: Instant) {
        self.0[source as usize].opened(flow, source, now);
    }

    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        self.0[flow.0 as usize].segment(flow, end, way, now, segment);
    }
}

/// Simulates flows of `sender` that share a path, and returns their total goodput in bits per second,
/// and the analysis of each flow's capture.
fn shared(sender: &str, delayed: &str) -> (f64, Vec<Analysis>) {
    let text = format!(
        "name = 'shared'\nduration = '10 s'\nvariants = ['sack']\n\
         [tcp]\nmss = '1460 B'\nheader = '40 B'\nwindow = 2000\ninitial_window = 10\n\
         min_rto = '200 ms'\n\
         [path]\nhops = ['l']\n\
         [link.l]\nrate = '12 Mbit/s'\ndelay = '20 ms'\nqueue = 60\n{delayed}\n\
         [[traffic]]\nname = 'all'\napp = 'bulk'\ncount = {FLOWS}\n"
    );
    let scenario = Scenario::parse("shared", &text, &[]).expect("is a scenario");
    let mut octets = vec![Vec::new(); FLOWS];
    let captures = octets.iter_mut().zip(0..).map(|(octets, source)| {
        Capture::at(End::Sender, octets).expect("memory takes it").of(source)
    });
    let mut captures = SenderCaptures(captures.collect());
    let variant = Variant::parse(sender).expect("is a sender");
    let ran = run::record(&scenario, &variant, 1, Some(&mut captures), never()).expect("runs");
    captures.0.into_iter().for_each(|capture| capture.finish().expect("memory takes it"));
    let found = octets.into_iter().map(|octets| {
        let source = Source::new(Box::new(std::io::Cursor::new(octets)), None).expect("a capture");
        let mut analyzer = Analyzer::new(Limits::default());
        assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
        analyzer.finish()
    });
    (ran.flows.iter().map(|flow| flow.goodput_bps).sum(), found.collect())
}

/// Many packets are late by more than the sender waits.
const DELAYS: &str = "delayed = { fraction = '8 %', mean = '50 ms', deviation = '17 ms' }";

/// Packets are late, but three flows of a sender that waits longer still fill the path.
const DELAYS_WITH_FULL_PATH: &str =
    "delayed = { fraction = '5 %', mean = '70 ms', deviation = '23 ms' }";

/// Returns the transfer of the first connection.
fn first<'a>(found: &'a [Transfer<'a>]) -> &'a Transfer<'a> {
    found.iter().find(|transfer| transfer.connection == 0).expect("is there")
}

#[test]
fn the_cost_for_flows_that_share_a_path_is_relative_to_their_share_of_it() {
    let (all_bps, mut captures) = shared("sack", DELAYS);
    let (most_bps, _) = shared("sack", "");
    let others = captures.split_off(1);
    let mut together = captures.remove(0);
    together.connections.extend(others.into_iter().flat_map(|analysis| analysis.connections));
    let mut found = transfers(&together);
    price("c", &mut found, never());
    let cost = first(&found).cost.as_ref().unwrap().as_ref().unwrap();
    let truth = 1.0 - all_bps / most_bps;
    assert!((cost.share - truth).abs() < 0.1, "{truth}: {cost:?}");
    assert!((cost.beside - 2.0).abs() < 0.1, "{cost:?}");
    assert!(cost.text.contains("where others that went the same way"), "{cost:?}");
}

#[test]
fn the_cost_is_unknown_if_flows_outside_the_capture_fill_the_path() {
    let (_, captures) = shared("rack+cubic", DELAYS_WITH_FULL_PATH);
    let mut found = transfers(&captures[0]);
    price("c", &mut found, never());
    let cost = first(&found).cost.as_ref().expect("reordering slowed it");
    assert!(matches!(cost.as_ref().unwrap_err().as_ref(), FitError::Crowded { .. }), "{cost:?}");
}
