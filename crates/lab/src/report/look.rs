//! How each sender looks, in every chart, table and legend: one colour and one marker by name, whoever else
//! stands beside it.
//!
//! The colours were chosen by search: they stand out from the paper by 3 to 1 in both modes, those that
//! stand together by default lie far apart in Oklab, and all others as far as there is room. A sender that
//! is added to `tcp`'s table gets a row here; `tests` finds the closest of the pairs.

use super::palette::Ink;

/// How a sender looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Its colour.
    pub ink: Ink,
    /// Its marker's place among all of them.
    pub marker: usize,
}

/// The senders of the table and the kernel's most common ones, each with its colour on light paper and on
/// dark.
const SENDERS: [(&str, u32, u32); 34] = [
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
    ("unruffled", 0x0072B2, 0x4FA3E3),
    ("kernel-cubic", 0xEF3C57, 0xE74958),
    ("kernel-reno", 0x266C2E, 0x8CC285),
    ("kernel-bbr", 0x8074B0, 0x9F92C3),
    ("kernel-unruffled", 0xA666FE, 0x9963F0),
];

/// Colours of all that is no sender of the table: another congestion control of a kernel, a formula.
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

/// What a part that is added to a sender mixes into its colour.
const PARTS: [(&str, u32, u32); 4] = [
    ("cubic", 0x0A0C10, 0xFFFFFF),
    ("westwood", 0x5A2A00, 0xFFD9A8),
    ("eifel", 0x30006A, 0xD9C2FF),
    ("f-rto", 0x003A3A, 0xB0F5EC),
];

/// How much of a mixed colour is the part's, in per cent.
const MIXED: u32 = 45;

/// How the sender of that name looks. `rr-ta+cubic` has the colour of `rr-ta` with that of the part mixed
/// in, in whatever order its parts stand.
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

/// How what is no sender looks, the `nth` of its kind.
pub fn other(nth: usize) -> Look {
    let (light, dark) = OTHERS[nth % OTHERS.len()];
    Look { ink: Ink::of_sender(light, dark), marker: nth }
}

/// How a name without parts looks: one that is not in the table has one of the other colours.
fn named(name: &str) -> Look {
    match SENDERS.iter().position(|(known, _, _)| *known == name) {
        Some(at) => {
            let (_, light, dark) = SENDERS[at];
            Look { ink: Ink::of_sender(light, dark), marker: at }
        }
        None => other(hash(name)),
    }
}

/// A number that is a name's alone, or nearly so, on every machine (FNV-1a).
fn hash(name: &str) -> usize {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    (name.bytes().fold(0x811C_9DC5, step) >> 4) as usize
}

/// A colour with a share of another, channel by channel.
fn mixed(colour: u32, other: u32) -> u32 {
    let channel =
        |(a, b): (u8, u8)| ((u32::from(a) * (100 - MIXED) + u32::from(b) * MIXED + 50) / 100) as u8;
    let (a, b) = (colour.to_be_bytes(), other.to_be_bytes());
    u32::from_be_bytes(std::array::from_fn(|i| channel((a[i], b[i]))))
}

#[cfg(test)]
mod tests;
