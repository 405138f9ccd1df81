//! From a segment to octets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use unruffled_tcp::Segment;

use super::sum;

/// TTL, or hop limit, of what leaves.
const HOPS: u8 = 64;
/// TCP's number (RFC 9293, section 3.9.2).
const PROTOCOL: u8 = 6;
/// Octets of the headers of IPv4 and of TCP without options, and of all options that one can have.
const V4: usize = 20;
const TCP: usize = 20;
const MOST_OPTIONS: usize = 40;

/// Appends the packet that carries `segment` to `out`. The payload comes in two pieces, as it lies
/// in a ring; together they are as long as the segment says. Gives the packet's length, or nothing
/// if no packet can hold it (or the addresses are of different families), and then appends nothing.
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

/// As [`encode`], but where the checksum belongs stands only the sum over the pseudo header: whoever
/// cuts the packet into segments, or sends it, sums up the rest. Gives the length of the packet and
/// where in it the TCP header begins.
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

/// Does what [`encode_for_offload`] left to others, for a packet that is one segment.
pub fn sum_up(packet: &mut [u8], transport: usize) {
    let sum = !sum::fold(sum::add(0, &packet[transport..]));
    packet[transport + 16..transport + 18].copy_from_slice(&sum.to_be_bytes());
}

/// Appends the packet, its TCP checksum zero; gives its length, and where TCP begins in `out`.
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
    let carried = u16::try_from(TCP + options.len + payload_len).ok()?;
    match (from.ip(), to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => headers.put_v4(carried, from, to)?,
        (IpAddr::V6(from), IpAddr::V6(to)) => headers.put_v6(carried, from, to),
        _ => return None,
    }
    headers.put_tcp(from.port(), to.port(), segment, &options);
    debug_assert_eq!(headers.len, pure + options.len);
    let start = out.len();
    out.reserve(headers.len + payload_len);
    out.extend_from_slice(headers.as_slice());
    out.extend_from_slice(payload.0);
    out.extend_from_slice(payload.1);
    Some((out.len() - start, start + pure - TCP))
}

/// Octets of IP and TCP headers that go before the payload of `segment`.
pub fn header_len(to: IpAddr, segment: &Segment) -> usize {
    pure_len(to) + segment_options(segment).len
}

/// Octets of IP and TCP headers without options.
pub fn pure_len(to: IpAddr) -> usize {
    if to.is_ipv4() { 40 } else { 60 }
}

/// Octets that are put one behind the other.
struct Octets<const N: usize> {
    octets: [u8; N],
    len: usize,
}

/// The headers of one packet: IPv6, TCP and all options at the most.
type Headers = Octets<{ 40 + TCP + MOST_OPTIONS }>;
type Options = Octets<MOST_OPTIONS>;

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
    /// RFC 791, section 3.1. Never fragmented, so the identification says nothing (RFC 6864, section
    /// 4.1).
    fn put_v4(&mut self, carried: u16, from: Ipv4Addr, to: Ipv4Addr) -> Option<()> {
        const DO_NOT_FRAGMENT: u8 = 0x40;
        let [high, low] = carried.checked_add(V4 as u16)?.to_be_bytes();
        self.put(&[0x45, 0, high, low, 0, 0, DO_NOT_FRAGMENT, 0, HOPS, PROTOCOL, 0, 0]);
        self.put(&from.octets());
        self.put(&to.octets());
        let sum = !sum::fold(sum::add(0, self.as_slice()));
        self.octets[10..12].copy_from_slice(&sum.to_be_bytes());
        Some(())
    }

    /// RFC 8200, section 3.
    fn put_v6(&mut self, carried: u16, from: Ipv6Addr, to: Ipv6Addr) {
        let [high, low] = carried.to_be_bytes();
        self.put(&[0x60, 0, 0, 0, high, low, PROTOCOL, HOPS]);
        self.put(&from.octets());
        self.put(&to.octets());
    }

    /// RFC 9293, section 3.1.
    fn put_tcp(&mut self, from: u16, to: u16, segment: &Segment, options: &Options) {
        let flags = segment.flags;
        let bits = [flags.fin, flags.syn, flags.rst, flags.psh, flags.ack];
        let bits = (0..).zip(bits).fold(0, |bits, (n, set)| bits | u8::from(set) << n);
        self.put(&from.to_be_bytes());
        self.put(&to.to_be_bytes());
        self.put(&segment.seq.0.to_be_bytes());
        self.put(&(if flags.ack { segment.ack.0 } else { 0 }).to_be_bytes());
        self.put(&[((TCP + options.len) as u8 / 4) << 4, bits]);
        self.put(&segment.window.to_be_bytes());
        self.put(&[0; 4]);
        self.put(options.as_slice());
    }
}

/// The options, each padded in front to a word, as everybody does (RFC 7323, appendix A).
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
    let room = (MOST_OPTIONS - options.len).saturating_sub(4) / 8;
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
