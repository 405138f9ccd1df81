//! Segments with numbers near the edges of a connection's windows, on the borders of its segments,
//! or anywhere.

use unruffled_tcp::{Flags, SackBlocks, Segment, SeqNr, Timestamps};

use crate::input::{Bits, Input};

/// The sequence numbers of a connection that its peer has.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The number that the connection expects next.
    pub expected: SeqNr,
    /// The first number beyond its receive window.
    pub edge: SeqNr,
    /// Its oldest unacknowledged number.
    pub una: SeqNr,
    /// Its next number.
    pub nxt: SeqNr,
    /// The length of its segments.
    pub mss: u32,
    /// The timestamps of an honest peer.
    pub timestamps: Timestamps,
}

impl Numbers {
    /// Returns the acknowledgement of everything sent so far.
    pub fn honest(&self) -> Segment {
        Segment {
            seq: self.expected,
            ack: self.nxt,
            flags: Flags { ack: true, ..Flags::default() },
            window: u16::MAX,
            timestamps: Some(self.timestamps),
            ..Segment::default()
        }
    }

    /// Returns this acknowledgement with other values in the fields that the input's first octet
    /// selects.
    pub fn segment(&self, input: &mut Input<'_>) -> Segment {
        let mut segment = self.honest();
        let mut deviates = Bits::of(input.byte());
        if deviates.next() {
            segment.len = self.length(input);
        }
        if deviates.next() {
            segment.ack = self.near(self.una, self.nxt, input);
        }
        if deviates.next() {
            segment.seq = self.near(self.expected, self.edge, input);
        }
        if deviates.next() {
            segment.sack = self.blocks(input);
        }
        if deviates.next() {
            let mut set = Bits::of(input.byte());
            segment.flags = Flags {
                fin: set.next(),
                syn: set.next(),
                rst: set.next(),
                psh: set.next(),
                ack: !set.next(),
            };
        }
        if deviates.next() {
            segment.window = input.u16();
        }
        if deviates.next() {
            syn_options(&mut segment, input);
        }
        if deviates.next() {
            let mut set = Bits::of(input.byte());
            let (value, echo) = (self.timestamps.value, self.timestamps.echo);
            let mut shifted = |stamp: u32| {
                if set.next() { input.u32() } else { stamp.wrapping_add(u32::from(input.byte())) }
            };
            let stamps =
                Timestamps { value: shifted(value), echo: shifted(echo).wrapping_sub(128) };
            segment.timestamps = (!set.next()).then_some(stamps);
        }
        segment
    }

    /// Returns a number near `from` or `to`, or anywhere.
    pub fn near(&self, from: SeqNr, to: SeqNr, input: &mut Input<'_>) -> SeqNr {
        let byte = input.byte();
        let n = u32::from(byte >> 3);
        let back = |by: u32| from.add(by.wrapping_neg());
        match byte & 7 {
            0 => from.add(n * self.mss),
            1 => back(n * self.mss),
            2 => from.add(n),
            3 => back(n),
            4 => to.add(n.wrapping_sub(16)),
            5 => from.add(u32::from(input.u16())),
            6 => back(u32::from(input.u16())),
            _ => SeqNr(input.u32()),
        }
    }

    /// Returns a length, in octets or in segments.
    fn length(&self, input: &mut Input<'_>) -> u32 {
        let byte = input.byte();
        let n = u32::from(byte & 63);
        match byte >> 6 {
            0 if n == 0 => self.mss,
            0 => n,
            1 => self.mss,
            2 => n * self.mss,
            _ => u32::from(input.u16()),
        }
    }

    fn blocks(&self, input: &mut Input<'_>) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        for _ in 0..=input.byte() % 4 {
            let left = self.near(self.una, self.nxt, input);
            blocks.push(left, left.add(self.length(input)));
        }
        blocks
    }
}

/// Sets the options of a SYN.
pub fn syn_options(segment: &mut Segment, input: &mut Input<'_>) {
    let mut has = Bits::of(input.byte());
    segment.sack_permitted = has.next();
    segment.mss = has.next().then(|| input.u16());
    segment.window_scale = has.next().then(|| input.byte() % 17);
    if has.next() {
        segment.timestamps = None;
    }
}
