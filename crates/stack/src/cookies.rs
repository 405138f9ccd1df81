//! SYN cookies (RFC 4987, section 3.6): when the table of requests is full, the numbers of the
//! SYN-ACK carry the necessary fields of the SYN, and the acknowledgement returns them.
//!
//! The layout is Linux's (`net/ipv4/syncookies.c`). The initial sequence number is the peer's, plus
//! a keyed hash of the two ends, plus two fields: the upper octet counts minutes, and the lower
//! three octets hold an index into a table of segment sizes, hidden by a keyed hash of ends and
//! counter. Window scale, SACK and ECN are in the low bits of the timestamp. Without timestamps
//! a connection has none of them.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;
use unruffled_tcp::{Ecn, Segment, SeqNr, Timestamps};
use unruffled_units::{Duration, Instant};

use crate::address::{FourTuple, hash_address};

/// Period of the counter.
const TICK: Duration = Duration::from_secs(64);
/// Ticks after its own in which a cookie is still valid.
const MAX_AGE: u32 = 1;
/// Largest segments that a cookie can name, over IPv4 and IPv6 (Linux's).
const SIZES_V4: [u16; 4] = [536, 1300, 1440, 1460];
const SIZES_V6: [u16; 4] = [1220, 1420, 1440, 8940];

const LOW_24: u32 = 0x00ff_ffff;
/// Bits of the timestamp: four of window scale (all set: none), one of SACK, and one of ECN.
const TIMESTAMP_BITS: u32 = 0x3f;
const NO_SCALE: u32 = 0xf;
const SACK: u32 = 0x10;
const ECN: u32 = 0x20;

/// Makes and checks cookies.
#[derive(Clone)]
pub(crate) struct Cookies {
    key: [u8; 16],
    /// Time of the last cookie.
    made: Option<Instant>,
}

impl std::fmt::Debug for Cookies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cookies").field("made", &self.made).finish_non_exhaustive()
    }
}

impl Cookies {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { key, made: None }
    }

    /// Returns the initial sequence number that answers `syn`.
    pub(crate) fn make(&mut self, ends: FourTuple, syn: &Segment, now: Instant) -> u32 {
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

    /// Returns the SYN whose cookie `ack` acknowledges, with the fields that the cookie carries;
    /// `None` if the number is no cookie of this stack or too old.
    pub(crate) fn check(&self, ends: FourTuple, ack: &Segment, now: Instant) -> Option<Segment> {
        let lifetime = TICK * u64::from(MAX_AGE + 1);
        self.made.filter(|&made| now.since(made) <= lifetime)?;
        let (isn, peer_isn) = (ack.ack.0.wrapping_sub(1), ack.seq.0.wrapping_sub(1));
        let cookie = isn.wrapping_sub(self.hash(ends, None)).wrapping_sub(peer_isn);
        let age = counter(now).wrapping_sub(cookie >> 24) & 0xff;
        if age > MAX_AGE {
            return None;
        }
        let counter = counter(now).wrapping_sub(age);
        let index = cookie.wrapping_sub(self.hash(ends, Some(counter))) & LOW_24;
        let mss = *sizes(ends).get(index as usize)?;
        let options = ack.timestamps.map(|timestamps| timestamps.echo & TIMESTAMP_BITS);
        let scale = options.map(|bits| bits & NO_SCALE).filter(|&scale| scale != NO_SCALE);
        Some(Segment {
            seq: SeqNr(peer_isn),
            flags: unruffled_tcp::Flags { syn: true, ..Default::default() },
            ecn: match options {
                Some(bits) if bits & ECN != 0 => Ecn::ECE | Ecn::CWR,
                _ => Ecn::NONE,
            },
            window: ack.window,
            mss: Some(mss),
            window_scale: scale.map(|scale| scale as u8),
            sack_permitted: options.is_some_and(|bits| bits & SACK != 0),
            timestamps: ack.timestamps,
            ..Segment::default()
        })
    }

    /// Returns SipHash-2-4 of the ends, and of the counter if there is one.
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

/// Makes the SYN-ACK `answer` carry its options in the timestamp; without a timestamp it offers
/// none.
///
/// The timestamp is lowered, never raised: otherwise later timestamps of the clock could be
/// smaller.
pub(crate) fn write_options(answer: &mut Segment, syn: &Segment) {
    let Some(Timestamps { value, echo }) = answer.timestamps else {
        answer.window_scale = None;
        answer.sack_permitted = false;
        answer.ecn = Ecn::NONE;
        return;
    };
    let scale = answer.window_scale.and(syn.window_scale).map_or(NO_SCALE, |scale| {
        // RFC 7323, section 2.3: a shift greater than 14 counts as 14.
        u32::from(scale.min(14))
    });
    let sack = if answer.sack_permitted { SACK } else { 0 };
    let ecn = if answer.ecn.has_ece() { ECN } else { 0 };
    let bits = scale | sack | ecn;
    let mut marked = (value & !TIMESTAMP_BITS) | bits;
    if marked > value {
        marked = marked.wrapping_sub(TIMESTAMP_BITS + 1);
    }
    answer.timestamps = Some(Timestamps { value: marked, echo });
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
    fn a_cookie_is_valid_for_a_minute_and_for_its_ends_only() {
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
        assert!(
            cookies.check(ends(7), &ack, later(129)).is_none(),
            "too old, though cookies are still made"
        );
        assert!(cookies.check(ends(8), &ack, now).is_none(), "another peer");
        let mut other = Cookies::new([2; 16]);
        other.made = Some(now);
        assert!(other.check(ends(7), &ack, now).is_none(), "another key");
        assert!(Cookies::new([1; 16]).check(ends(7), &ack, now).is_none(), "none was made");
    }

    #[test]
    fn guesses_succeed_no_more_often_than_the_number_of_valid_cookies_allows() {
        let mut cookies = Cookies::new([1; 16]);
        let now = Instant::from_millis(1_000_000);
        cookies.make(ends(7), &Segment::default(), now);
        let tries = 1 << 21;
        let hits = (0..tries).filter(|&guess: &u32| {
            let ack =
                Segment { ack: SeqNr(guess.wrapping_mul(2_654_435_761)), ..Segment::default() };
            cookies.check(ends(7), &ack, now).is_some()
        });
        // 2 ticks and 4 sizes among 2^32 numbers: 0.004 hits are expected in 2^21 tries.
        assert!(hits.count() <= 2);
    }

    proptest! {
        #[test]
        fn the_acknowledgement_returns_what_was_offered(
            seq: u32, value: u32, scale in prop::option::of(0_u8..=14), sack: bool, ecn: bool,
            mss: u16,
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
                ecn: if ecn { Ecn::ECE } else { Ecn::NONE },
                window_scale: scale.map(|_| 6),
                sack_permitted: sack,
                ..Segment::default()
            };
            write_options(&mut answer, &syn);
            let echo = answer.timestamps.map_or(0, |timestamps| timestamps.value);
            prop_assert!(value.wrapping_sub(echo) <= TIMESTAMP_BITS, "{value} became {echo}");
            let mut ack = acknowledges(&syn, cookies.make(ends(7), &syn, now));
            ack.timestamps = Some(Timestamps { value: 5, echo });
            let back = cookies.check(ends(7), &ack, now);
            let back = back.ok_or_else(|| TestCaseError::fail("not accepted"))?;
            prop_assert_eq!((back.seq, back.window_scale), (syn.seq, scale));
            prop_assert_eq!(back.sack_permitted, sack);
            prop_assert_eq!(back.ecn, if ecn { Ecn::ECE | Ecn::CWR } else { Ecn::NONE });
            let known = back.mss.unwrap_or(0);
            prop_assert!(known <= mss.max(536));
        }
    }
}
