//! Notation of segments and events in a trace.

use unruffled_tcp::{Cause, Event};

use super::SEGMENT;

/// Parses `7` or `7-9`.
pub(super) fn range(numbers: &str) -> (u64, u64) {
    let number = |n: &str| n.parse().unwrap_or_else(|_| panic!("{n} is not a segment number"));
    match numbers.split_once('-') {
        Some((first, last)) => (number(first), number(last)),
        None => (number(numbers), number(numbers)),
    }
}

/// Expands `R7-9` to `R7 R8 R9`.
pub(super) fn spell_out(word: &str) -> Vec<String> {
    let digits = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
    let (mark, numbers) = word.split_at(digits);
    if numbers.is_empty() {
        return vec![mark.to_owned()];
    }
    let (first, last) = range(numbers);
    (first..=last).map(|n| format!("{mark}{n}")).collect()
}

pub(super) fn sent(offset: u64, len: u32, cause: Option<Cause>) -> String {
    let mark = match cause {
        None => "",
        Some(Cause::FastRetransmit) => "R",
        Some(Cause::Timeout) => "T",
        Some(Cause::Probe) => "P",
        Some(other) => panic!("the notation has no mark for {other:?}"),
    };
    match len {
        0 => format!("{mark}F"),
        _ => format!("{mark}{}", offset / SEGMENT + 1),
    }
}

pub(super) fn record(reported: &mut Vec<String>, event: &Event) {
    reported.push(match *event {
        Event::FastRetransmit => "fast-retransmit".to_owned(),
        Event::Recovered => "recovered".to_owned(),
        Event::Timeout { .. } => "timeout".to_owned(),
        Event::LossProbe => "probe".to_owned(),
        Event::EcnReduction { .. } => "ecn-reduction".to_owned(),
        Event::Reordered { length, .. } => format!("reordered {length}"),
        Event::SpuriousRetransmission { offset, .. } => {
            format!("spurious {}", offset / SEGMENT + 1)
        }
        Event::SpuriousReduction { cause } => match cause {
            Cause::FastRetransmit => "spurious-fast-retransmit".to_owned(),
            Cause::Timeout => "spurious-timeout".to_owned(),
            other => panic!("the notation has no word for {other:?}"),
        },
        _ => return,
    });
}
