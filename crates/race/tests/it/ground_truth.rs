//! The analysis of captures, compared with what happened to the packets: transfers over the emulated path
//! are captured at the sender, between its two links, and at the receiver.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::expected::{Expected, faults_of_captures, late_times};
use crate::paths::{CASES, Case, analysed, over};
use unruffled_capture::{Source, Transport, decode, read};
use unruffled_net::Place;
use unruffled_race::{Competitor, Course, Error, Length, Recording};
use unruffled_units::{Duration, Instant};

/// Time for which Linux holds SACKs back (`tcp_comp_sack_delay_ns` and `tcp_comp_sack_slack_ns`), in
/// milliseconds. Except at the receiver, a smaller lateness is not visible, and a larger one is not known
/// more precisely.
const BLUR_MS: f64 = 1.1;

/// Identity of a transmission: its first octet, its IP identification and its timestamp. No two
/// transmissions of the sender agree in all three.
type Mark = (u32, Option<u16>, u32);

/// Blocks of octets: the first one, and the one after the last.
type Blocks = Vec<(u32, u32)>;

/// Contents of a capture.
#[derive(Default)]
struct Seen {
    /// Data of the left end, in the order in which it passed.
    data: Vec<(Instant, Mark)>,
    /// Blocks that DSACKs of the right end report as duplicates (RFC 2883, section 4).
    twice: Blocks,
    /// For each ACK of the right end: its time, its number, and its SACK blocks.
    held: Vec<(Instant, u32, Blocks)>,
}

impl Seen {
    /// Returns whether an ACK of the right end between `from` and `until` covers the octet `seq`.
    fn holds(&self, seq: u32, from: Instant, until: Instant) -> bool {
        let [from, until] =
            [from, until].map(|time| self.held.partition_point(|held| held.0 < time));
        self.held[from..until].iter().any(|(_, ack, blocks)| {
            let covers = |&(left, right): &(u32, u32)| {
                seq.wrapping_sub(left) as i32 >= 0 && right.wrapping_sub(seq) as i32 > 0
            };
            ack.wrapping_sub(seq) as i32 > 0 || blocks.iter().any(covers)
        })
    }
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
        } else if let Some(ack) = segment.ack {
            let mut blocks = segment.sack[..usize::from(segment.sack_count)].to_vec();
            if let [(left, right), ..] = blocks[..] {
                let within = blocks.get(1).is_some_and(|second| {
                    left.wrapping_sub(second.0) as i32 >= 0
                        && second.1.wrapping_sub(right) as i32 >= 0
                });
                if ack.wrapping_sub(right) as i32 >= 0 || within {
                    found.twice.push(blocks.remove(0));
                }
            }
            found.held.push((packet.at, ack, blocks));
        }
    });
    assert_eq!(damage, Ok(None));
    found.data.sort_by_key(|&(at, _)| at);
    found
}

/// Returns what happened between both ends.
fn expected(left: &[u8], right: &[u8]) -> Expected {
    let Seen { data: sent, twice, .. } = seen(left);
    let receiver = seen(right);
    let arrived = &receiver.data;
    let end = sent.last().map_or(Instant::ZERO, |&(at, _)| at);
    // Sequence numbers may wrap.
    let first = sent.first().map_or(0, |&(_, (seq, ..))| seq);
    // Packets of the last second may still be on their way.
    let done = |at: Instant| end.since(at) > Duration::from_secs(1);
    let mut arrivals: HashMap<Mark, Vec<Instant>> = HashMap::new();
    arrived.iter().for_each(|&(at, mark)| arrivals.entry(mark).or_default().push(at));
    let came_once: HashSet<u32> = arrived.iter().map(|&(_, (seq, ..))| seq).collect();
    let mut originals = Vec::new();
    let mut before = HashSet::new();
    let mut lost = 0.0;
    let mut latest = 0;
    let mut travelling = 0;
    for &(at, mark) in &sent {
        let original = before.insert(mark.0);
        latest += u64::from(!original && !done(at));
        let came = arrivals.get(&mark).and_then(|times| times.first());
        match came {
            Some(&came) if original => {
                originals.push((came, mark.0.wrapping_sub(first)));
            }
            None if done(at) => lost += 1.0,
            None if !original && came_once.contains(&mark.0) => travelling += 1,
            _ => {}
        }
    }
    let mut copies = BTreeMap::new();
    let mut spurious = 0;
    let mut untold = 0;
    let mut refused = 0;
    let mut unclear = 0;
    for &(at, (seq, ..)) in arrived {
        let (first, duplicates) = copies.entry(seq).or_insert((at, 0));
        if *first == at {
            continue;
        }
        // PAWS makes Linux drop what a retransmission has overtaken (RFC 7323, section 5.3).
        if !receiver.holds(seq, *first, at) {
            refused += 1;
            unclear += u64::from(at.since(*first).as_millis_f64() < BLUR_MS);
            *first = at;
            continue;
        }
        spurious += 1;
        *duplicates += 1;
        // A duplicate beyond a hole causes no DSACK, and ACKs may be lost.
        let covers = |&&(left, right): &&(u32, u32)| {
            seq.wrapping_sub(left) as i32 >= 0 && right.wrapping_sub(seq) as i32 > 0
        };
        untold += u64::from(*duplicates > twice.iter().filter(covers).count() || !done(at));
    }
    let late_times = late_times(&mut originals);
    let late = late_times.len() as f64 / originals.len() as f64;
    let lost = lost + refused as f64;
    Expected {
        late,
        late_times,
        blur_ms: BLUR_MS,
        spurious,
        unreported: untold,
        in_flight: travelling,
        discarded: refused,
        unclear,
        lost,
        latest,
    }
}

/// Returns the case's path as two links, with the impairments on the first or on the second.
fn in_two_links(case: &Case, first: bool) -> String {
    let Case { rate, impairments, .. } = case;
    let half_ms = f64::from(case.delay_ms) / 2.0;
    let on_a = if first { *impairments } else { "" };
    let on_b = if first { "" } else { *impairments };
    format!(
        "[path]\nhops = ['a', 'b']\n\
         [link.a]\nrate = '{rate}'\ndelay = '{half_ms} ms'\nqueue = 100\n{on_a}\n\
         [link.b]\ndelay = '{half_ms} ms'\n{on_b}\n"
    )
}

/// Runs a transfer over the case's path and returns the faults in the analyses of its three captures;
/// `None` without the required privileges.
fn transferred(case: &Case, first: bool, kernel: bool, length: Length) -> Option<Vec<String>> {
    let scenario = over(case, true, &in_two_links(case, first));
    let competitor = if kernel {
        Competitor::kernels(&["cubic".to_owned()]).expect("every kernel has it")
    } else {
        let variants = scenario.senders(&[case.sender.to_owned()], "test").expect("a sender");
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
        resequence: None,
    };
    let mut left = Vec::new();
    let mut between = Vec::new();
    let mut right = Vec::new();
    let recording = Recording::new(&mut left)
        .and_then(|recording| recording.and(Place::Between, &mut between))
        .and_then(|recording| recording.and(Place::Right, &mut right));
    let mut recording = recording.expect("memory can be written");
    match course.run(Some(&mut recording), |_| ()) {
        Err(Error::Net(lack)) if lack.is_lack() => {
            eprintln!("skipped: {lack}");
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
    Some(faults_of_captures(&format!("{}, {sender}", case.name), &expected, captures))
}

/// The quantiles of a hundred late packets are within their bounds only if the emulator is on time.
#[test]
#[ignore = "real time on an idle machine"]
fn an_analysis_matches_what_happened_to_real_packets_at_three_places() {
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

/// `cargo test -p unruffled-race --test it -- --ignored --nocapture twenty`, as root.
#[test]
#[ignore = "fourteen minutes of real time"]
fn an_analysis_matches_what_happened_to_real_packets_on_twenty_paths() {
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
