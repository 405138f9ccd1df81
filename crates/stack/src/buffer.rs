//! Send and receive buffers, addressed by stream offset.
//!
//! Both are rings whose storage is a power of two of octets, so that an offset finds its place by
//! its low bits. Storage starts empty and doubles up to the capacity as it is needed: idle
//! connections cost nothing, and a connection at full speed allocates nothing.

/// Storage of the smallest ring that holds anything: two segments, which are acknowledged at once.
pub(crate) const MIN_STORAGE: usize = 4 << 10;

/// The power of two that holds `octets`, or the largest there is.
pub(crate) fn power_of_two(octets: usize) -> usize {
    octets.checked_next_power_of_two().unwrap_or(1 << (usize::BITS - 1))
}

/// A ring of octets, of which those in `start..start + storage` have a place.
#[derive(Debug)]
struct Ring {
    storage: Vec<u8>,
    /// First offset that is kept.
    start: u64,
    capacity: usize,
}

impl Ring {
    fn new(capacity: usize) -> Self {
        Self { storage: Vec::new(), start: 0, capacity: power_of_two(capacity) }
    }

    /// The capacity is `octets` at least.
    fn allow(&mut self, octets: usize) {
        self.capacity = self.capacity.max(power_of_two(octets));
    }

    fn index(&self, offset: u64) -> usize {
        offset as usize & (self.storage.len() - 1)
    }

    /// Storage in which `octets` have room; they are within the capacity.
    fn storage_for(&self, octets: usize) -> usize {
        power_of_two(octets).clamp(MIN_STORAGE.min(self.capacity), self.capacity)
    }

    /// Makes room for all octets before `end`; `end` is within the capacity.
    fn reserve(&mut self, end: u64) {
        let wanted = (end - self.start) as usize;
        debug_assert!(wanted <= self.capacity, "beyond the ring's capacity");
        if wanted > self.storage.len() {
            self.resize(self.storage_for(wanted));
        }
    }

    /// Gives the ring `len` octets of storage; what it holds has room in them.
    fn resize(&mut self, len: usize) {
        let kept = self.storage.len().min(len) as u64;
        let mut other = Self { storage: vec![0; len], ..*self };
        if kept > 0 {
            let (a, b) = self.slices(self.start, self.start + kept);
            other.put(self.start, a);
            other.put(self.start + a.len() as u64, b);
        }
        *self = other;
    }

    /// Gives back storage that the octets before `end` do not need: all of it, or all but what is
    /// twice as much.
    fn shrink(&mut self, end: u64) {
        let held = end.saturating_sub(self.start) as usize;
        if held == 0 {
            self.storage = Vec::new();
        } else if self.storage_for(2 * held) < self.storage.len() {
            self.resize(self.storage_for(2 * held));
        }
    }

    /// Copies `data` to `offset`; room has been made.
    fn put(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let at = self.index(offset);
        let first = data.len().min(self.storage.len() - at);
        self.storage[at..at + first].copy_from_slice(&data[..first]);
        self.storage[..data.len() - first].copy_from_slice(&data[first..]);
    }

    /// The octets `from..to`, in two pieces.
    fn slices(&self, from: u64, to: u64) -> (&[u8], &[u8]) {
        let len = (to - from) as usize;
        if len == 0 {
            return (&[], &[]);
        }
        let at = self.index(from);
        let first = len.min(self.storage.len() - at);
        (&self.storage[at..at + first], &self.storage[..len - first])
    }
}

/// What the application wrote and the peer has not acknowledged. Use it where octets are kept for an
/// engine that only counts them.
#[derive(Debug)]
pub struct SendBuffer {
    ring: Ring,
    /// Most octets that are taken, within the ring's capacity.
    most: usize,
    end: u64,
}

impl SendBuffer {
    /// Holds up to `capacity` octets, rounded up to a power of two.
    pub fn new(capacity: usize) -> Self {
        let ring = Ring::new(capacity);
        Self { most: ring.capacity, ring, end: 0 }
    }

    /// Takes up to `octets` from now on; if it holds more, it keeps them.
    pub fn limit_to(&mut self, octets: usize) {
        self.most = octets;
        self.ring.allow(octets);
    }

    /// Octets that can be written now.
    pub fn free(&self) -> usize {
        self.most.saturating_sub(self.len())
    }

    /// Octets held.
    pub fn len(&self) -> usize {
        (self.end - self.ring.start) as usize
    }

    /// Whether all has been acknowledged.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Most octets that it holds.
    pub fn capacity(&self) -> usize {
        self.most
    }

    /// Offset of the first octet that is held.
    pub fn start(&self) -> u64 {
        self.ring.start
    }

    /// Offset behind the last octet written.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Octets of memory that it takes.
    pub fn storage(&self) -> usize {
        self.ring.storage.len()
    }

    /// Octets that can be written now if its storage may grow to `most`.
    pub fn free_within(&self, most: usize) -> usize {
        self.room_within(most).saturating_sub(self.len())
    }

    /// Octets that it can hold if its storage may grow to `most`.
    pub fn room_within(&self, most: usize) -> usize {
        // The smallest ring, or a power of two.
        let most = most.checked_ilog2().map_or(0, |log| 1 << log);
        let most = if most < MIN_STORAGE.min(self.ring.capacity) { 0 } else { most };
        self.storage().max(most).min(self.most)
    }

    /// Gives back storage that is not needed for what is held.
    pub fn shrink(&mut self) {
        self.ring.shrink(self.end);
    }

    /// Appends as much of `data` as there is room for, and says how much that was.
    pub fn write(&mut self, data: &[u8]) -> usize {
        self.write_within(data, usize::MAX)
    }

    /// As [`SendBuffer::write`], and its storage grows to `most` at the most.
    pub fn write_within(&mut self, data: &[u8], most: usize) -> usize {
        let data = &data[..data.len().min(self.free_within(most))];
        let end = self.end + data.len() as u64;
        self.ring.reserve(end);
        self.ring.put(self.end, data);
        self.end = end;
        data.len()
    }

    /// Octets `offset..offset + len`, or as many of them as are held, in two pieces.
    pub fn slices(&self, offset: u64, len: u32) -> (&[u8], &[u8]) {
        let from = offset.clamp(self.ring.start, self.end);
        let to = offset.saturating_add(u64::from(len)).clamp(from, self.end);
        self.ring.slices(from, to)
    }

    /// Octets before `offset` are wanted no more.
    pub fn release(&mut self, offset: u64) {
        self.ring.start = offset.clamp(self.ring.start, self.end);
    }
}

/// What arrived and the application has not read, with holes. Use it beside a
/// [`Connection`](unruffled_tcp::Connection), which only counts octets.
#[derive(Debug)]
pub struct ReceiveBuffer {
    ring: Ring,
    /// Nothing is held from here on.
    top: u64,
}

impl ReceiveBuffer {
    /// Holds up to `capacity` octets, rounded up to a power of two.
    pub fn new(capacity: usize) -> Self {
        Self { ring: Ring::new(capacity), top: 0 }
    }

    /// Holds up to `capacity` octets, or more if it did before.
    pub fn allow(&mut self, capacity: usize) {
        self.ring.allow(capacity);
    }

    /// Octets of memory that it takes.
    pub fn storage(&self) -> usize {
        self.ring.storage.len()
    }

    /// Octets of memory that it takes once it holds all octets before `end`.
    pub fn storage_until(&self, end: u64) -> usize {
        let held = end.clamp(self.ring.start, self.limit()) - self.ring.start;
        if held == 0 { self.storage() } else { self.ring.storage_for(held as usize) }
            .max(self.storage())
    }

    /// Whether nothing is held, in order or not.
    pub fn is_empty(&self) -> bool {
        self.top <= self.ring.start
    }

    /// Gives back storage that is not needed for what is held.
    pub fn shrink(&mut self) {
        self.ring.shrink(self.top);
    }

    /// First offset that the application has not read.
    pub fn start(&self) -> u64 {
        self.ring.start
    }

    /// First offset for which there is no room.
    pub fn limit(&self) -> u64 {
        self.ring.start + self.ring.capacity as u64
    }

    /// Stores `data` at `offset`, in order or not, over whatever is there: the caller says only what
    /// the engine calls new ([`Event::Fresh`](unruffled_tcp::Event::Fresh)). What has been read
    /// already or lies beyond the limit is left out.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        let from = offset.clamp(self.ring.start, self.limit());
        let to = (offset + data.len() as u64).clamp(from, self.limit());
        if from == to {
            return;
        }
        self.ring.reserve(to);
        self.top = self.top.max(to);
        self.ring.put(from, &data[(from - offset) as usize..(to - offset) as usize]);
    }

    /// Drops the next `len` octets unread.
    pub fn skip(&mut self, len: u64) {
        self.ring.start += len;
    }

    /// Moves octets before `end` (which have all arrived) to `out`, as many as fit.
    pub fn read(&mut self, end: u64, out: &mut [u8]) -> usize {
        let to = end.clamp(self.ring.start, self.ring.start + out.len() as u64);
        let (a, b) = self.ring.slices(self.ring.start, to);
        out[..a.len()].copy_from_slice(a);
        out[a.len()..a.len() + b.len()].copy_from_slice(b);
        let len = a.len() + b.len();
        self.ring.start = to;
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The stream that all tests write: its octet at each offset.
    fn octet(offset: u64) -> u8 {
        (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
    }

    fn stream(from: u64, len: usize) -> Vec<u8> {
        (from..from + len as u64).map(octet).collect()
    }

    #[test]
    fn a_send_buffer_takes_what_fits_and_gives_it_by_offset() {
        let mut buffer = SendBuffer::new(1000);
        assert_eq!(buffer.capacity(), 1024);
        assert_eq!(buffer.write(&stream(0, 2000)), 1024);
        assert_eq!(buffer.write(&[1]), 0);
        buffer.release(600);
        assert_eq!(buffer.write(&stream(1024, 300)), 300);
        let (a, b) = buffer.slices(1000, 200);
        assert_eq!([a, b].concat(), stream(1000, 200));
        assert!(!b.is_empty(), "it wraps there");
        assert_eq!(buffer.slices(0, 10), (&[][..], &[][..]), "released");
    }

    #[test]
    fn a_buffer_without_bound_takes_what_it_is_given() {
        let mut buffer = SendBuffer::new(usize::MAX);
        assert_eq!(buffer.write_within(&stream(0, 10_000), 1 << 20), 10_000);
        let mut buffer = SendBuffer::new(1000);
        buffer.limit_to(usize::MAX);
        assert_eq!(buffer.write_within(&stream(0, 10_000), 1 << 20), 10_000);
        assert_eq!(buffer.slices(0, 10_000), (&stream(0, 10_000)[..], &[][..]));
    }

    #[test]
    fn storage_comes_only_when_needed() {
        let mut buffer = ReceiveBuffer::new(4 << 20);
        assert_eq!(buffer.ring.storage.capacity(), 0);
        buffer.write(100, &stream(100, 100));
        assert_eq!(buffer.ring.storage.len(), MIN_STORAGE);
        buffer.write(1 << 20, &stream(1 << 20, 100));
        assert_eq!(buffer.ring.storage.len(), 2 << 20);
        buffer.write(0, &stream(0, 100));
        let mut out = [0; 300];
        assert_eq!(buffer.read(200, &mut out), 200);
        assert_eq!(out[..200], stream(0, 200));
    }

    #[test]
    fn storage_is_given_back_and_what_is_held_stays() {
        let mut buffer = ReceiveBuffer::new(4 << 20);
        buffer.write(0, &stream(0, 100_000));
        let mut out = vec![0; 99_000];
        buffer.read(100_000, &mut out);
        buffer.write(100_500, &stream(100_500, 10));
        assert_eq!(buffer.storage(), 128 << 10);
        buffer.shrink();
        assert_eq!(buffer.storage(), MIN_STORAGE, "twice 1510 octets");
        buffer.write(100_000, &stream(100_000, 500));
        assert_eq!(buffer.read(100_510, &mut out), 1510);
        assert_eq!(out[..1510], stream(99_000, 1510));
        buffer.shrink();
        assert_eq!(buffer.storage(), 0);
        let mut buffer = SendBuffer::new(1 << 16);
        assert_eq!(buffer.write_within(&stream(0, 10_000), 5000), 4096);
        assert_eq!(buffer.write_within(&[1], 5000), 0, "a power of two");
        buffer.release(4096);
        buffer.shrink();
        assert_eq!((buffer.storage(), buffer.write_within(&[1], MIN_STORAGE - 1)), (0, 0));
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let mut buffer = ReceiveBuffer::new(16);
        buffer.write(0, &stream(0, 100));
        let mut out = [0; 10];
        assert_eq!(buffer.read(10, &mut out), 10);
        buffer.write(5, &stream(5, 100));
        buffer.write(1000, &[1]);
        let mut out = [0; 100];
        assert_eq!(buffer.read(26, &mut out), 16);
        assert_eq!(out[..16], stream(10, 16));
    }

    proptest! {
        #[test]
        fn octets_come_out_as_they_went_in(
            steps in prop::collection::vec((0_usize..5000, 0_usize..5000, any::<bool>()), 1..200)
        ) {
            let mut buffer = SendBuffer::new(1 << 16);
            let mut received = ReceiveBuffer::new(1 << 16);
            let (mut written, mut arrived, mut read) = (0, 0, 0);
            let mut out = vec![0; 8192];
            for (a, b, swap) in steps {
                written += buffer.write(&stream(written, a)) as u64;
                // Two pieces arrive, perhaps the second first.
                let end = (arrived + b as u64).min(written).min(received.limit());
                let middle = arrived + (end - arrived) / 2;
                let mut pieces = [(arrived, middle), (middle, end)];
                if swap {
                    pieces.reverse();
                }
                for (from, to) in pieces {
                    let (x, y) = buffer.slices(from, (to - from) as u32);
                    received.write(from, x);
                    received.write(from + x.len() as u64, y);
                }
                arrived = end;
                if swap {
                    buffer.shrink();
                    received.shrink();
                }
                buffer.release(arrived);
                let n = received.read(arrived, &mut out[..a]);
                prop_assert_eq!(&out[..n], &stream(read, n)[..]);
                read += n as u64;
            }
        }
    }
}
