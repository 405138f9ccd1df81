//! Transfers that are made up, of which everything is known: what a capture of them holds, and what
//! should be found in it.

mod peers;

use std::net::SocketAddr;

use proptest::prelude::*;
use unruffled_capture::{Analysis, Analyzer, Limits, Packet, Segment, Transport};
use unruffled_units::Instant;

use peers::Receiver;

/// How a sender numbers its IP packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ids {
    /// One by one, from here.
    Counter(u16),
    /// By a counter that moves by so many in a second, whoever sends.
    Busy(u16),
    Random,
    Constant(u16),
    /// IPv6.
    None,
}

/// What a sender does with what is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Resends {
    /// Each segment as it was.
    Alike,
    /// All from the first that is lost on, in full segments.
    FromThere,
}

/// What a capture has of each packet beside the first passing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Copies {
    None,
    /// At another interface, so many microseconds later.
    Interface(u32),
    /// Behind so many routers, so many microseconds later.
    Routers(u8, u32),
    /// The same in a capture that has the packets of the second place before those of the first.
    Reversed(u8, u32),
}

/// What becomes of the handshake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Opening {
    Seen,
    /// The capture begins later.
    Unseen,
    /// So many SYNs are lost, before they pass the capture or behind it.
    SynsLost(u8, bool),
    /// The answer is lost, before it passes the capture or behind it.
    AnswerLost(bool),
}

/// How a sender probes a closed window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Probes {
    /// Without data, of an octet that is acknowledged.
    Old,
    /// With one octet more; whether the receiver takes the last.
    New(bool),
}

/// A transfer.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) rtt_us: u64,
    /// Where the capture is made: 0 at the sender, 1 at the receiver.
    pub(crate) place: f64,
    pub(crate) ids: Ids,
    /// Whether packets that are sent again keep their identification.
    pub(crate) verbatim: bool,
    /// Milliseconds of a tick of the sender's clock, if it sends timestamps.
    pub(crate) stamps: Option<u32>,
    pub(crate) sack: bool,
    pub(crate) resends: Resends,
    pub(crate) copies: Copies,
    pub(crate) opening: Opening,
    /// Whether it is the server that opens the connection.
    pub(crate) server_opens: bool,
    pub(crate) probes: Option<Probes>,
    /// Microseconds of a tick of the capture's clock.
    pub(crate) clock_us: u64,
    /// Octets of a full segment, and of what the application writes at a time.
    pub(crate) mss: u32,
    pub(crate) write: u32,
    /// Segments that the sender's host passes as one.
    pub(crate) joined: u32,
    /// Of a hundred rounds, those in which something is lost, is late, or is sent again though it
    /// arrived.
    pub(crate) lossy: u32,
    pub(crate) late: u32,
    pub(crate) spurious: u32,
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
    let resends = prop_oneof![2 => Just(Resends::Alike), 1 => Just(Resends::FromThere)];
    let behind = (1..9_u8, 1000..20_000_u32);
    let copies = prop_oneof![
        4 => Just(Copies::None),
        1 => (5..700_u32).prop_map(Copies::Interface),
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
        2 => any::<bool>().prop_map(|taken| Some(Probes::New(taken))),
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
    let troubles = (0..50_u32, 0..50_u32, 0..30_u32);
    let how = (ids, any::<bool>(), stamps, any::<bool>(), resends);
    let what = (copies, opening, probes, clock, sizes, troubles);
    (any::<u64>(), 5000..400_000_u64, place, how, what).prop_map(
        |(seed, rtt_us, place, how, (copies, opening, probes, clock_us, sizes, troubles))| {
            let (ids, verbatim, stamps, sack, resends) = how;
            Plan {
                seed,
                rtt_us,
                place,
                ids,
                // Within a tick of the capture's clock, nothing tells it from a copy.
                verbatim: verbatim
                    && matches!(ids, Ids::Counter(_))
                    && stamps.is_none()
                    && clock_us * 3 < rtt_us
                    // Where the original was lost before, it looks like that.
                    && place == 0.0,
                stamps,
                sack,
                resends,
                copies,
                opening: opening.0,
                server_opens: opening.1,
                probes,
                clock_us,
                mss: sizes.0,
                write: sizes.1,
                joined: if place == 0.0 { sizes.2 } else { 1 },
                lossy: troubles.0,
                late: troubles.1,
                spurious: if sack { troubles.2 } else { 0 },
            }
        },
    )
}

/// What an analysis should find of the client's data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Truth {
    /// Packets that passed as sent again, and the octets of them; of these, what had arrived already.
    pub(crate) resent: u64,
    pub(crate) resent_octets: u64,
    pub(crate) spurious: u64,
    pub(crate) spurious_octets: u64,
    /// Originals that passed after one that was sent later.
    pub(crate) late: u64,
    pub(crate) copies: u64,
    pub(crate) probes: u64,
    pub(crate) closed_us: u64,
    pub(crate) octets: u64,
}

/// A transfer that is going on.
pub(crate) struct Transfer {
    plan: Plan,
    random: u64,
    id: u16,
    receiver: Receiver,
    receiver_id: u16,
    window: u16,
    /// The server's last timestamp.
    echo: u32,
    /// What passes the capture: when, and the packet.
    passing: Vec<(u64, Packet)>,
    now: u64,
    next: u64,
    /// The highest first octet of an original that has passed the capture.
    highest: u64,
    originals: Vec<(u64, u64)>,
    pub(crate) truth: Truth,
}

const FIRST: u64 = 0xffff_0000;

impl Transfer {
    /// All of it, and what its capture shows.
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

    /// Splitmix64.
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

    /// One way.
    fn there(&self) -> u64 {
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

    /// A packet of the client (0) or the server passes the capture at `at`.
    fn pass(&mut self, from: usize, at: u64, id: Option<u16>, segment: Segment) {
        let ends = ["192.0.2.1:40000", "198.51.100.1:80"];
        let ends = ends.map(|end| end.parse::<SocketAddr>().expect("an address"));
        let packet = Packet {
            at: Instant::ZERO,
            from: ends[from],
            to: ends[1 - from],
            id,
            ttl: 60,
            length: 40 + segment.len,
            transport: Transport::Tcp(segment),
        };
        let (again, hops) = match self.plan.copies {
            Copies::None => {
                self.passing.push((at, packet));
                return;
            }
            Copies::Interface(us) => (us, 0),
            Copies::Routers(hops, us) => (us, hops),
            Copies::Reversed(hops, us) => (us, 0_u8.wrapping_sub(hops)),
        };
        let copy = Packet { ttl: 60_u8.wrapping_sub(hops), ..packet.clone() };
        // What the client sends passes the first place first, what the server sends the second.
        let (first, second) = if from == 0 { (packet, copy) } else { (copy, packet) };
        self.passing.push((at, first));
        self.passing.push((at + u64::from(again), second));
    }

    fn stamp(&self, at: u64) -> Option<u32> {
        self.plan.stamps.map(|tick| 1000 + (at / 1000 / u64::from(tick)) as u32)
    }

    /// The client sends the octets from `start` to `end` at `now`, as a packet of that identification.
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

    /// What the client sends now reaches the capture, if it does, and the server `later` than usual, if
    /// it does.
    fn send(
        &mut self,
        id: Option<u16>,
        segment: Segment,
        passes: Option<u64>,
        arrives: Option<u64>,
    ) {
        let (now, there) = (self.now, self.there());
        if let Some(later) = passes {
            let at = now + (there as f64 * self.plan.place) as u64 + later;
            self.pass(0, at, id, segment);
        }
        if let Some(later) = arrives {
            self.receiver.expect(now + there + later, segment);
        }
    }

    /// The server answers what has arrived by `until`.
    fn answer(&mut self, until: u64) {
        while let Some((at, told)) = self.receiver.answer(until) {
            let back = (self.there() as f64 * (1.0 - self.plan.place)) as u64;
            let segment = Segment { window: self.window, ..told };
            self.echo = segment.timestamps.map_or(1, |(stamp, _)| stamp);
            self.receiver_id = self.receiver_id.wrapping_add(1);
            let id = (self.plan.ids != Ids::None).then_some(self.receiver_id);
            self.pass(1, at + back, id, segment);
        }
    }

    /// A packet of the handshake that end `from` sends at `at`, which echoes that timestamp.
    fn opening(&self, from: usize, at: u64, ack: bool, echo: u32) -> Segment {
        let options = if self.plan.stamps.is_some() { 12 } else { 0 };
        let first = [(FIRST as u32).wrapping_sub(1), 999];
        Segment {
            seq: first[from],
            ack: ack.then_some(first[1 - from].wrapping_add(1)),
            syn: true,
            mss: Some((self.plan.mss + options) as u16),
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
        let there = self.there();
        let part = [self.plan.place, 1.0 - self.plan.place];
        let out = [part[opener], part[1 - opener]].map(|part| (there as f64 * part) as u64);
        let seen = self.plan.opening != Opening::Unseen;
        let timeout = 1_000_000;
        let (lost, before) = match self.plan.opening {
            Opening::SynsLost(lost, before) => (lost, before),
            _ => (0, false),
        };
        for n in 0..=lost {
            let (id, syn) = (self.next_id(), self.opening(opener, self.now, false, 0));
            if seen && (n == lost || !before) {
                self.pass(opener, self.now + out[0], id, syn);
            }
            if n < lost {
                self.now += timeout << n;
            }
        }
        let echo = self.stamp_of(opener, self.now).unwrap_or(0);
        let mut answered = self.now + there;
        if let Opening::AnswerLost(before) = self.plan.opening {
            let (id, answer) = (self.next_id(), self.opening(1 - opener, answered, true, echo));
            if !before {
                self.pass(1 - opener, answered + out[1], id, answer);
            }
            answered += 3 * timeout;
        }
        self.now = answered;
        let (id, answer) = (self.next_id(), self.opening(1 - opener, answered, true, echo));
        if seen {
            self.pass(1 - opener, answered + out[1], id, answer);
        }
        self.now = answered + there;
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
        self.receiver.stamp(self.stamp(last));
        self.echo = self.stamp_of(1, if opener == 0 { answered } else { self.now }).unwrap_or(1);
        // The client has it all.
        self.now += 100 + if opener == 0 { 0 } else { there };
    }

    /// The client sends a flight, and all of it arrives in the end.
    fn round(&mut self, round: u32) {
        // Every analysis learns how a sender numbers its packets from some that are in order.
        let troubled = round >= 4;
        let lossy = troubled && self.chance(self.plan.lossy);
        let late = troubled && !lossy && self.plan.place > 0.0 && self.chance(self.plan.late);
        let spurious = troubled && !lossy && !late && self.chance(self.plan.spurious);
        let joined = self.plan.joined;
        let count = if joined > 1 { 1 + self.draw() % 3 } else { 6 + self.draw() % 15 };
        let begin = self.next;
        let gap = 50 + self.draw() % 150;
        let write = u64::from(self.plan.write * joined);
        // The last of a flight may be shorter.
        let flight: Vec<(u64, u64)> = (0..count)
            .map(|n| {
                let short = n + 1 == count && self.draw().is_multiple_of(2);
                let len = if short { 2 + self.draw() % (write - 1) } else { write };
                // A little more than a full segment would be one without options.
                let mss = u64::from(self.plan.mss);
                let len = if (mss..=mss + 12).contains(&len) { mss } else { len };
                let start = self.next;
                self.next += len;
                (start, start + len)
            })
            .collect();
        let all = self.plan.resends == Resends::FromThere;
        let unlucky = 1 + self.draw() % (count - 1).max(1);
        let (mut lost, mut sent) = (Vec::new(), Vec::new());
        for (n, &(start, end)) in (0..).zip(&flight) {
            let is_lost = lossy
                && if all { n >= unlucky } else { n == unlucky || n > unlucky && self.chance(20) };
            // Of the last, nobody would see that it was sent before.
            let before = is_lost && n + 1 < count && self.plan.place > 0.0 && self.chance(60);
            let (most, rtt) = (self.plan.rtt_us * 6 / 10, gap * 2);
            let later = match late && n + 1 < count && self.chance(30) {
                true => rtt + self.draw() % most.max(rtt + 1),
                false => 0,
            };
            let id = self.next_id();
            let segment = self.packet(start, end);
            let passes = (!before).then_some(later);
            self.send(id, segment, passes, (!is_lost).then_some(later));
            if let Some(later) = passes {
                let at = self.now + (self.there() as f64 * self.plan.place) as u64 + later;
                self.originals.push((at, start));
            }
            if is_lost {
                lost.push((start, end, id));
            }
            sent.push((start, end, id));
            // The pieces of what is joined have numbers of their own.
            self.id = match self.plan.ids {
                Ids::Counter(_) | Ids::Busy(_) => self.id.wrapping_add((joined - 1) as u16),
                _ => self.id,
            };
            self.now += gap;
        }
        // Its acknowledgements, and whatever came late, are there.
        self.now += self.plan.rtt_us * 2;
        self.answer(self.now - self.there());
        if lossy {
            let timeout = if self.draw().is_multiple_of(2) { 0 } else { 300_000 };
            self.now += timeout;
            match self.plan.resends {
                Resends::Alike => {
                    for (start, end, id) in lost {
                        self.resend_pieces(start, end, id, false);
                    }
                }
                Resends::FromThere => {
                    let from = lost.first().map_or(self.next, |lost| lost.0);
                    self.resend_pieces(from, self.next, None, false);
                }
            }
        } else if spurious {
            let at = (self.draw() % count) as usize;
            let (start, mut end, id) = sent[at];
            if all {
                end = sent[at + (self.draw() % (count - at as u64)) as usize].1;
            }
            self.resend_pieces(start, end, id, true);
        }
        self.now += self.plan.rtt_us * 2;
        self.answer(self.now - self.there());
        self.truth.octets += self.next - begin;
    }

    /// The octets from `start` to `end` are sent again, as full segments.
    fn resend_pieces(&mut self, start: u64, end: u64, id: Option<u16>, spurious: bool) {
        let mss = u64::from(self.plan.mss);
        let mut from = start;
        while from < end {
            // A last octet alone looks like a keep-alive.
            let to = end.min(from + mss);
            let to = if to + 1 == end { to - 1 } else { to };
            let whole = from == start && to == end && self.plan.resends == Resends::Alike;
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

    /// The receiver's application stops reading for some seconds.
    fn close_window(&mut self) {
        let Some(probes) = self.plan.probes else { return };
        let rtt = self.plan.rtt_us;
        // One more segment, whose acknowledgement closes the window.
        let (start, end) = (self.next, self.next + u64::from(self.plan.mss));
        let id = self.next_id();
        let segment = self.packet(start, end);
        self.send(id, segment, Some(0), Some(0));
        self.originals.push((self.now + (self.there() as f64 * self.plan.place) as u64, start));
        (self.next, self.window) = (end, 0);
        self.truth.octets += end - start;
        self.now += rtt;
        self.answer(self.now);
        let closed_at = self.now;
        for n in 0..4_u32 {
            self.now += 400_000 << n;
            let id = self.next_id();
            let taken = n == 3 && probes == Probes::New(true);
            let segment = match probes {
                Probes::Old => self.packet(self.next - 1, self.next - 1),
                Probes::New(_) => self.packet(self.next, self.next + 1),
            };
            self.truth.probes += 1;
            self.send(id, segment, Some(0), taken.then_some(0));
            if taken {
                self.originals
                    .push((self.now + (self.there() as f64 * self.plan.place) as u64, self.next));
                self.next += 1;
                self.truth.octets += 1;
            } else {
                self.receiver.repeat(self.now + self.there());
            }
            self.now += rtt;
            self.answer(self.now - self.there());
        }
        self.now += 500_000;
        self.window = 60_000;
        self.receiver.repeat(self.now - self.there());
        self.answer(self.now);
        self.truth.closed_us = self.now - closed_at;
        self.now += 50;
    }

    /// What was sent before something that passed earlier is late.
    fn count_late(&mut self) {
        self.originals.sort_by_key(|&(at, _)| at);
        for &(_, start) in &self.originals {
            self.truth.late += u64::from(start < self.highest);
            self.highest = self.highest.max(start);
        }
    }

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
                Transport::Tcp(segment) if known => u64::from(segment.len.div_ceil(self.plan.mss)),
                Transport::Tcp(segment) => u64::from(segment.len.min(1)),
                Transport::Udp(_) => 0,
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
