//! Recordings of short runs, with numbers worked out by hand.

use super::*;

/// A path of 8 Mbit/s and 10 ms one way: a packet of 1000 octets takes 1 ms on the wire.
const PATH: &str = r#"
duration = "1 s"
seeds = 1
variants = ["sack"]
[tcp]
mss = "960 B"
header = "40 B"
initial_window = 4
[path]
hops = ["path"]
[link.path]
rate = "8 Mbit/s"
delay = "10 ms"
"#;

fn recorded(text: &str, request: RecordRequest) -> Recording {
    let toml = Request { toml: text.to_owned(), ..Request::default() };
    let mut recording =
        Recording::new(&RecordRequest { request: toml, sender: "sack".to_owned(), ..request })
            .expect("is valid");
    while !recording.step(|| true).done {}
    recording
}

/// Returns the indices of data packets.
fn data(packets: &PacketColumns) -> Vec<usize> {
    (0..packets.kind.len()).filter(|&at| packets.kind[at] == 0).collect()
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn the_first_window_crosses_the_path_packet_by_packet() {
    let recording = recorded(PATH, RecordRequest { to_s: Some(0.05), ..RecordRequest::default() });
    let packets = recording.packets();
    let first = &data(&packets)[..4];
    // SYN and SYN-ACK take 40 us and 10 ms each, so the handshake is over after 20.08 ms.
    let begin = 0.020_08;
    for (number, &at) in first.iter().enumerate() {
        let wait = 0.001 * number as f64;
        assert!(near(packets.left_at[at], begin), "{}", packets.left_at[at]);
        assert!(near(packets.queue_until[at], begin + wait), "{}", packets.queue_until[at]);
        assert!(near(packets.departed_at[at], begin + wait + 0.001));
        assert!(near(packets.arrives_at[at], begin + wait + 0.011));
        assert_eq!(packets.delivered_at[at], packets.arrives_at[at]);
        // The acknowledgement takes 40 us and 10 ms back.
        assert!(near(packets.acked_at[at], packets.delivered_at[at] + 0.010_04));
        let octets = 960.0 * number as f64;
        assert_eq!((packets.from[at], packets.to[at]), (octets, octets + 960.0));
        assert_eq!((packets.fate[at], packets.flags[at], packets.to_receiver[at]), (0, 0, 1));
    }
    let answer = (0..packets.kind.len()).find(|&at| packets.answers[at] == first[2] as i32);
    let answer = answer.expect("each packet is acknowledged at once");
    assert_eq!((packets.kind[answer], packets.to[answer]), (1, 2880.0));
    assert_eq!(packets.left_at[answer], packets.delivered_at[first[2]]);
    let events = recording.events();
    let sent = (0..events.kind.len()).find(|&at| events.kind[at] == EventKind::Sent as u8);
    assert_eq!(events.packet[sent.expect("is in the window")], first[0] as i32);
}

#[test]
fn an_overtaken_packet_is_late_and_its_retransmission_spurious() {
    // Every tenth packet is 50 ms late: more than three packets overtake it, and SACK resends it.
    let text = format!("{PATH}[link.path.alternate]\nevery = 10\nextra = \"50 ms\"\n");
    let recording = recorded(&text, RecordRequest { to_s: Some(0.4), ..RecordRequest::default() });
    let packets = recording.packets();
    let late: Vec<usize> = data(&packets)
        .into_iter()
        .filter(|&at| packets.flags[at] & PacketFlag::LATE != 0)
        .collect();
    let first = late[0];
    assert!(near(packets.arrives_at[first], packets.departed_at[first] + 0.060));
    let copies = data(&packets).into_iter().filter(|&at| packets.from[at] == packets.from[first]);
    let copies: Vec<usize> = copies.collect();
    assert_eq!(copies.len(), 2, "it is sent twice");
    let resent = copies[1];
    assert_eq!(packets.copy[resent], 1);
    // The retransmission overtakes the late original, so the acknowledgement is for the copy; but the
    // original arrives as well.
    assert_ne!(packets.flags[resent] & PacketFlag::RETRANSMISSION, 0);
    let spurious = packets.flags[resent] & PacketFlag::SPURIOUS != 0;
    assert!(spurious, "the original was delivered at {}", packets.delivered_at[first]);
    let events = recording.events();
    let at = |kind: EventKind| events.kind.iter().position(|&of| of == kind as u8);
    let dsack = at(EventKind::Dsacked).expect("the second copy is reported");
    assert_eq!((events.from[dsack], events.to[dsack]), (packets.from[first], packets.to[first]));
    let spurious = at(EventKind::SpuriousRetransmission).expect("is found spurious");
    assert_eq!(events.packet[spurious], resent as i32);
    assert!(at(EventKind::Sacked).is_some() && at(EventKind::ArrivedDuplicate).is_some());
}

#[test]
fn a_resequencer_holds_the_packets_that_overtook() {
    let text =
        format!("{PATH}resequence = true\n[link.path.alternate]\nevery = 10\nextra = \"5 ms\"\n");
    let recording = recorded(&text, RecordRequest { to_s: Some(0.4), ..RecordRequest::default() });
    let packets = recording.packets();
    let held: Vec<usize> = data(&packets)
        .into_iter()
        .filter(|&at| packets.flags[at] & PacketFlag::HELD != 0)
        .collect();
    assert!(!held.is_empty());
    for &at in &held {
        assert!(packets.delivered_at[at] > packets.arrives_at[at]);
    }
    // What is released is in order.
    let delivered: Vec<f64> = data(&packets).iter().map(|&at| packets.delivered_at[at]).collect();
    let tail = delivered.iter().rposition(|at| at.is_finite()).expect("some are delivered");
    assert!(delivered[..=tail].is_sorted(), "{delivered:?}");
}

#[test]
fn lost_packets_end_where_they_are_lost() {
    let text = format!("{PATH}queue = 3\n[link.path.loss]\nevery = 20\n");
    let recording = recorded(&text, RecordRequest { to_s: Some(1.0), ..RecordRequest::default() });
    let packets = recording.packets();
    let of = |fate: Fate| data(&packets).into_iter().find(|&at| packets.fate[at] == fate as u8);
    let lost = of(Fate::Lost).expect("one in twenty");
    assert_eq!(packets.end_at[lost], packets.departed_at[lost]);
    assert!(packets.arrives_at[lost].is_nan() && packets.delivered_at[lost].is_nan());
    let dropped = of(Fate::Queue).expect("three fit");
    assert!(packets.queue_until[dropped].is_nan());
    assert_eq!(packets.end_at[dropped], packets.left_at[dropped]);
}

#[test]
fn curves_and_the_row_are_those_of_the_run() {
    let recording = recorded(PATH, RecordRequest { points: Some(100), ..RecordRequest::default() });
    let names: Vec<String> = recording.curves().into_iter().map(|curve| curve.name).collect();
    for name in ["cwnd", "dupthresh", "srtt", "flight", "goodput", "queue:path"] {
        assert!(names.contains(&name.to_owned()), "{name} is not among {names:?}");
    }
    let cwnd = recording.curve("cwnd");
    // The receiver's window comes behind the SYN-ACK, 40 us later. The first packet is acknowledged after
    // the handshake, 11 ms there, and 10.04 ms back.
    assert!(near(cwnd[0], 0.020_12) && cwnd[1] == 4.0, "{cwnd:?}");
    assert!(near(cwnd[2], 0.020_08 + 0.011 + 0.010_04) && cwnd[3] == 5.0, "{cwnd:?}");
    assert!(cwnd.len() / 2 <= 104);
    // The path carries 7.68 Mb/s of payload when it is full.
    let goodput = recording.curve("goodput");
    assert!(near(goodput[goodput.len() - 3], 7.68), "{goodput:?}");
    let row = recording.row().expect("is over");
    assert_eq!(row["variant"], "sack");
    assert!(row["goodput_bps"].as_f64().is_some_and(|bps| bps > 7e6));
    assert!(recording.curve("no such").is_empty());
}

#[test]
fn a_run_that_stops_early_has_no_row() {
    let request = RecordRequest { to_s: Some(0.1), until_s: Some(0.2), ..RecordRequest::default() };
    let recording = recorded(PATH, request);
    assert_eq!(recording.row(), None);
    let facts = recording.facts();
    assert_eq!((facts.from_s, facts.to_s, facts.links.len()), (0.0, 0.1, 2));
    assert_eq!(facts.links[0].rate_bps, Some(8e6));
}

#[test]
fn a_window_in_the_middle_has_the_packets_that_were_on_the_path() {
    let request = RecordRequest { from_s: Some(0.5), to_s: Some(0.6), ..RecordRequest::default() };
    let text = PATH.replace("initial_window", "window = 20\ninitial_window");
    let recording = recorded(&text, request);
    let packets = recording.packets();
    assert!(
        packets
            .left_at
            .iter()
            .zip(&packets.end_at)
            .all(|(&left, &end)| { left < 0.6 && (end.is_nan() || end >= 0.5) })
    );
    assert!(packets.left_at.iter().any(|&left| left < 0.5), "some left before");
    assert!(packets.delivered_at.iter().any(|&at| at > 0.6), "some arrive after");
    // Twenty packets in 21.04 ms are 95 in 100 ms, and twenty were in flight at the beginning.
    let inside = data(&packets).len();
    assert!((105..=125).contains(&inside), "{inside}");
}

#[test]
fn a_wrong_window_is_one_line() {
    let error = |request: RecordRequest| {
        let toml = Request { toml: PATH.to_owned(), ..Request::default() };
        Recording::new(&RecordRequest { request: toml, ..request }).err().expect("is wrong")
    };
    let sender = "sack".to_owned();
    let reversed =
        RecordRequest { from_s: Some(0.5), to_s: Some(0.4), sender, ..RecordRequest::default() };
    assert_eq!(error(reversed), "to_s: expected a time after from_s");
    let unknown = RecordRequest { sender: "sak".to_owned(), ..RecordRequest::default() };
    assert!(error(unknown).starts_with("--variants: "));
}
