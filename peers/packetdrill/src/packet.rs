//! Changes to packets that leave, where scripts have them in Linux's way and no RFC says how.

use std::ops::Range;

const SYN: u8 = 2;
const PUSH: u8 = 8;
/// Where the TCP header has its flags and its checksum.
const FLAGS: usize = 13;
const CHECKSUM: Range<usize> = 16..18;

/// Puts the options of a SYN in Linux's order, takes PSH away (a sender may set it where it likes:
/// RFC 9293, section 3.9.1.2), and sums up again.
pub(crate) fn rewrite(packet: &mut [u8], linux_options: bool, without_push: bool) {
    let v4 = packet[0] >> 4 == 4;
    let ip = if v4 { usize::from(packet[0] & 15) * 4 } else { 40 };
    let header = usize::from(packet[ip + 12] >> 4) * 4;
    if without_push {
        packet[ip + FLAGS] &= !PUSH;
    }
    if linux_options && packet[ip + FLAGS] & SYN != 0 {
        reorder(&mut packet[ip + 20..ip + header]);
    }
    let (addresses, tcp) = (if v4 { 12..20 } else { 8..40 }, ip..packet.len());
    let sum = checksum(packet, addresses, tcp);
    packet[ip..][CHECKSUM].copy_from_slice(&sum.to_be_bytes());
}

/// RFC 9293, section 3.1: the one's complement of the sum over pseudo-header and segment.
fn checksum(packet: &mut [u8], addresses: Range<usize>, tcp: Range<usize>) -> u16 {
    packet[tcp.start..][CHECKSUM].fill(0);
    let mut sum = libc::IPPROTO_TCP as u32 + tcp.len() as u32;
    for part in [&packet[addresses], &packet[tcp]] {
        for pair in part.chunks(2) {
            let low = pair.get(1).copied().unwrap_or(0);
            sum += u32::from(u16::from_be_bytes([pair[0], low]));
        }
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Linux: MSS, SACK permitted with the timestamps or padded, window scale padded. The stack: MSS,
/// window scale, SACK permitted, timestamps. Both take the same room.
fn reorder(field: &mut [u8]) {
    let options = field.to_vec();
    let (mut mss, mut scale, mut sack, mut stamps): (&[u8], &[u8], _, &[u8]) =
        (&[], &[], false, &[]);
    let mut rest = &options[..];
    while let [kind, after @ ..] = rest {
        let len = match kind {
            0 => break,
            1 => 1,
            _ => usize::from(*after.first().unwrap_or(&1)).clamp(1, rest.len()),
        };
        let (option, next) = rest.split_at(len);
        match kind {
            1 => {}
            2 => mss = option,
            3 => scale = option,
            4 => sack = true,
            8 => stamps = option,
            // Nothing that a script of those that apply has.
            _ => return,
        }
        rest = next;
    }
    let mut ordered = mss.to_vec();
    match (sack, stamps.is_empty()) {
        (true, true) => ordered.extend([1, 1, 4, 2]),
        (true, false) => ordered.extend([4, 2]),
        (false, false) => ordered.extend([1, 1]),
        (false, true) => {}
    }
    ordered.extend(stamps);
    if !scale.is_empty() {
        ordered.push(1);
        ordered.extend(scale);
    }
    if ordered.len() == field.len() {
        field.copy_from_slice(&ordered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_syn_change_places() {
        let mut field = [2, 4, 5, 180, 1, 3, 3, 8, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0];
        reorder(&mut field);
        assert_eq!(field, [2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 8]);
    }

    #[test]
    fn options_that_are_cut_off_stay() {
        let mut field = [2, 4, 5, 180, 3, 99, 8, 0];
        reorder(&mut field);
        assert_eq!(field, [2, 4, 5, 180, 3, 99, 8, 0]);
    }

    #[test]
    fn the_sum_is_right_again_without_push() {
        // 192.0.2.1 to 192.0.2.2, to port 2, ACK and PSH, one octet of text.
        let mut packet = vec![0; 41];
        packet[0] = 0x45;
        packet[12..20].copy_from_slice(&[192, 0, 2, 1, 192, 0, 2, 2]);
        packet[23] = 2;
        packet[32] = 5 << 4;
        packet[33] = PUSH | 16;
        packet[40] = 7;
        rewrite(&mut packet, true, true);
        assert_eq!(packet[33], 16);
        let written = u16::from_be_bytes([packet[36], packet[37]]);
        assert_eq!(checksum(&mut packet.clone(), 12..20, 20..41), written);
        // By hand: c000 + 0201 + c000 + 0202 + 6 + 15 + 2 + 5010 + 0700 = 1db30, folded db31.
        assert_eq!(written, !0xdb31);
    }
}
