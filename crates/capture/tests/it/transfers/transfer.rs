//! Synthetic transfers with known ground truth: what a capture of them holds, and what an analysis
//! should find in it.

mod receiver;

use std::net::SocketAddr;

use proptest::prelude::*;
use unruffled_capture::{Analysis, Analyzer, Limits, Packet, Segment, Transport};
use unruffled_units::Instant;

use receiver::Receiver;

/// IP identifications of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ids {
    /// Consecutive, from this one on.
    Counter(u16),
    /// From the counter of a busy host, which moves by that many per second.
    Busy(u16),
    Random,
    Constant(u16),
    /// None, as in IPv6.
    None,
}

/// Retransmissions of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Retransmissions {
    /// Each lost segment unchanged.
    Unchanged,
    /// All data from the first loss on, in full segments.
    GoBackN,
}

/// Copies of each packet in the capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Copies {
    None,
    /// At a second interface, that many microseconds later.
    Interface(u32),
    /// At another interface of a bridge that the capture names, that many microseconds later.
    Bridge(u32),
    /// After that many routers, that many microseconds later.
    Routers(u8, u32),
    /// Like `Routers`, but the capture has the packets of the second place before those of the first.
    Reversed(u8, u32),
}

/// Course of the handshake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Opening {
    Seen,
    /// The capture begins later.
    Unseen,
    /// That many SYNs are lost, before the capture point if the flag is set, else after it.
    SynsLost(u8, bool),
    /// The SYN-ACK is lost, before the capture point if the flag is set, else after it.
    AnswerLost(bool),
}

/// Probes of a closed window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Probes {
    /// Without data, from an acknowledged octet.
    Old,
    /// With one new octet. If the flag is set, the receiver accepts the last probe.
    New(bool),
}

/// Parameters of a transfer.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) rtt_us: u64,
    /// Place of the capture: 0 at the sender, 1 at the receiver.
    pub(crate) place: f64,
    pub(crate) ids: Ids,
    /// Whether retransmissions keep the identification of the original.
    pub(crate) verbatim: bool,
    /// Tick of the timestamp clock in milliseconds, if the sender uses timestamps.
    pub(crate) stamps: Option<u32>,
    pub(crate) sack: bool,
    pub(crate) retransmissions: Retransmissions,
    pub(crate) copies: Copies,
    pub(crate) opening: Opening,
    /// Whether the server opens the connection.
    pub(crate) server_opens: bool,
    pub(crate) probes: Option<Probes>,
    /// Step of the capture's clock, in microseconds.
    pub(crate) clock_us: u64,
    pub(crate) sizes: Sizes,
    pub(crate) impairments: Impairments,
}

/// Sizes of segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Octets in a full segment.
    pub(crate) mss: u32,
    /// Octets that the application writes at a time.
    write: u32,
    /// Segments that the sender's host joins into one packet.
    joined: u32,
}

/// Numbers of rounds in a hundred that are impaired.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impairments {
    /// Rounds with losses.
    lossy: u32,
    /// Rounds with late packets.
    late: u32,
    /// Rounds with a spurious retransmission.
    spurious: u32,
}

pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    let ids = prop_oneof![
        4 => any::<u16>().prop_map(Ids::Counter),
        1 => (65_400..=u16::MAX).prop_map(Ids::Counter),
        2 => (100..6000_u16).prop_map(Ids::Busy),
        1 => Just(Ids::Random),
        2 => prop_oneof![Just(0), 1..100_u16].prop_map(Ids::Constant),
        2 => Just(Ids::None),
    ];
    let retransmissions =
        prop_oneof![2 => Just(Retransmissions::Unchanged), 1 => Just(Retransmissions::GoBackN)];
    let behind = (1..9_u8, 1000..20_000_u32);
    let copies = prop_oneof![
        4 => Just(Copies::None),
        1 => (5..700_u32).prop_map(Copies::Interface),
        1 => (5..20_000_u32).prop_map(Copies::Bridge),
        1 => behind.clone().prop_map(|(hops, us)| Copies::Routers(hops, us)),
        1 => behind.prop_map(|(hops, us)| Copies::Reversed(hops, us)),
    ];
    let opening = prop_oneof![
        4 => Just(Opening::Seen),
        1 => Just(Opening::Unseen),
        2 => (1..4_u8, any::<bool>()).prop_map(|(n, before)| Opening::SynsLost(n, before)),
        2 => any::<bool>().prop_map(Opening::AnswerLost),
    ];
    let probes = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Probes::Old)),
        2 => any::<bool>().prop_map(|accepted| Some(Probes::New(accepted))),
    ];
    let clock = prop_oneof![
        5 => Just(1_u64), 1 => Just(1000), 1 => Just(10_000), 1 => Just(15_625), 1 => Just(1_000_000),
    ];
    let sizes = prop_oneof![
        4 => (500..1461_u32).prop_map(|mss| (mss, mss, 1)),
        1 => (500..1461_u32, 20..1400_u32).prop_map(|(mss, write)| (mss, write.min(mss), 1)),
        1 => (500..1461_u32, 2..45_u32).prop_map(|(mss, joined)| (mss, mss, joined)),
    ];
    let place = prop_oneof![2 => Just(0.0), 2 => Just(1.0), 1 => 0.2..0.8];
    let stamps = proptest::option::of(prop_oneof![Just(1_u32), Just(10)]);
    let opening = (opening, any::<bool>());
    let impairments = (0..50_u32, 0..50_u32, 0..30_u32);
    let how = (ids, any::<bool>(), stamps, any::<bool>(), retransmissions);
    let what = (copies, opening, probes, clock, sizes, impairments);
    (any::<u64>(), 5000..400_000_u64, place, how, what).prop_map(
        |(seed, rtt_us, place, how, (copies, opening, probes, clock_us, sizes, impairments))| {
            let (ids, verbatim, stamps, sack, retransmissions) = how;
            Plan {
                seed,
                rtt_us,
                place,
                ids,
                // Within a step of the capture's clock, an unchanged retransmission looks like a copy.
                verbatim: verbatim
                    && matches!(ids, Ids::Counter(_))
                    && stamps.is_none()
                    && clock_us * 3 < rtt_us
                    // If the original was lost before the capture point, it looks like the original.
                    && place == 0.0,
                stamps,
                sack,
                retransmissions,
                copies,
                opening: opening.0,
                server_opens: opening.1,
                probes,
                clock_us,
                sizes: Sizes {
                    mss: sizes.0,
                    write: sizes.1,
                    joined: if place == 0.0 { sizes.2 } else { 1 },
                },
                impairments: Impairments {
                    lossy: impairments.0,
                    late: impairments.1,
                    spurious: if sack { impairments.2 } else { 0 },
                },
            }
        },
    )
}

/// Ground truth: what an analysis should find of the client's data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Truth {
    /// Retransmissions that passed, in packets.
    pub(crate) resent: u64,
    pub(crate) resent_octets: u64,
    /// Retransmissions of data that had arrived, in packets.
    pub(crate) spurious: u64,
    pub(crate) spurious_octets: u64,
    /// Originals that passed after one that was sent later.
    pub(crate) late: u64,
    pub(crate) copies: u64,
    pub(crate) probes: u64,
    pub(crate) closed_us: u64,
    pub(crate) octets: u64,
}

/// A transfer in progress.
pub(crate) struct Transfer {
    plan: Plan,
    random: u64,
    id: u16,
    receiver: Receiver,
    receiver_id: u16,
    window: u16,
    /// Last timestamp of the server.
    echo: u32,
    /// Packets that pass the capture point, with their times in microseconds.
    passing: Vec<(u64, Packet)>,
    now: u64,
    next: u64,
    /// Highest first octet of an original that has passed the capture point.
    highest: u64,
    /// Times at which originals pass the capture point, and their first octets.
    originals: Vec<(u64, u64)>,
    pub(crate) truth: Truth,
}

/// First octet of the stream, shortly before the sequence numbers wrap.
const FIRST: u64 = 0xffff_0000;

impl Transfer {
    /// Runs a transfer; returns the ground truth and the analysis of its capture.
    pub(crate) fn run(plan: &Plan) -> (Truth, Analysis) {
        let mut transfer = Self {
            random: plan.seed,
            id: match plan.ids {
                Ids::Counter(id) | Ids::Constant(id) => id,
                _ => 0,
            },
            receiver: Receiver::new(FIRST, plan.sack),
            receiver_id: 7,
            window: 60_000,
            echo: 1,
            passing: Vec::new(),
            now: 1_000_000,
            next: FIRST,
            highest: 0,
            originals: Vec::new(),
            truth: Truth::default(),
            plan: plan.clone(),
        };
        transfer.open();
        for round in 0..30 {
            transfer.round(round);
            if round == 20 && plan.probes.is_some() {
                transfer.close_window();
            }
        }
        transfer.count_late();
        let analysis = transfer.captured();
        (transfer.truth, analysis)
    }

    /// Returns a random number (SplitMix64).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn chance(&mut self, of_hundred: u32) -> bool {
        self.draw() % 100 < u64::from(of_hundred)
    }

    /// Returns the one-way delay, in microseconds.
    fn one_way_us(&self) -> u64 {
        self.plan.rtt_us / 2
    }

    fn next_id(&mut self) -> Option<u16> {
        match self.plan.ids {
            Ids::Counter(_) => {
                self.id = self.id.wrapping_add(1);
                Some(self.id)
            }
            Ids::Busy(rate) => {
                let others = self.now * u64::from(rate) / 1_000_000;
                self.id = self.id.wrapping_add(1);
                Some(self.id.wrapping_add(others as u16))
            }
            Ids::Random => Some(self.draw() as u16),
            Ids::Constant(id) => Some(id),
            Ids::None => None,
        }
    }

    /// Passes a packet of the client (0) or the server (1) at `at`, and its copy.
    fn pass(&mut self, from: usize, at: u64, id: Option<u16>, segment: Segment) {
        let ends = ["192.0.2.1:40000", "198.51.100.1:80"];
        let ends = ends.map(|end| end.parse::<SocketAddr>().expect("an address"));
        let packet = Packet {
            at: Instant::ZERO,
            from: ends[from],
            to: ends[1 - from],
            id,
            ttl: 60,
            interface: 0,
            length: 40 + segment.len,
            transport: Transport::Tcp(segment),
        };
        let (again, hops) = match self.plan.copies {
            Copies::None => {
                self.passing.push((at, packet));
                return;
            }
            Copies::Interface(us) | Copies::Bridge(us) => (us, 0),
            Copies::Routers(hops, us) => (us, hops),
            Copies::Reversed(hops, us) => (us, 0_u8.wrapping_sub(hops)),
        };
        let interface = u32::from(matches!(self.plan.copies, Copies::Bridge(_)));
        let copy = Packet { ttl: 60_u8.wrapping_sub(hops), interface, ..packet.clone() };
        // Packets of the client pass the first place first, and packets of the server the second.
        let (first, second) = if from == 0 { (packet, copy) } else { (copy, packet) };
        self.passing.push((at, first));
        self.passing.push((at + u64::from(again), second));
    }

    fn stamp(&self, at: u64) -> Option<u32> {
        self.plan.stamps.map(|tick| 1000 + (at / 1000 / u64::from(tick)) as u32)
    }

    /// Returns a segment of the client with the octets from `start` to `end`, sent now.
    fn packet(&self, start: u64, end: u64) -> Segment {
        Segment {
            seq: start as u32,
            ack: Some(1000),
            len: (end - start) as u32,
            window: 500,
            timestamps: self.stamp(self.now).map(|stamp| (stamp, self.echo)),
            ..Segment::default()
        }
    }

    /// Sends a packet of the client. `passes` and `arrives` are the extra delays with which it reaches the
    /// capture point and the server, or `None` if it does not.
    fn send(
        &mut self,
        id: Option<u16>,
        segment: Segment,
        passes: Option<u64>,
        arrives: Option<u64>,
    ) {
        let now = self.now;
        let one_way_us = self.one_way_us();
        if let Some(later) = passes {
            let at = now + (one_way_us as f64 * self.plan.place) as u64 + later;
            self.pass(0, at, id, segment);
        }
        if let Some(later) = arrives {
            self.receiver.expect(now + one_way_us + later, segment);
        }
    }

    /// Sends the server's acknowledgements of everything that has arrived by `until`.
    fn answer(&mut self, until: u64) {
        while let Some((at, answer)) = self.receiver.answer(until) {
            let back = (self.one_way_us() as f64 * (1.0 - self.plan.place)) as u64;
            let segment = Segment { window: self.window, ..answer };
            self.echo = segment.timestamps.map_or(1, |(stamp, _)| stamp);
            self.receiver_id = self.receiver_id.wrapping_add(1);
            let id = (self.plan.ids != Ids::None).then_some(self.receiver_id);
            self.pass(1, at + back, id, segment);
        }
    }

    /// Returns a SYN, or with `ack` a SYN-ACK, of end `from` at `at`, which echoes that timestamp.
    fn opening(&self, from: usize, at: u64, ack: bool, echo: u32) -> Segment {
        let options = if self.plan.stamps.is_some() { 12 } else { 0 };
        let first = [(FIRST as u32).wrapping_sub(1), 999];
        Segment {
            seq: first[from],
            ack: ack.then_some(first[1 - from].wrapping_add(1)),
            syn: true,
            mss: Some((self.plan.sizes.mss + options) as u16),
            window_scale: Some(0),
            sack_permitted: true,
            window: 60_000,
            timestamps: self.stamp_of(from, at).map(|stamp| (stamp, echo)),
            ..Segment::default()
        }
    }

    fn stamp_of(&self, from: usize, at: u64) -> Option<u32> {
        let server = self.plan.stamps.map(|_| 1 + (at / 1000) as u32);
        if from == 0 { self.stamp(at) } else { server }
    }

    fn open(&mut self) {
        let opener = usize::from(self.plan.server_opens);
        let one_way_us = self.one_way_us();
        let part = [self.plan.place, 1.0 - self.plan.place];
        let out = [part[opener], part[1 - opener]].map(|part| (one_way_us as f64 * part) as u64);
        let seen = self.plan.opening != Opening::Unseen;
        let timeout = 1_000_000;
        let (lost, before) = match self.plan.opening {
            Opening::SynsLost(lost, before) => (lost, before),
            _ => (0, false),
        };
        for n in 0..=lost {
            let id = self.next_id();
            let syn = self.opening(opener, self.now, false, 0);
            if seen && (n == lost || !before) {
                self.pass(opener, self.now + out[0], id, syn);
            }
            if n < lost {
                self.now += timeout << n;
            }
        }
        let echo = self.stamp_of(opener, self.now).unwrap_or(0);
        let mut answered = self.now + one_way_us;
        if let Opening::AnswerLost(before) = self.plan.opening {
            let id = self.next_id();
            let answer = self.opening(1 - opener, answered, true, echo);
            if !before {
                self.pass(1 - opener, answered + out[1], id, answer);
            }
            answered += 3 * timeout;
        }
        self.now = answered;
        let id = self.next_id();
        let answer = self.opening(1 - opener, answered, true, echo);
        if seen {
            self.pass(1 - opener, answered + out[1], id, answer);
        }
        self.now = answered + one_way_us;
        let echo = self.stamp_of(1 - opener, answered).unwrap_or(0);
        let plain = self.opening(opener, self.now, true, echo);
        let plain = Segment {
            seq: plain.seq.wrapping_add(1),
            syn: false,
            mss: None,
            window_scale: None,
            sack_permitted: false,
            ..plain
        };
        let id = self.next_id();
        if seen {
            self.pass(opener, self.now + out[0], id, plain);
        }
        let last = if opener == 0 { self.now } else { answered };
        self.receiver.set_stamp(self.stamp(last));
        self.echo = self.stamp_of(1, if opener == 0 { answered } else { self.now }).unwrap_or(1);
        // The handshake is complete at the client.
        self.now += 100 + if opener == 0 { 0 } else { one_way_us };
    }

    /// Sends a flight of the client. All of it arrives in the end.
    fn round(&mut self, round: u32) {
        // The first rounds are in order, so that the analysis can determine the kind of identifications.
        let troubled = round >= 4;
        let lossy = troubled && self.chance(self.plan.impairments.lossy);
        let late =
            troubled && !lossy && self.plan.place > 0.0 && self.chance(self.plan.impairments.late);
        let spurious = troubled && !lossy && !late && self.chance(self.plan.impairments.spurious);
        let joined = self.plan.sizes.joined;
        let count = if joined > 1 { 1 + self.draw() % 3 } else { 6 + self.draw() % 15 };
        let begin = self.next;
        let gap = 50 + self.draw() % 150;
        let write = u64::from(self.plan.sizes.write * joined);
        // The last segment of a flight may be shorter.
        let flight: Vec<(u64, u64)> = (0..count)
            .map(|n| {
                let short = n + 1 == count && self.draw().is_multiple_of(2);
                let len = if short { 2 + self.draw() % (write - 1) } else { write };
                // A segment slightly longer than a full one would look like a full one without options.
                let mss = u64::from(self.plan.sizes.mss);
                let len = if (mss..=mss + 12).contains(&len) { mss } else { len };
                let start = self.next;
                self.next += len;
                (start, start + len)
            })
            .collect();
        let all = self.plan.retransmissions == Retransmissions::GoBackN;
        let unlucky = 1 + self.draw() % (count - 1).max(1);
        let mut lost = Vec::new();
        let mut sent = Vec::new();
        for (n, &(start, end)) in (0..).zip(&flight) {
            let is_lost = lossy
                && if all { n >= unlucky } else { n == unlucky || n > unlucky && self.chance(20) };
            // If the last segment is lost before the capture point, nothing shows that it was sent.
            let before = is_lost && n + 1 < count && self.plan.place > 0.0 && self.chance(60);
            let max_us = self.plan.rtt_us * 6 / 10;
            let rtt = gap * 2;
            let later = match late && n + 1 < count && self.chance(30) {
                true => rtt + self.draw() % max_us.max(rtt + 1),
                false => 0,
            };
            let id = self.next_id();
            let segment = self.packet(start, end);
            let passes = (!before).then_some(later);
            self.send(id, segment, passes, (!is_lost).then_some(later));
            if let Some(later) = passes {
                let at = self.now + (self.one_way_us() as f64 * self.plan.place) as u64 + later;
                self.originals.push((at, start));
            }
            if is_lost {
                lost.push((start, end, id));
            }
            sent.push((start, end, id));
            // The pieces of a joined packet are numbered consecutively.
            self.id = match self.plan.ids {
                Ids::Counter(_) | Ids::Busy(_) => self.id.wrapping_add((joined - 1) as u16),
                _ => self.id,
            };
            self.now += gap;
        }
        // By then, the late packets and all acknowledgements have arrived.
        self.now += self.plan.rtt_us * 2;
        self.answer(self.now - self.one_way_us());
        if lossy {
            let timeout = if self.draw().is_multiple_of(2) { 0 } else { 300_000 };
            self.now += timeout;
            match self.plan.retransmissions {
                Retransmissions::Unchanged => {
                    for (start, end, id) in lost {
                        self.retransmit(start, end, id, false);
                    }
                }
                Retransmissions::GoBackN => {
                    let from = lost.first().map_or(self.next, |lost| lost.0);
                    self.retransmit(from, self.next, None, false);
                }
            }
        } else if spurious {
            let at = (self.draw() % count) as usize;
            let (start, mut end, id) = sent[at];
            if all {
                end = sent[at + (self.draw() % (count - at as u64)) as usize].1;
            }
            self.retransmit(start, end, id, true);
        }
        self.now += self.plan.rtt_us * 2;
        self.answer(self.now - self.one_way_us());
        self.truth.octets += self.next - begin;
    }

    /// Retransmits the octets from `start` to `end` in full segments.
    fn retransmit(&mut self, start: u64, end: u64, id: Option<u16>, spurious: bool) {
        let mss = u64::from(self.plan.sizes.mss);
        let mut from = start;
        while from < end {
            // A single last octet would look like a keep-alive.
            let to = end.min(from + mss);
            let to = if to + 1 == end { to - 1 } else { to };
            let whole = from == start
                && to == end
                && self.plan.retransmissions == Retransmissions::Unchanged;
            let id = match id {
                Some(id) if self.plan.verbatim && whole => Some(id),
                _ => self.next_id(),
            };
            let segment = self.packet(from, to);
            self.send(id, segment, Some(0), Some(0));
            self.truth.resent += 1;
            self.truth.resent_octets += to - from;
            if spurious {
                self.truth.spurious += 1;
                self.truth.spurious_octets += to - from;
            }
            self.now += 100;
            from = to;
        }
    }

    /// Closes the receiver's window for some seconds.
    fn close_window(&mut self) {
        let Some(probes) = self.plan.probes else { return };
        let rtt = self.plan.rtt_us;
        // The acknowledgement of one more segment closes the window.
        let start = self.next;
        let end = self.next + u64::from(self.plan.sizes.mss);
        let id = self.next_id();
        let segment = self.packet(start, end);
        self.send(id, segment, Some(0), Some(0));
        self.originals
            .push((self.now + (self.one_way_us() as f64 * self.plan.place) as u64, start));
        self.next = end;
        self.window = 0;
        self.truth.octets += end - start;
        self.now += rtt;
        self.answer(self.now);
        let closed_at = self.now;
        for n in 0..4_u32 {
            self.now += 400_000 << n;
            let id = self.next_id();
            let accepted = n == 3 && probes == Probes::New(true);
            let segment = match probes {
                Probes::Old => self.packet(self.next - 1, self.next - 1),
                Probes::New(_) => self.packet(self.next, self.next + 1),
            };
            self.truth.probes += 1;
            self.send(id, segment, Some(0), accepted.then_some(0));
            if accepted {
                self.originals.push((
                    self.now + (self.one_way_us() as f64 * self.plan.place) as u64,
                    self.next,
                ));
                self.next += 1;
                self.truth.octets += 1;
            } else {
                self.receiver.repeat(self.now + self.one_way_us());
            }
            self.now += rtt;
            self.answer(self.now - self.one_way_us());
        }
        self.now += 500_000;
        self.window = 60_000;
        self.receiver.repeat(self.now - self.one_way_us());
        self.answer(self.now);
        self.truth.closed_us = self.now - closed_at;
        self.now += 50;
    }

    /// Counts late packets: those that passed after a packet that was sent later.
    fn count_late(&mut self) {
        self.originals.sort_by_key(|&(at, _)| at);
        for &(_, start) in &self.originals {
            self.truth.late += u64::from(start < self.highest);
            self.highest = self.highest.max(start);
        }
    }

    /// Returns the analysis of the capture.
    fn captured(&mut self) -> Analysis {
        self.passing.sort_by_key(|(at, _)| *at);
        let mut analyzer = Analyzer::new(Limits::default());
        for (at, packet) in &self.passing {
            let at = at / self.plan.clock_us * self.plan.clock_us;
            analyzer.packet(&Packet { at: Instant::from_nanos(at * 1000), ..packet.clone() });
        }
        if self.plan.copies != Copies::None {
            let known = self.plan.opening != Opening::Unseen;
            let segments = |(_, packet): &(u64, Packet)| match packet.transport {
                Transport::Tcp(segment) if known => {
                    u64::from(segment.len.div_ceil(self.plan.sizes.mss))
                }
                Transport::Tcp(segment) => u64::from(segment.len.min(1)),
                Transport::Udp(_) | Transport::Esp(_) | Transport::Gre(_) => 0,
            };
            let probes = match self.plan.probes {
                Some(Probes::New(_)) => self.truth.probes,
                _ => 0,
            };
            self.truth.copies = self.passing.iter().map(segments).sum::<u64>() / 2 - probes;
        }
        analyzer.finish()
    }
}
