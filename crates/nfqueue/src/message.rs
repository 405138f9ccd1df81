//! Netlink messages of the kernel's packet queues (`linux/netfilter/nfnetlink_queue.h`).
//!
//! Headers and attributes are in the machine's byte order, the values of attributes in network order.

/// Length of the two headers: `nlmsghdr` and `nfgenmsg`.
const HEADERS: usize = 20;

/// Length of an attribute's header.
const ATTRIBUTE: usize = 4;

/// Length of a verdict.
pub(crate) const VERDICT_OCTETS: usize = 32;

// linux/netlink.h
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;

/// Subsystem of the packet queues (`NFNL_SUBSYS_QUEUE`) in the upper octet of a message's type.
const SUBSYSTEM: u16 = 3 << 8;

// enum nfqnl_msg_types
const PACKET: u16 = SUBSYSTEM;
const VERDICT: u16 = SUBSYSTEM | 1;
const CONFIG: u16 = SUBSYSTEM | 2;
const VERDICT_BATCH: u16 = SUBSYSTEM | 3;

/// `NF_ACCEPT`.
const ACCEPT: u32 = 1;

// enum nfqnl_attr_type
const NFQA_PACKET_HDR: u16 = 1;
const NFQA_VERDICT_HDR: u16 = 2;
const NFQA_IFINDEX_INDEV: u16 = 5;
const NFQA_PAYLOAD: u16 = 10;
const NFQA_CAP_LEN: u16 = 13;

// enum nfqnl_attr_config
const NFQA_CFG_CMD: u16 = 1;
const NFQA_CFG_PARAMS: u16 = 2;
const NFQA_CFG_QUEUE_MAXLEN: u16 = 3;
const NFQA_CFG_MASK: u16 = 4;
const NFQA_CFG_FLAGS: u16 = 5;

/// `NFQNL_CFG_CMD_BIND`.
const BIND: u8 = 1;

/// `NFQNL_COPY_PACKET`.
const COPY_PACKET: u8 = 2;

/// `NFQA_CFG_F_FAIL_OPEN`: packets pass where there is no room for them in the queue or in the socket.
const FAIL_OPEN: u32 = 1;

/// `NFQA_CFG_F_GSO`: packets stay as large as GRO or the sender has made them.
const GSO: u32 = 4;

/// Octets of a packet that the kernel copies: the headers of IPv6, TCP with options, and a tunnel's within
/// UDP.
pub(crate) const COPY_OCTETS: u32 = 128;

/// A queued packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queued<'a> {
    /// Number that a verdict names. Numbers of a queue ascend by one.
    pub(crate) id: u32,
    /// Index of the interface on which it arrived, or 0.
    pub(crate) interface: u32,
    /// First octets of the IP packet.
    pub(crate) head: &'a [u8],
    /// Length of the whole IP packet.
    pub(crate) length: u32,
}

/// A message from the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message<'a> {
    /// A packet waits for its verdict.
    Packet(Queued<'a>),
    /// Result of the request with this sequence number: 0, or an error's number.
    Result { sequence: u32, errno: i32 },
}

/// Returns the messages of a datagram. What cannot be read is left out.
pub(crate) fn decode(mut datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        loop {
            let length = u32_at(datagram, 0)? as usize;
            // A datagram that was cut off has less than its header says.
            let message = &datagram[..length.min(datagram.len())];
            if length < 16 {
                return None;
            }
            datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or(&[]);
            if let Some(message) = decode_one(message) {
                return Some(message);
            }
        }
    })
}

fn decode_one(message: &[u8]) -> Option<Message<'_>> {
    match u16_at(message, 4)? {
        NLMSG_ERROR => {
            let errno = u32_at(message, 16)? as i32;
            Some(Message::Result { sequence: u32_at(message, 8)?, errno: errno.saturating_neg() })
        }
        PACKET => packet(message.get(HEADERS..)?).map(Message::Packet),
        _ => None,
    }
}

fn packet(mut attributes: &[u8]) -> Option<Queued<'_>> {
    let mut id = None;
    let mut interface = 0;
    let mut head: &[u8] = &[];
    let mut whole = None;
    while let (Some(length), Some(kind)) = (u16_at(attributes, 0), u16_at(attributes, 2)) {
        let length = usize::from(length);
        let Some(value) = attributes.get(ATTRIBUTE..length) else { break };
        // The two upper bits are flags.
        match kind & 0x3fff {
            NFQA_PACKET_HDR => id = be32_at(value, 0),
            NFQA_IFINDEX_INDEV => interface = be32_at(value, 0).unwrap_or(0),
            NFQA_PAYLOAD => head = value,
            NFQA_CAP_LEN => whole = be32_at(value, 0),
            _ => {}
        }
        attributes = attributes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Some(Queued { id: id?, interface, head, length: whole.unwrap_or(head.len() as u32) })
}

fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(octets.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(octets.get(at..at + 4)?.try_into().ok()?))
}

fn be32_at(octets: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(octets.get(at..at + 4)?.try_into().ok()?))
}

/// Returns the request that binds `queue` to the socket, and sets how many packets it holds, what is copied of
/// each, and its flags.
///
/// It is one message because the kernel drops what enters a queue that is bound and has no copy mode.
pub(crate) fn bind(queue: u16, length: u32, sequence: u32) -> Vec<u8> {
    let [a, b, c, d] = COPY_OCTETS.to_be_bytes();
    let flags = (FAIL_OPEN | GSO).to_be_bytes();
    let attributes: [(u16, &[u8]); 5] = [
        // struct nfqnl_msg_config_cmd: command, padding, protocol family (unused since Linux 3.8).
        (NFQA_CFG_CMD, &[BIND, 0, 0, 0]),
        (NFQA_CFG_PARAMS, &[a, b, c, d, COPY_PACKET]),
        (NFQA_CFG_QUEUE_MAXLEN, &length.to_be_bytes()),
        (NFQA_CFG_MASK, &flags),
        (NFQA_CFG_FLAGS, &flags),
    ];
    config(queue, NLM_F_ACK, sequence, &attributes)
}

/// Returns the request that sets the maximum number of packets in `queue`; the kernel does not answer it.
pub(crate) fn set_length(queue: u16, length: u32) -> Vec<u8> {
    config(queue, 0, 0, &[(NFQA_CFG_QUEUE_MAXLEN, &length.to_be_bytes())])
}

fn config(queue: u16, flags: u16, sequence: u32, attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut message = Vec::with_capacity(64);
    header(&mut message, CONFIG, flags, sequence, queue);
    for (kind, value) in attributes {
        attribute(&mut message, *kind, value);
    }
    finish(&mut message, 0);
    message
}

/// Appends the verdict that lets the packet `id` of `queue` pass.
pub(crate) fn push_verdict(messages: &mut Vec<u8>, queue: u16, id: u32) {
    push_accept(messages, VERDICT, queue, id);
}

/// Returns the verdict that lets all held packets of `queue` up to `id` pass, in the order of their arrival.
pub(crate) fn batch_verdict(queue: u16, id: u32) -> Vec<u8> {
    let mut message = Vec::with_capacity(VERDICT_OCTETS);
    push_accept(&mut message, VERDICT_BATCH, queue, id);
    message
}

fn push_accept(messages: &mut Vec<u8>, kind: u16, queue: u16, id: u32) {
    let start = messages.len();
    header(messages, kind, 0, 0, queue);
    let mut value = [0; 8];
    value[..4].copy_from_slice(&ACCEPT.to_be_bytes());
    value[4..].copy_from_slice(&id.to_be_bytes());
    attribute(messages, NFQA_VERDICT_HDR, &value);
    finish(messages, start);
}

/// Appends both headers. [`finish`] fills in the length.
fn header(messages: &mut Vec<u8>, kind: u16, flags: u16, sequence: u32, queue: u16) {
    messages.extend(0u32.to_ne_bytes());
    messages.extend(kind.to_ne_bytes());
    messages.extend((NLM_F_REQUEST | flags).to_ne_bytes());
    messages.extend(sequence.to_ne_bytes());
    messages.extend(0u32.to_ne_bytes());
    // struct nfgenmsg: family, version, number of the queue.
    messages.extend([0, 0]);
    messages.extend(queue.to_be_bytes());
}

fn attribute(messages: &mut Vec<u8>, kind: u16, value: &[u8]) {
    let length = (ATTRIBUTE + value.len()) as u16;
    messages.extend(length.to_ne_bytes());
    messages.extend(kind.to_ne_bytes());
    messages.extend(value);
    messages.resize(messages.len().next_multiple_of(4), 0);
}

fn finish(messages: &mut [u8], start: usize) {
    let length = (messages.len() - start) as u32;
    messages[start..start + 4].copy_from_slice(&length.to_ne_bytes());
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    /// A packet message as Linux 6.18 sends it: id 7, in on interface 3, 8 octets of 1500.
    #[rustfmt::skip]
    const MESSAGE: [u8; 64] = [
        64, 0, 0, 0,  0, 3,  0, 0,  0, 0, 0, 0,  0, 0, 0, 0,
        2, 0, 0xa4, 0x10,
        11, 0, 1, 0,  0, 0, 0, 7,  8, 0,  0,  0,
        8, 0, 5, 0,  0, 0, 0, 3,
        12, 0, 10, 0,  0x45, 0, 5, 0xdc, 1, 2, 3, 4,
        8, 0, 13, 0,  0, 0, 5, 0xdc,
        4, 0, 99, 0,
    ];

    #[test]
    fn a_packet_message_has_id_interface_head_and_length() {
        let messages: Vec<_> = decode(&MESSAGE).collect();
        let head = &[0x45, 0, 5, 0xdc, 1, 2, 3, 4];
        let expected = Queued { id: 7, interface: 3, head, length: 1500 };
        assert_eq!(messages, [Message::Packet(expected)]);
    }

    #[test]
    fn without_a_captured_length_the_packet_is_whole() {
        let mut message = MESSAGE;
        message[54] = 77;
        let Some(Message::Packet(packet)) = decode(&message).next() else { panic!("a packet") };
        assert_eq!(packet.length, 8);
    }

    #[test]
    fn every_prefix_of_a_message_is_read_without_a_panic() {
        for length in 0..MESSAGE.len() {
            for message in decode(&MESSAGE[..length]) {
                let Message::Packet(packet) = message else { panic!("{message:?}") };
                assert_eq!(packet.id, 7);
            }
        }
    }

    #[test]
    fn attributes_with_impossible_lengths_end_a_message() {
        for (at, value) in [(20, 0), (20, 3), (32, 255), (40, 2), (52, 1)] {
            let mut message = MESSAGE;
            message[at] = value;
            assert!(decode(&message).count() <= 1);
        }
        let mut message = MESSAGE;
        message[0] = 4;
        assert_eq!(decode(&message).count(), 0, "shorter than its header");
    }

    #[test]
    fn a_datagram_may_have_several_messages() {
        #[rustfmt::skip]
        let error = [
            36, 0, 0, 0,  2, 0,  0, 0,  9, 0, 0, 0,  0, 0, 0, 0,
            0xfe, 0xff, 0xff, 0xff,
            32, 0, 0, 0,  1, 3,  1, 0,  9, 0, 0, 0,  0, 0, 0, 0,
        ];
        let datagram = [&error[..], &MESSAGE[..]].concat();
        let messages: Vec<_> = decode(&datagram).collect();
        assert_eq!(messages[0], Message::Result { sequence: 9, errno: 2 });
        assert!(matches!(messages[1], Message::Packet(Queued { id: 7, .. })));
    }

    #[test]
    fn a_verdict_takes_32_octets() {
        let mut messages = Vec::new();
        push_verdict(&mut messages, 0xa410, 7);
        push_verdict(&mut messages, 0xa410, 5);
        #[rustfmt::skip]
        let verdict = |id| [
            32, 0, 0, 0,  1, 3,  1, 0,  0, 0, 0, 0,  0, 0, 0, 0,
            0, 0, 0xa4, 0x10,
            12, 0, 2, 0,  0, 0, 0, 1,  0, 0, 0, id,
        ];
        assert_eq!(messages, [verdict(7), verdict(5)].concat());
        assert_eq!(messages.len(), 2 * VERDICT_OCTETS);
        let batch = batch_verdict(0xa410, 7);
        assert_eq!(batch[4..6], [3, 3]);
        assert_eq!(batch[6..], verdict(7)[6..]);
    }

    #[test]
    fn a_queue_is_bound_with_its_copy_range_length_and_flags() {
        #[rustfmt::skip]
        let expected = [
            64, 0, 0, 0,  2, 3,  5, 0,  2, 0, 0, 0,  0, 0, 0, 0,
            0, 0, 0, 5,
            8, 0, 1, 0,  1, 0, 0, 0,
            9, 0, 2, 0,  0, 0, 0, 128, 2,  0, 0, 0,
            8, 0, 3, 0,  0, 1, 0, 0,
            8, 0, 4, 0,  0, 0, 0, 5,
            8, 0, 5, 0,  0, 0, 0, 5,
        ];
        assert_eq!(bind(5, 65_536, 2), expected);
    }
}
