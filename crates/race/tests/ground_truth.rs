//! What the analysis of a capture says, against what happened to real packets: transfers over the
//! emulated path, captured at the sender, between its two links and at the receiver. Without the
//! rights to make namespaces, these say that they were skipped.
#![cfg(target_os = "linux")]

#[path = "../../lab/tests/paths/expected.rs"]
mod expected;
#[path = "../../lab/tests/paths/mod.rs"]
mod paths;

use std::collections::{BTreeMap, HashMap, HashSet};

use expected::{Expected, late_times, told};
use paths::{CASES, Case, analysed, over};
use unruffled_capture::{Source, Transport, decode, read};
use unruffled_lab::compare;
use unruffled_net::Place;
use unruffled_race::{Competitor, Course, Error, Length, Recording};
use unruffled_units::{Duration, Instant};

/// A transmission, as nothing else that the sender sends is marked: its first octet, its
/// identification and its timestamp.
type Mark = (u32, Option<u16>, u32);

/// What a capture holds.
#[derive(Default)]
struct Seen {
    /// The data of the left end, in the order in which it passed.
    data: Vec<(Instant, Mark)>,
    /// What DSACKs of the right end tell to have come twice (RFC 2883, section 4).
    twice: Vec<(u32, u32)>,
}

fn seen(capture: &[u8]) -> Seen {
    let mut found = Seen::default();
    let mut sender = None;
    let source = Source::new(Box::new(std::io::Cursor::new(capture.to_vec())), None);
    let damage = read(source.expect("a capture"), |frame| {
        let Ok(packet) = decode(frame) else { return };
        let Transport::Tcp(segment) = packet.transport else { return };
        if *sender.get_or_insert(packet.from) == packet.from {
            if segment.len > 0 {
                let (stamp, _) = segment.timestamps.expect("both ends have them");
                found.data.push((packet.at, (segment.seq, packet.id, stamp)));
            }
        } else if let (Some(ack), 1..) = (segment.ack, segment.sack_count) {
            let [(left, right), second, ..] = segment.sack;
            let within = segment.sack_count > 1
                && left.wrapping_sub(second.0) as i32 >= 0
                && second.1.wrapping_sub(right) as i32 >= 0;
            if ack.wrapping_sub(right) as i32 >= 0 || within {
                found.twice.push((left, right));
            }
        }
    });
    assert_eq!(damage, Ok(None));
    found.data.sort_by_key(|&(at, _)| at);
    found
}

/// What happened between both ends.
fn expected(left: &[u8], right: &[u8]) -> Expected {
    let (Seen { data: sent, twice }, arrived) = (seen(left), seen(right).data);
    let end = sent.last().map_or(Instant::ZERO, |&(at, _)| at);
    // What was sent in the last second may be on its way yet.
    let done = |at: Instant| end.since(at) > Duration::from_secs(1);
    let mut arrivals: HashMap<Mark, Vec<Instant>> = HashMap::new();
    arrived.iter().for_each(|&(at, mark)| arrivals.entry(mark).or_default().push(at));
    let mut segments: BTreeMap<u32, u64> = BTreeMap::new();
    let (mut originals, mut lost, mut before) = (Vec::new(), 0.0, HashSet::new());
    for &(at, mark) in &sent {
        let original = before.insert(mark.0);
        let came = arrivals.get(&mark).and_then(|times| times.first());
        match came {
            Some(&came) if original => originals.push((came, mark.0)),
            None if done(at) => lost += 1.0,
            _ => {}
        }
    }
    let (mut spurious, mut unsettled) = (0, 0);
    for &(at, (seq, ..)) in &arrived {
        let copies = segments.entry(seq).or_default();
        // Linux answers what PAWS makes it discard (RFC 7323, section 5.3) twice a second at most,
        // and without a DSACK beyond a hole, and ACKs are lost, too: then nobody tells.
        let covers = |&&(left, right): &&(u32, u32)| {
            seq.wrapping_sub(left) as i32 >= 0 && right.wrapping_sub(seq) as i32 > 0
        };
        let told = twice.iter().filter(covers).count() as u64;
        spurious += u64::from(*copies > 0);
        unsettled += u64::from(*copies > told || *copies > 0 && !done(at));
        *copies += 1;
    }
    let late_times = late_times(&mut originals);
    let late = late_times.len() as f64 / originals.len() as f64;
    Expected { late, late_times, spurious, unsettled, lost }
}

/// The case's path in two links; what befalls packets does so on the first or on the second.
fn in_two_links(case: &Case, first: bool) -> String {
    let Case { rate, befalls, .. } = case;
    let half_ms = f64::from(case.delay_ms) / 2.0;
    let (there, then) = if first { (*befalls, "") } else { ("", *befalls) };
    format!(
        "[path]\nhops = ['a', 'b']\n\
         [link.a]\nrate = '{rate}'\ndelay = '{half_ms} ms'\nqueue = 100\n{there}\n\
         [link.b]\ndelay = '{half_ms} ms'\n{then}\n"
    )
}

/// A transfer over the case's path; what the analysis of its three captures gets wrong. `None` where
/// the rights are missing.
fn transferred(case: &Case, first: bool, kernel: bool, length: Length) -> Option<Vec<String>> {
    let scenario = over(case, true, &in_two_links(case, first))
        .for_real_packets()
        .expect("is for real packets");
    let competitor = if kernel {
        Competitor::kernels(&["cubic".to_owned()]).expect("every kernel has it")
    } else {
        let variants =
            compare::variants(&scenario, &[case.sender.to_owned()], "test").expect("a sender");
        variants.into_iter().map(|v| Competitor::Ours(Box::new(v))).collect()
    };
    let course = Course {
        scenario: &scenario,
        competitors: &competitor,
        length,
        seeds: 1,
        together: false,
        reverse: false,
        sysctls: &[],
    };
    let (mut left, mut between, mut right) = (Vec::new(), Vec::new(), Vec::new());
    let recording = Recording::new(&mut left)
        .and_then(|recording| recording.and(Place::Between, &mut between))
        .and_then(|recording| recording.and(Place::Right, &mut right));
    let mut recording = recording.expect("memory can be written");
    match course.run(Some(&mut recording), |_| ()) {
        Err(Error::Net(unruffled_net::Error::Rights(error))) => {
            eprintln!("skipped: {error}");
            return None;
        }
        finished => {
            let finished = finished.expect("a race");
            assert!(finished.failures.is_empty(), "{:?}", finished.failures);
        }
    }
    recording.finish().expect("memory can be written");
    let expected = expected(&left, &right);
    let sender = if kernel { "kernel-cubic" } else { case.sender };
    let captures = [("sender", left), ("between", between), ("receiver", right)];
    let captures = captures.map(|(place, capture)| (place, Some(analysed(capture))));
    Some(told(&format!("{}, {sender}", case.name), &expected, captures))
}

/// Of a hundred late packets the quantiles are within their bounds only where the emulator is on time.
#[test]
#[ignore = "real time on an idle machine"]
fn an_analysis_says_what_happened_to_real_packets_at_three_places() {
    let mut wrong = Vec::new();
    for name in ["1 % lost", "10 % late, patient", "late and lost"] {
        let case = CASES.iter().find(|case| case.name == name).expect("is in the table");
        let Some(faults) =
            transferred(case, name != "late and lost", false, Length::Bytes(1_500_000))
        else {
            return;
        };
        wrong.extend(faults);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `cargo test -p unruffled-race --test ground_truth -- --ignored --nocapture twenty`, as root.
#[test]
#[ignore = "fourteen minutes of real time"]
fn an_analysis_says_what_happened_to_real_packets_on_twenty_paths() {
    let mut wrong = Vec::new();
    for (i, case) in CASES.iter().enumerate() {
        for kernel in [false, true] {
            let length = Length::Time(std::time::Duration::from_secs(20));
            let Some(faults) = transferred(case, i % 2 == 0, kernel, length) else { return };
            wrong.extend(faults);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
