//! SYN cookies (RFC 4987, section 3.6): when the table of requests is full, what is needed of a SYN
//! goes into the numbers of the SYN-ACK, and comes back with the acknowledgement.
//!
//! As in Linux (`net/ipv4/syncookies.c`), the initial sequence number is the peer's, plus a keyed
//! hash of the two ends, plus in the upper octet a counter of minutes and in the lower three an index
//! into a table of segment sizes, hidden by a keyed hash of ends and counter. Window scale and SACK
//! stand in the low bits of the timestamp, where the peer sends timestamps; else there is neither.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;
use unruffled_tcp::{Segment, SeqNr, Timestamps};
use unruffled_units::{Duration, Instant};

use super::FourTuple;
use super::secret::hash_address;

/// The counter's tick.
const TICK: Duration = Duration::from_secs(64);
/// A cookie is good in the tick that it was made in and in the next.
const OLDEST: u32 = 1;
/// Largest segments that a cookie can name, over IPv4 and IPv6 (Linux's).
const SIZES_V4: [u16; 4] = [536, 1300, 1440, 1460];
const SIZES_V6: [u16; 4] = [1220, 1420, 1440, 8940];

const LOW_24: u32 = 0x00ff_ffff;
/// The timestamp's bits: four of window scale (all set: none), one of SACK, one that is free.
const STAMP_BITS: u32 = 0x3f;
const NO_SCALE: u32 = 0xf;
const SACK: u32 = 0x10;

/// Makes cookies, and knows them again.
#[derive(Clone)]
pub(super) struct Cookies {
    key: [u8; 16],
    /// When the last one was made.
    made: Option<Instant>,
}

impl std::fmt::Debug for Cookies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cookies").field("made", &self.made).finish_non_exhaustive()
    }
}

impl Cookies {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self { key, made: None }
    }

    /// The initial sequence number that answers `syn`.
    pub(super) fn make(&mut self, ends: FourTuple, syn: &Segment, now: Instant) -> u32 {
        self.made = Some(now);
        let sizes = sizes(ends);
        let mss = syn.mss.unwrap_or(sizes[0]);
        let index = sizes.iter().rposition(|&size| size <= mss).unwrap_or(0) as u32;
        let counter = counter(now);
        self.hash(ends, None)
            .wrapping_add(syn.seq.0)
            .wrapping_add(counter << 24)
            .wrapping_add(self.hash(ends, Some(counter)).wrapping_add(index) & LOW_24)
    }

    /// The SYN that the answer with `isn` belonged to, if it was one of ours and not long ago, as
    /// far as that can be told from what acknowledges it.
    pub(super) fn check(&self, ends: FourTuple, ack: &Segment, now: Instant) -> Option<Segment> {
        let lifetime = TICK * u64::from(OLDEST + 1);
        self.made.filter(|&made| now.since(made) <= lifetime)?;
        let (isn, peer_isn) = (ack.ack.0.wrapping_sub(1), ack.seq.0.wrapping_sub(1));
        let cookie = isn.wrapping_sub(self.hash(ends, None)).wrapping_sub(peer_isn);
        let age = counter(now).wrapping_sub(cookie >> 24) & 0xff;
        if age > OLDEST {
            return None;
        }
        let counter = counter(now).wrapping_sub(age);
        let index = cookie.wrapping_sub(self.hash(ends, Some(counter))) & LOW_24;
        let mss = *sizes(ends).get(index as usize)?;
        let options = ack.timestamps.map(|timestamps| timestamps.echo & STAMP_BITS);
        let scale = options.map(|bits| bits & NO_SCALE).filter(|&scale| scale != NO_SCALE);
        Some(Segment {
            seq: SeqNr(peer_isn),
            flags: unruffled_tcp::Flags { syn: true, ..Default::default() },
            window: ack.window,
            mss: Some(mss),
            window_scale: scale.map(|scale| scale as u8),
            sack_permitted: options.is_some_and(|bits| bits & SACK != 0),
            timestamps: ack.timestamps,
            ..Segment::default()
        })
    }

    /// SipHash-2-4 of the ends, and of the counter if that belongs to it.
    fn hash(&self, ends: FourTuple, counter: Option<u32>) -> u32 {
        let mut hash = SipHasher24::new_with_key(&self.key);
        hash_address(&mut hash, ends.local);
        hash_address(&mut hash, ends.remote);
        if let Some(counter) = counter {
            hash.write_u32(counter);
        }
        hash.finish() as u32
    }
}

/// Makes `answer` a SYN-ACK from which all comes back: its timestamp says what it offers, and without
/// one it offers nothing. A timestamp is lowered rather than raised, since the clock must not be seen
/// to go back later.
pub(super) fn write_options(answer: &mut Segment, syn: &Segment) {
    let Some(Timestamps { value, echo }) = answer.timestamps else {
        answer.window_scale = None;
        answer.sack_permitted = false;
        return;
    };
    let scale = answer.window_scale.and(syn.window_scale).map_or(NO_SCALE, |scale| {
        // RFC 7323, section 2.3: a shift greater than 14 is taken for 14.
        u32::from(scale.min(14))
    });
    let bits = scale | if answer.sack_permitted { SACK } else { 0 };
    let mut stamped = (value & !STAMP_BITS) | bits;
    if stamped > value {
        stamped = stamped.wrapping_sub(STAMP_BITS + 1);
    }
    answer.timestamps = Some(Timestamps { value: stamped, echo });
}

fn counter(now: Instant) -> u32 {
    (now.as_nanos() / TICK.as_nanos()) as u32
}

fn sizes(ends: FourTuple) -> [u16; 4] {
    if ends.local.is_ipv4() { SIZES_V4 } else { SIZES_V6 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends(port: u16) -> FourTuple {
        FourTuple { local: ([10, 0, 0, 2], 80).into(), remote: ([10, 0, 0, 1], port).into() }
    }

    fn acknowledges(syn: &Segment, isn: u32) -> Segment {
        Segment { seq: syn.seq.add(1), ack: SeqNr(isn).add(1), ..Segment::default() }
    }

    #[test]
    fn a_cookie_is_good_for_a_minute_and_for_these_ends_only() {
        let mut cookies = Cookies::new([1; 16]);
        let syn = Segment { seq: SeqNr(9), mss: Some(1400), ..Segment::default() };
        let now = Instant::from_millis(1_000_000);
        let isn = cookies.make(ends(7), &syn, now);
        let ack = acknowledges(&syn, isn);
        assert_eq!(cookies.check(ends(7), &ack, now).and_then(|syn| syn.mss), Some(1300));
        let later = |seconds| now + Duration::from_secs(seconds);
        assert!(cookies.check(ends(7), &ack, later(64)).is_some());
        assert!(cookies.check(ends(7), &ack, later(129)).is_none(), "too old");
        cookies.made = Some(later(129));
        assert!(cookies.check(ends(7), &ack, later(129)).is_none(), "too old, under a flood");
        assert!(cookies.check(ends(8), &ack, now).is_none(), "another peer");
        let mut other = Cookies::new([2; 16]);
        other.made = Some(now);
        assert!(other.check(ends(7), &ack, now).is_none(), "another key");
        assert!(Cookies::new([1; 16]).check(ends(7), &ack, now).is_none(), "none was made");
    }

    #[test]
    fn guesses_hit_no_more_often_than_the_table_of_sizes_allows() {
        let mut cookies = Cookies::new([1; 16]);
        let now = Instant::from_millis(1_000_000);
        cookies.make(ends(7), &Segment::default(), now);
        let tries = 1 << 21;
        let hits = (0..tries).filter(|&guess: &u32| {
            let ack =
                Segment { ack: SeqNr(guess.wrapping_mul(2_654_435_761)), ..Segment::default() };
            cookies.check(ends(7), &ack, now).is_some()
        });
        // 2 ticks, 4 sizes, 2^32 numbers: 0.004 are expected of so many.
        assert!(hits.count() <= 2);
    }

    proptest! {
        #[test]
        fn what_was_offered_comes_back(
            seq: u32, value: u32, scale in prop::option::of(0_u8..=14), sack: bool, mss: u16,
            at in 0_u64..1 << 50,
        ) {
            let mut cookies = Cookies::new([1; 16]);
            let now = Instant::from_nanos(at);
            let syn = Segment {
                seq: SeqNr(seq),
                mss: Some(mss),
                window_scale: scale,
                sack_permitted: sack,
                ..Segment::default()
            };
            let mut answer = Segment {
                timestamps: Some(Timestamps { value, echo: 1 }),
                window_scale: scale.map(|_| 6),
                sack_permitted: sack,
                ..Segment::default()
            };
            write_options(&mut answer, &syn);
            let echo = answer.timestamps.map_or(0, |timestamps| timestamps.value);
            prop_assert!(value.wrapping_sub(echo) <= STAMP_BITS, "{value} became {echo}");
            let mut ack = acknowledges(&syn, cookies.make(ends(7), &syn, now));
            ack.timestamps = Some(Timestamps { value: 5, echo });
            let back = cookies.check(ends(7), &ack, now);
            let back = back.ok_or_else(|| TestCaseError::fail("not known again"))?;
            prop_assert_eq!((back.seq, back.window_scale), (syn.seq, scale));
            prop_assert_eq!(back.sack_permitted, sack);
            let known = back.mss.unwrap_or(0);
            prop_assert!(known <= mss.max(536));
        }
    }
}
