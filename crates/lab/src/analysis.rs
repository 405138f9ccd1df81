//! A capture's analysis as text: a table of transfers, and what slowed each.

use std::sync::Arc;

use comfy_table::{Attribute, Cell};
use serde::Serialize;
use unruffled_capture::{
    Analysis, Cause, Connection, Direction, Place, Sureness, UdpPair, Verdict, is_enough, judge,
};
use unruffled_units::count;

use crate::advice::{self, Step};
use crate::fit::{self, Beside, Blamed, Cost, FitError, GoOn, Losses};
use crate::rate::Scale;
use crate::table::{Cells, fits, lines, plain_within};
use crate::text;

/// Transfers that are listed; the others are in the JSON.
const LISTED: usize = 12;

/// Transfers of which it is told what reordering cost: each takes some seconds of simulation.
const PRICED: usize = 3;

/// One direction of a connection that carried data, and what slowed it.
#[derive(Debug)]
pub struct Transfer<'a> {
    /// Which connection, by its place in the analysis.
    pub connection: usize,
    /// The connection's first and last packet, in seconds since the capture's first.
    pub span_s: (f64, f64),
    /// The direction.
    pub direction: &'a Direction,
    /// What slowed it.
    pub verdict: Verdict,
    /// What reordering cost it, or why that cannot be told; none where nobody asked.
    pub cost: Option<Result<Cost, Arc<FitError>>>,
}

impl Transfer<'_> {
    /// The share of this one's time in which another was there too.
    fn shared_with(&self, other: &Self) -> f64 {
        let ((from, to), (began, ended)) = (self.span_s, other.span_s);
        match to - from {
            time if time > 0.0 => ((to.min(ended) - from.max(began)) / time).max(0.0),
            _ => 0.0,
        }
    }

    /// Those that went the same way at the same time.
    fn beside(&self, transfers: &[Self]) -> Beside {
        let mut beside = Beside::default();
        for other in transfers {
            if other.connection != self.connection && is_enough(other.direction) {
                let share = self.shared_with(other);
                beside.add(self.direction, other.direction, share, other.verdict.cause);
            }
        }
        beside
    }

    /// What reordering cost it, as a sentence, if reordering slowed it.
    pub(crate) fn cost_in_words(&self) -> Option<String> {
        match self.cost.as_ref()? {
            Ok(cost) => Some(cost.text.clone()),
            Err(reason) => Some(format!("What it cost cannot be told: {reason}.")),
        }
    }
}

/// Finds out by simulation what reordering cost the largest transfers that it slowed.
pub fn price(name: &str, transfers: &mut [Transfer<'_>]) {
    price_while(name, transfers, &|| true);
}

/// The same while `go_on` says so; what is left then is told to be interrupted.
pub fn price_while(name: &str, transfers: &mut [Transfer<'_>], go_on: GoOn<'_>) {
    let slowed = |at: &usize| transfers[*at].verdict.cause == Cause::Reordering;
    let priced: Vec<usize> = (0..transfers.len()).filter(slowed).take(PRICED).collect();
    for at in priced {
        let beside = transfers[at].beside(transfers);
        let transfer = &mut transfers[at];
        let cost = fit::cost(name, transfer.direction, transfer.verdict.cause, &beside, go_on);
        transfer.cost = Some(cost.map_err(Arc::new));
    }
}

/// The transfers of a capture, the largest first.
pub fn transfers(analysis: &Analysis) -> Vec<Transfer<'_>> {
    let both = |(at, connection): (usize, &'_ Connection)| {
        [(at, 0), (at, 1)].map(|which| (which, connection.packets))
    };
    let mut found: Vec<(usize, usize)> =
        analysis.connections.iter().enumerate().flat_map(both).map(|(which, _)| which).collect();
    let direction = |(at, way): (usize, usize)| &analysis.connections[at].directions[way];
    found.retain(|&which| direction(which).traffic.segments > 0);
    found.sort_by_key(|&which| std::cmp::Reverse(direction(which).traffic.payload_bytes));
    let transfer = |which: (usize, usize)| {
        let direction = direction(which);
        let connection = &analysis.connections[which.0];
        let span_s = (connection.start_s, connection.start_s + connection.duration_s);
        let verdict = match judge(direction) {
            verdict if verdict.cause != Cause::Loss => verdict,
            _ if fit::losses(direction).decision == Blamed::Queue => overflowed(direction),
            verdict => verdict,
        };
        Transfer { connection: which.0, span_s, direction, verdict, cost: None }
    };
    found.into_iter().map(transfer).collect()
}

/// What was lost was dropped by the path's queue: the path was full then.
fn overflowed(direction: &Direction) -> Verdict {
    let goodput_bps = direction.traffic.goodput_bps;
    let rate = Scale::of([goodput_bps]).with_unit(goodput_bps).replace('\u{a0}', " ");
    let text = format!(
        "The path: its queue overflowed and dropped {:.2} % of the data; the transfer got {rate}.",
        direction.losses.ratio * 100.0
    );
    Verdict { cause: Cause::Path, sureness: Sureness::Probable, text }
}

/// The transfer of this number, counted from 1.
///
/// # Errors
/// There are fewer.
pub fn numbered<'a, 'b>(
    transfers: &'a [Transfer<'b>],
    number: u32,
) -> Result<&'a Transfer<'b>, FitError> {
    let at = (number as usize).checked_sub(1);
    let chosen = at.and_then(|at| transfers.get(at));
    chosen.ok_or(FitError::NoTransfer { number, found: transfers.len() })
}

/// One JSON object: what was found, with what slowed each transfer.
pub fn json(
    name: &str,
    analysis: &Analysis,
    transfers: &[Transfer<'_>],
    plan: &[Step],
    damage: Option<&str>,
) -> String {
    #[derive(Serialize)]
    struct Told<'a> {
        capture: &'a str,
        damage: Option<&'a str>,
        #[serde(flatten)]
        analysis: &'a Analysis,
        verdicts: Vec<Judged<'a>>,
        plan: &'a [Step],
    }
    #[derive(Serialize)]
    struct Judged<'a> {
        connection: usize,
        from: std::net::SocketAddr,
        to: std::net::SocketAddr,
        #[serde(flatten)]
        verdict: &'a Verdict,
        place: Place,
        losses: Losses,
        advice: Vec<String>,
        cost: Option<&'a Cost>,
        no_cost: Option<String>,
    }
    let verdicts = (1..).zip(transfers).map(|(number, transfer)| Judged {
        connection: transfer.connection,
        from: transfer.direction.from,
        to: transfer.direction.to,
        verdict: &transfer.verdict,
        place: transfer.direction.place,
        losses: fit::losses(transfer.direction),
        advice: advice::lines(plan, number),
        cost: transfer.cost.as_ref().and_then(|cost| cost.as_ref().ok()),
        no_cost: transfer
            .cost
            .as_ref()
            .and_then(|cost| cost.as_ref().err())
            .map(|reason| reason.to_string()),
    });
    let told = Told { capture: name, damage, analysis, verdicts: verdicts.collect(), plan };
    serde_json::to_string(&told).unwrap_or_default() + "\n"
}

/// How much a capture holds.
pub(crate) fn size(analysis: &Analysis) -> String {
    let totals = &analysis.totals;
    format!(
        "{} in {:.1} s, {}, {} over UDP",
        count(totals.frames, "packet"),
        totals.duration_s,
        count(totals.tcp_connections, "TCP connection"),
        count(totals.udp_pairs, "pair")
    )
}

/// How far the capture's clock limits what is told, if it does.
pub(crate) fn clock(analysis: &Analysis) -> Option<String> {
    let step = analysis.totals.clock_step_ms?;
    Some(format!(
        "the capture's clock moves in steps of {step:.1} ms: round trips and late times of less are not told"
    ))
}

const UNKNOWN_LINK: &str =
    "of a link that is not read: expected Ethernet, Linux cooked, raw IP or loopback";

/// A table of the largest transfers, what slowed each, and what to do, for `width` columns.
pub fn render(
    name: &str,
    analysis: &Analysis,
    transfers: &[Transfer<'_>],
    plan: &[Step],
    width: usize,
) -> String {
    let totals = &analysis.totals;
    let mut text = format!("{name}: {}\n", size(analysis));
    let skipped = &totals.skipped;
    let unread = skipped.not_ip
        + skipped.short
        + skipped.fragments
        + skipped.other_protocols
        + skipped.malformed;
    for (packets, what) in [
        (skipped.unknown_link, UNKNOWN_LINK),
        (unread, "neither TCP nor UDP, or not whole enough to tell"),
    ] {
        let are = if packets == 1 { "packet is" } else { "packets are" };
        if packets > 0 {
            text += &format!("{packets} {are} {what}\n");
        }
    }
    if let Some(note) = clock(analysis) {
        text += text::wrapped(&note, width, "").as_str();
    }
    if transfers.is_empty() {
        text += "no TCP connection carried data\n";
        return text + udp(analysis).as_str();
    }
    let listed = transfers.iter().take(LISTED).enumerate();
    let rows: Vec<_> = listed.map(|(i, transfer)| row(i + 1, transfer.direction)).collect();
    let heads = if fits(&heads(), &rows, width) { heads() } else { tight_heads() };
    let mut table = plain_within(width);
    table.set_header(heads.map(|head| Cell::new(head).add_attribute(Attribute::Bold)));
    table.add_rows(rows);
    text += "\n";
    text += &lines(table);
    let [.., by, _, _, _, recoveries] = heads;
    text +=
        &format!("\nlate: of segments; lost: of octets; {}: median; ", by.trim_end_matches(" ms"));
    text += &format!("{recoveries}: spurious of all\n");
    for (i, transfer) in transfers.iter().take(LISTED).enumerate() {
        let direction = transfer.direction;
        let place = place(direction);
        text += &format!("\n{} {} to {}, {place}\n", i + 1, direction.from, direction.to);
        let verdict = [&transfer.verdict.text].into_iter().cloned();
        for line in verdict.chain(transfer.cost_in_words()) {
            text += &text::wrapped(&line, width, "  ");
        }
    }
    if transfers.len() > LISTED {
        let smaller = count(transfers.len() - LISTED, "smaller transfer");
        text += &format!("\nand {smaller} (--json has all)\n");
    }
    text + advice::render(plan, LISTED, width).as_str() + udp(analysis).as_str()
}

/// The table of [`render`], cell by cell; none where no connection carried data.
pub fn table(transfers: &[Transfer<'_>]) -> Option<Cells> {
    let listed = transfers.iter().take(LISTED).enumerate();
    let lines: Vec<_> = listed.map(|(i, transfer)| row(i + 1, transfer.direction)).collect();
    (!lines.is_empty()).then(|| (heads().to_vec(), lines))
}

/// What can be said of UDP.
fn udp(analysis: &Analysis) -> String {
    let quic: Vec<_> = analysis.udp.iter().filter(|pair| pair.quic_version.is_some()).collect();
    let mut text = String::new();
    for pair in quic.iter().take(LISTED) {
        let version = pair.quic_version.as_deref().unwrap_or_default();
        let rtt = pair.handshake_rtt_ms.map_or("none seen".to_owned(), |ms| format!("{ms:.1} ms"));
        text += &format!(
            "\nQUIC {version}, {} to {}: {} and {} bytes, handshake {rtt}\n",
            pair.client, pair.server, pair.payload_bytes[0], pair.payload_bytes[1]
        );
    }
    if !quic.is_empty() {
        text += "  Its packet numbers are encrypted: nobody outside sees reordering or loss.\n";
    }
    text
}

/// Where a capture was made, in words.
pub(crate) fn place(direction: &Direction) -> &'static str {
    match direction.place {
        Place::Sender => "captured at the sender",
        Place::Receiver => "captured at the receiver",
        Place::Between => "captured between them",
        Place::Unknown => "captured somewhere",
    }
}

/// What is told of two who spoke UDP, in cells.
pub(crate) fn udp_row(pair: &UdpPair) -> Vec<String> {
    let ms = |ms: Option<f64>| ms.map_or("–".to_owned(), |ms| format!("{ms:.1}"));
    let octets = pair.payload_bytes[0] + pair.payload_bytes[1];
    let bps = if pair.duration_s > 0.0 { octets as f64 * 8.0 / pair.duration_s } else { 0.0 };
    let spin = pair.spin_rtt.iter().flatten().map(|rtt| rtt.median_ms).reduce(f64::min);
    vec![
        format!("{} and {}", pair.client, pair.server),
        pair.quic_version.as_ref().map_or("UDP".to_owned(), |version| format!("QUIC {version}")),
        format!("{} and {}", pair.datagrams[0], pair.datagrams[1]),
        format!("{:.2}", octets as f64 / 1e6),
        format!("{:.2}", bps / 1e6),
        ms(pair.handshake_rtt_ms),
        ms(spin),
    ]
}

/// The headings of a transfer's cells.
pub(crate) fn heads() -> [&'static str; 10] {
    [
        "",
        "MB",
        "Mb/s",
        "RTT ms",
        "late %",
        "late by ms",
        "lost %",
        "resent",
        "spurious",
        "recoveries",
    ]
}

/// The same where there is less room.
fn tight_heads() -> [&'static str; 10] {
    ["", "MB", "Mb/s", "RTT ms", "late %", "by ms", "lost %", "resent", "spur.", "recov."]
}

pub(crate) fn row(index: usize, direction: &Direction) -> Vec<String> {
    let none = || "–".to_owned();
    let late = direction.reordering();
    let number = |value: Option<f64>, decimals: usize| match value {
        Some(value) => format!("{value:.decimals$}"),
        None => none(),
    };
    let share = |part: f64| match part {
        0.0 => "0".to_owned(),
        part => format!("{:.2}", part * 100.0),
    };
    vec![
        index.to_string(),
        format!("{:.2}", direction.traffic.stream_bytes as f64 / 1e6),
        format!("{:.2}", direction.traffic.goodput_bps / 1e6),
        number(direction.rtt.min_ms.or(direction.rtt.beyond_ms), 1),
        share(late.ratio),
        number(late.late_time.as_ref().map(|time| time.median_ms), 1),
        share(direction.losses.ratio),
        direction.retransmissions.total.to_string(),
        direction.retransmissions.spurious.to_string(),
        format!("{} of {}", direction.windows.spurious_recoveries, direction.windows.recoveries),
    ]
}

#[cfg(test)]
pub(crate) mod tests {
    use unruffled_capture::{Analyzer, Limits, Source, read};
    use unruffled_measure::End;
    use unruffled_tcp::Variant;

    use super::*;
    use crate::Scenario;
    use crate::capture::Capture;
    use crate::run::run;

    /// A capture at a sender that late packets slow, with so many dots of each kind to draw.
    pub(crate) fn captured(dots: usize) -> Analysis {
        captured_on("few-late", "rack+cubic", dots)
    }

    fn captured_on(scenario: &str, sender: &str, dots: usize) -> Analysis {
        captured_with("link.bottleneck.queue=50", scenario, sender, dots)
    }

    fn captured_with(set: &str, scenario: &str, sender: &str, dots: usize) -> Analysis {
        let overrides = ["duration=20 s", "seeds=1", set].map(str::to_owned);
        let scenario = Scenario::load(scenario, &overrides).unwrap();
        let mut octets = Vec::new();
        let mut capture = Capture::at(End::Sender, &mut octets).unwrap();
        let sender = Variant::parse(sender).unwrap();
        run(&scenario, &sender, 1, Some(&mut capture)).unwrap();
        capture.finish().unwrap();
        let source = Source::new(Box::new(std::io::Cursor::new(octets)), None).unwrap();
        let mut analyzer = Analyzer::new(Limits { dots, ..Limits::default() });
        assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
        analyzer.finish()
    }

    #[test]
    fn a_transfer_that_fills_its_path_is_not_slowed_by_what_the_queue_drops() {
        let analysis = captured_on("in-order", "rack+cubic", 0);
        let found = transfers(&analysis);
        let Verdict { cause, text, .. } = &found[0].verdict;
        assert_eq!(*cause, Cause::Path, "{text}");
        assert!(text.starts_with("The path: its queue overflowed and dropped 1."), "{text}");
        assert!(text.contains("the transfer got 9."), "{text}");
    }

    /// What reordering cost the first transfer.
    fn first_cost(analysis: &Analysis) -> Cost {
        let mut found = transfers(analysis);
        price("a", &mut found);
        found[0].cost.clone().expect("reordering slowed it").expect("a path that can be told")
    }

    #[test]
    fn a_transfer_that_never_fills_its_path_does_not_tell_what_it_cost() {
        let mut analysis = captured_on("half-late", "sack", 100);
        for spacing_ms in [None, Some(1e6)] {
            analysis.connections[0].directions[0].spacing_ms = spacing_ms;
            let mut found = transfers(&analysis);
            price("h", &mut found);
            let text = found[0].cost_in_words().expect("reordering slowed it");
            let wanted = "What it cost cannot be told: it never filled its path, whose rate";
            assert!(text.starts_with(wanted), "{text}");
        }
    }

    /// It never fills its path, but what it sends in a row does for a moment.
    #[test]
    fn what_a_collapsed_transfer_lost_is_told_by_its_bursts() {
        let cost = first_cost(&captured_on("half-late", "rack", 100));
        // It gets a sixtieth of what it gets where all is in order.
        assert!(cost.share > 0.9, "{cost:?}");
        assert!(
            cost.text.contains(" without reordering, all by the faster of its ways, "),
            "{cost:?}"
        );
    }

    #[test]
    fn a_sender_that_learns_nothing_from_reordering_is_told_from_linux() {
        let cost = first_cost(&captured_on("half-late", "sack", 100));
        assert_eq!(cost.sender, "sack");
        // It gets a fiftieth of what it gets where all is in order.
        assert!(cost.share > 0.9, "{cost:?}");
    }

    #[test]
    fn without_sack_what_reordering_cost_is_not_told() {
        let analysis = captured_on("half-late", "reno", 100);
        let mut found = transfers(&analysis);
        price("h", &mut found);
        let text = found[0].cost_in_words().expect("reordering slowed it");
        assert!(text.contains("since the receiver sends no SACK"), "{text}");
    }

    /// The queue drops what a sender sends at once when late packets fill a hole: nothing is lost on
    /// the path itself.
    #[test]
    fn what_was_lost_may_be_reorderings_doing() {
        let cost = first_cost(&captured_with("link.bottleneck.queue=10", "few-late", "rack", 100));
        // Where all is in order, it gets 6.3 times as much.
        assert!(cost.share < 0.84 && cost.lossless_share > 0.84, "{cost:?}");
        let told = [" if it caused the losses too: ", " if the path lost packets: "];
        assert!(told.iter().any(|told| cost.text.contains(told)), "{cost:?}");
        assert_ne!(cost.losses.decision, fit::Blamed::Path, "{cost:?}");
    }

    #[test]
    fn what_reordering_cost_is_told_in_text_and_in_json() {
        let analysis = captured(100);
        let mut found = transfers(&analysis);
        assert_eq!(found[0].cost_in_words(), None);
        price("c", &mut found);
        let cost = found[0].cost.as_ref().unwrap().as_ref().unwrap();
        // It gets a fifth of what it gets where all is in order.
        assert!(cost.without_bps > 2.0 * cost.now_bps, "{cost:?}");
        assert!(cost.share > 0.5 && cost.share < 1.0, "{cost:?}");
        assert!(cost.attached_bps > 2.0 * cost.now_bps, "{cost:?}");
        let plan = advice::plan("c", &found, None);
        let text = render("c", &analysis, &found, &plan, 80);
        assert!(text.contains("It cost "), "{text}");
        assert!(text.contains("late %  late by ms  lost %"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one_line.contains("With the sender unruffled, the model gives "), "{text}");
        let json: serde_json::Value =
            serde_json::from_str(&json("c", &analysis, &found, &plan, None)).unwrap();
        assert_eq!(json["verdicts"][0]["cost"]["share"], cost.share);
        assert_eq!(json["verdicts"][0]["place"], "sender");
        let step = &json["plan"][0];
        assert_eq!((&step["action"], &step["role"]), (&"attach".into(), &"sender".into()));
        assert_eq!(step["command"], "sudo unruffled attach --default");
        let advice = json["verdicts"][0]["advice"][0].as_str().expect("a string");
        assert!(advice.ends_with("sudo unruffled attach --default"), "{advice}");
        assert!(json["verdicts"][0]["losses"]["decision"].is_string(), "{json}");
        assert_eq!(json["connections"][0]["directions"][0].get("drawing"), None);
    }
}
