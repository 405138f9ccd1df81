//! The colour and the marker of each sender in all charts, tables and legends. They depend only on
//! its name.
//!
//! The colours are the result of a search. They have a contrast of at least 3 to 1 with the
//! background in both modes. The distance in Oklab is large between senders that are compared by
//! default, and as large as possible between all others. A sender that is added to the table of `tcp`
//! needs a row here; the tests check the distances.

use super::palette::Ink;

/// The look of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The colour.
    pub ink: Ink,
    /// The index of the marker.
    pub marker: usize,
}

/// The senders of the table and the most common ones of the kernel, each with its colours in light
/// and in dark mode.
const SENDERS: [(&str, u32, u32); 40] = [
    ("reno", 0x755FC6, 0x867EC6),
    ("newreno", 0x9B5164, 0xBF8A91),
    ("sack", 0xCB3FB5, 0xD24EAF),
    ("dsack-r", 0x905E4D, 0xCC9A89),
    ("ba-inc", 0xB073D8, 0xA06EBE),
    ("ba-inc-n", 0x809071, 0x808D6F),
    ("ba-avg", 0x6B752B, 0xABB26E),
    ("ba-ewma", 0x138399, 0x57B5C6),
    ("ba-del", 0x5F82FB, 0x7196F9),
    ("td-fr", 0x194CAF, 0x5F88D9),
    ("rr-fa", 0x70279E, 0xC380F4),
    ("rr-fa-rtx", 0x909116, 0x8E9025),
    ("rr-ta", 0xB72B6F, 0xD4769C),
    ("rr-ta-rtx", 0xC37467, 0xB77162),
    ("avg-dev", 0x4E9C0C, 0x55A435),
    ("tcp-pr", 0x2A8301, 0x74B553),
    ("tcp-pr-extreme", 0xDB6078, 0xD56375),
    ("tcp-pr-sack", 0xD26604, 0xDB7524),
    ("dcr-ack", 0xA98087, 0xA17D82),
    ("dcr-timer", 0x926D0E, 0xA78C41),
    ("ncr-careful", 0x8C88AB, 0x84839E),
    ("ncr-aggressive", 0x219A7C, 0x69B79C),
    ("wb-small", 0xA71F81, 0xBD63A6),
    ("wb-medium", 0x579549, 0x7EA269),
    ("wb-wide", 0xF55224, 0xDC551D),
    ("westwood", 0x2995A2, 0x57959A),
    ("linux-reordering", 0x8C0183, 0xE179DC),
    ("rack", 0x58846F, 0x7B9E90),
    ("quic", 0xCE5324, 0xF58C5B),
    ("quiche", 0x7A5C00, 0xC9A227),
    ("ngtcp2", 0x00796B, 0x4DB6AC),
    ("quic-go", 0x3F6FB5, 0x86A8E0),
    ("gvisor", 0x9C2F5A, 0xE08AAF),
    ("smoltcp", 0x5D6B1A, 0xA9B84F),
    ("unruffled", 0x0072B2, 0x4FA3E3),
    ("kernel-cubic", 0xEF3C57, 0xE74958),
    ("kernel-reno", 0x266C2E, 0x8CC285),
    ("kernel-bbr", 0x8074B0, 0x9F92C3),
    ("kernel-unruffled", 0xA666FE, 0x9963F0),
    ("linux", 0x6005FF, 0x3456FD),
];

/// The colours of names that are not in the table, such as another congestion control of the kernel,
/// or a formula.
pub const OTHERS: [(u32, u32); 10] = [
    (0xB45983, 0xBA7596),
    (0xAB7D2F, 0xC6A66B),
    (0x9F3CBE, 0xB15DCB),
    (0x6D55A7, 0xA58BDC),
    (0xA63B1F, 0xDE775C),
    (0x86075B, 0xF67FBE),
    (0xE32F7C, 0xDD4682),
    (0x4767EC, 0x647CEE),
    (0x4090C2, 0x5891BC),
    (0x078C4F, 0x4FAE7C),
];

/// The colours that added parts mix into the colour of a sender.
const PARTS: [(&str, u32, u32); 7] = [
    ("bbr", 0x5A0030, 0xFFC0DC),
    ("bbr3", 0x203A00, 0xD8F5B0),
    ("cubic", 0x0A0C10, 0xFFFFFF),
    ("linux-cubic", 0x00325A, 0xB8DCFF),
    ("westwood", 0x5A2A00, 0xFFD9A8),
    ("eifel", 0x30006A, 0xD9C2FF),
    ("f-rto", 0x003A3A, 0xB0F5EC),
];

/// The share of the part's colour in a mixed colour, in per cent.
const PART_SHARE_PERCENT: u32 = 45;

/// Returns the look of the sender with that name. `rr-ta+cubic` has the colour of `rr-ta`, mixed with
/// that of the part; the order of parts does not matter.
pub fn of(sender: &str) -> Look {
    let mut names = sender.split('+');
    let base = named(names.next().unwrap_or_default());
    let mut parts: Vec<&str> = names.collect();
    parts.sort_unstable();
    let Ink { light, dark, .. } = base.ink;
    let mix = |(light, dark): (u32, u32), name: &str| {
        let known = PARTS.iter().find(|(part, _, _)| *part == name);
        let (l, d) = known.map_or_else(|| OTHERS[hash(name) % OTHERS.len()], |&(_, l, d)| (l, d));
        (mixed(light, l), mixed(dark, d))
    };
    let (light, dark) = parts.iter().fold((light, dark), |ink, part| mix(ink, part));
    Look { ink: Ink::of_sender(light, dark), ..base }
}

/// Returns the look of the `nth` name that is not a sender.
pub fn other(nth: usize) -> Look {
    let (light, dark) = OTHERS[nth % OTHERS.len()];
    Look { ink: Ink::of_sender(light, dark), marker: nth }
}

/// Returns the look of a name without parts; a name that is not in the table has one of [`OTHERS`].
fn named(name: &str) -> Look {
    match SENDERS.iter().position(|(known, _, _)| *known == name) {
        Some(at) => {
            let (_, light, dark) = SENDERS[at];
            Look { ink: Ink::of_sender(light, dark), marker: at }
        }
        None => other(hash(name)),
    }
}

/// Returns a hash of a name that is the same on all machines (FNV-1a).
fn hash(name: &str) -> usize {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    (name.bytes().fold(0x811C_9DC5, step) >> 4) as usize
}

/// Mixes two colours, channel by channel.
fn mixed(colour: u32, other: u32) -> u32 {
    let channel = |(a, b): (u8, u8)| {
        ((u32::from(a) * (100 - PART_SHARE_PERCENT) + u32::from(b) * PART_SHARE_PERCENT + 50) / 100)
            as u8
    };
    let a = colour.to_be_bytes();
    let b = other.to_be_bytes();
    u32::from_be_bytes(std::array::from_fn(|i| channel((a[i], b[i]))))
}

#[cfg(test)]
mod tests;
