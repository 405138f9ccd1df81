//! The answer to segments without a connection.

use crate::{Flags, Segment, SeqNr};

/// Returns the reset that answers `segment` if there is no connection for it (RFC 9293, section
/// 3.10.7.1), or `None` if it is a reset itself.
pub fn reset_for(segment: &Segment) -> Option<Segment> {
    if segment.flags.rst {
        return None;
    }
    Some(if segment.flags.ack {
        // <SEQ=SEG.ACK><CTL=RST>
        Segment {
            seq: segment.ack,
            flags: Flags { rst: true, ..Flags::default() },
            ..Segment::default()
        }
    } else {
        // <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>
        let fin_and_syn = u32::from(segment.flags.syn) + u32::from(segment.flags.fin);
        Segment {
            seq: SeqNr(0),
            ack: segment.seq.add(segment.len).add(fin_and_syn),
            flags: Flags { rst: true, ack: true, ..Flags::default() },
            ..Segment::default()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_with_an_acknowledgement_is_answered_with_its_number() {
        let flags = Flags { ack: true, ..Flags::default() };
        let data = Segment { seq: SeqNr(5), ack: SeqNr(77), len: 10, flags, ..Segment::default() };
        let reset = reset_for(&data).expect("a reset");
        assert_eq!(reset.seq, SeqNr(77));
        assert_eq!(reset.flags, Flags { rst: true, ..Flags::default() });
    }

    #[test]
    fn a_segment_without_an_acknowledgement_is_acknowledged() {
        let flags = Flags { syn: true, ..Flags::default() };
        let syn = Segment { seq: SeqNr(u32::MAX), len: 9, flags, ..Segment::default() };
        let reset = reset_for(&syn).expect("a reset");
        assert_eq!((reset.seq, reset.ack), (SeqNr(0), SeqNr(9)));
        assert_eq!(reset.flags, Flags { rst: true, ack: true, ..Flags::default() });
    }

    #[test]
    fn a_reset_is_never_answered_with_a_reset() {
        let flags = Flags { rst: true, ack: true, ..Flags::default() };
        assert_eq!(reset_for(&Segment { flags, ..Segment::default() }), None);
    }
}
