//! Writing packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use unruffled_tcp::Segment;

use super::sum;

/// TTL or hop limit of packets.
const HOP_LIMIT: u8 = 64;
/// TCP's protocol number (RFC 9293, section 3.9.2).
const PROTOCOL: u8 = 6;
/// Octets of an IPv4 header and of a TCP header, both without options.
const V4_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
/// Maximum length of the options in a TCP header, in octets.
const MAX_OPTIONS: usize = 40;

/// Appends the packet that carries `segment` to `out`, and returns the packet's length.
///
/// The payload comes in two pieces, as it lies in a ring; together they have `segment.len` octets.
/// If the segment is too large for a packet, or the addresses are of different families, nothing is
/// appended and the result is `None`.
pub fn encode(
    from: SocketAddr,
    to: SocketAddr,
    segment: &Segment,
    payload: (&[u8], &[u8]),
    out: &mut Vec<u8>,
) -> Option<usize> {
    let (len, transport) = assemble(from, to, segment, payload, out)?;
    let sum = sum::transport(from.ip(), to.ip(), PROTOCOL, &out[transport..]);
    out[transport + 16..transport + 18].copy_from_slice(&sum.to_be_bytes());
    Some(len)
}

/// Appends a packet as [`encode`] does, with the sum over the pseudo header instead of the
/// checksum. The device, which may cut the packet into segments, or [`sum_up`] completes it.
/// Returns the length of the packet and the offset of the TCP header in it.
pub fn encode_for_offload(
    from: SocketAddr,
    to: SocketAddr,
    segment: &Segment,
    payload: (&[u8], &[u8]),
    out: &mut Vec<u8>,
) -> Option<(usize, usize)> {
    let start = out.len();
    let (len, transport) = assemble(from, to, segment, payload, out)?;
    let sum = sum::fold(sum::pseudo_header(from.ip(), to.ip(), PROTOCOL, out.len() - transport));
    out[transport + 16..transport + 18].copy_from_slice(&sum.to_be_bytes());
    Some((len, transport - start))
}

/// Completes the checksum of a packet that [`encode_for_offload`] wrote, for a packet of one
/// segment.
pub fn sum_up(packet: &mut [u8], transport: usize) {
    let sum = !sum::fold(sum::add(0, &packet[transport..]));
    packet[transport + 16..transport + 18].copy_from_slice(&sum.to_be_bytes());
}

/// Appends the packet with a TCP checksum of zero; returns its length and the offset of the TCP
/// header in `out`.
fn assemble(
    from: SocketAddr,
    to: SocketAddr,
    segment: &Segment,
    payload: (&[u8], &[u8]),
    out: &mut Vec<u8>,
) -> Option<(usize, usize)> {
    let payload_len = payload.0.len() + payload.1.len();
    debug_assert_eq!(payload_len, segment.len as usize);
    let mut headers = Headers::default();
    let pure = pure_len(to.ip());
    let options = segment_options(segment);
    let ecn = segment.ecn.ip_field();
    let carried = u16::try_from(TCP_HEADER + options.len + payload_len).ok()?;
    match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => headers.put_v4(carried, ecn, from, to)?,
        (IpAddr::V6(from), IpAddr::V6(to)) => headers.put_v6(carried, ecn, from, to),
        _ => return None,
    }
    headers.put_tcp(from.port(), to.port(), segment, &options);
    debug_assert_eq!(headers.len, pure + options.len);
    let start = out.len();
    out.reserve(headers.len + payload_len);
    out.extend_from_slice(headers.as_slice());
    out.extend_from_slice(payload.0);
    out.extend_from_slice(payload.1);
    Some((out.len() - start, start + pure - TCP_HEADER))
}

/// Returns the octets of IP and TCP headers in front of the payload of `segment`.
pub fn header_len(to: IpAddr, segment: &Segment) -> usize {
    pure_len(to) + segment_options(segment).len
}

/// Returns the octets of IP and TCP headers without options.
pub fn pure_len(to: IpAddr) -> usize {
    if to.is_ipv4() { 40 } else { 60 }
}

/// An array that is filled from the front.
struct Octets<const N: usize> {
    octets: [u8; N],
    len: usize,
}

/// The headers of one packet: at most IPv6, TCP and all options.
type Headers = Octets<{ 40 + TCP_HEADER + MAX_OPTIONS }>;
type Options = Octets<MAX_OPTIONS>;

impl<const N: usize> Default for Octets<N> {
    fn default() -> Self {
        Self { octets: [0; N], len: 0 }
    }
}

impl<const N: usize> Octets<N> {
    fn put(&mut self, octets: &[u8]) {
        self.octets[self.len..self.len + octets.len()].copy_from_slice(octets);
        self.len += octets.len();
    }

    fn as_slice(&self) -> &[u8] {
        &self.octets[..self.len]
    }
}

impl Headers {
    /// Appends an IPv4 header (RFC 791, section 3.1). The packet is never fragmented, so the
    /// identification has no meaning (RFC 6864, section 4.1).
    fn put_v4(&mut self, carried: u16, ecn: u8, from: Ipv4Addr, to: Ipv4Addr) -> Option<()> {
        const DO_NOT_FRAGMENT: u8 = 0x40;
        let [high, low] = carried.checked_add(V4_HEADER as u16)?.to_be_bytes();
        self.put(&[0x45, ecn, high, low, 0, 0, DO_NOT_FRAGMENT, 0, HOP_LIMIT, PROTOCOL, 0, 0]);
        self.put(&from.octets());
        self.put(&to.octets());
        let sum = !sum::fold(sum::add(0, self.as_slice()));
        self.octets[10..12].copy_from_slice(&sum.to_be_bytes());
        Some(())
    }

    /// Appends an IPv6 header (RFC 8200, section 3).
    fn put_v6(&mut self, carried: u16, ecn: u8, from: Ipv6Addr, to: Ipv6Addr) {
        let [high, low] = carried.to_be_bytes();
        self.put(&[0x60, ecn << 4, 0, 0, high, low, PROTOCOL, HOP_LIMIT]);
        self.put(&from.octets());
        self.put(&to.octets());
    }

    /// Appends a TCP header (RFC 9293, section 3.1).
    fn put_tcp(&mut self, from: u16, to: u16, segment: &Segment, options: &Options) {
        let flags = segment.flags;
        let (urg, ecn) = (false, segment.ecn);
        let bits = [flags.fin, flags.syn, flags.rst, flags.psh, flags.ack, urg];
        let bits = bits.into_iter().chain([ecn.has_ece(), ecn.has_cwr()]);
        let bits = (0..).zip(bits).fold(0, |bits, (n, set)| bits | u8::from(set) << n);
        self.put(&from.to_be_bytes());
        self.put(&to.to_be_bytes());
        self.put(&segment.seq.0.to_be_bytes());
        self.put(&(if flags.ack { segment.ack.0 } else { 0 }).to_be_bytes());
        self.put(&[((TCP_HEADER + options.len) as u8 / 4) << 4, bits]);
        self.put(&segment.window.to_be_bytes());
        self.put(&[0; 4]);
        self.put(options.as_slice());
    }
}

/// Returns the options, each padded in front to a word, as other TCPs do (RFC 7323, appendix A).
fn segment_options(segment: &Segment) -> Options {
    const NOP: u8 = 1;
    let mut options = Options::default();
    if let Some(mss) = segment.mss {
        let [high, low] = mss.to_be_bytes();
        options.put(&[2, 4, high, low]);
    }
    if let Some(scale) = segment.window_scale {
        options.put(&[NOP, 3, 3, scale]);
    }
    // SACK permitted takes the place of the padding before the timestamps.
    match (segment.sack_permitted, segment.timestamps.is_some()) {
        (true, true) => options.put(&[4, 2]),
        (true, false) => options.put(&[NOP, NOP, 4, 2]),
        (false, true) => options.put(&[NOP, NOP]),
        (false, false) => {}
    }
    if let Some(timestamps) = segment.timestamps {
        options.put(&[8, 10]);
        options.put(&timestamps.value.to_be_bytes());
        options.put(&timestamps.echo.to_be_bytes());
    }
    // Four blocks do not fit beside timestamps (RFC 2018, section 3).
    let room = (MAX_OPTIONS - options.len).saturating_sub(4) / 8;
    let blocks = segment.sack.as_slice();
    let blocks = &blocks[..blocks.len().min(room)];
    if !blocks.is_empty() {
        options.put(&[NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
    }
    for block in blocks {
        options.put(&block.left.0.to_be_bytes());
        options.put(&block.right.0.to_be_bytes());
    }
    options
}
