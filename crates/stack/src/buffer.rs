//! Send and receive buffers, addressed by stream offset.
//!
//! Both are rings whose storage is a power of two of octets, so that the low bits of an offset give
//! its place. Storage starts empty and doubles as needed, up to the capacity: idle connections take
//! no memory, and a connection at full speed allocates none.

/// Storage of the smallest ring that is not empty: two segments, which are acknowledged at once.
pub(crate) const MIN_STORAGE: usize = 4 << 10;

/// Returns the least power of two that is not below `octets`, or the largest power of two.
pub(crate) fn power_of_two(octets: usize) -> usize {
    octets.checked_next_power_of_two().unwrap_or(1 << (usize::BITS - 1))
}

/// A ring of octets with places for those at the offsets `start..start + storage`.
#[derive(Debug)]
struct Ring {
    storage: Vec<u8>,
    /// First offset that is held.
    start: u64,
    capacity: usize,
}

impl Ring {
    fn new(capacity: usize) -> Self {
        Self { storage: Vec::new(), start: 0, capacity: power_of_two(capacity) }
    }

    /// Raises the capacity to at least `octets`.
    fn allow(&mut self, octets: usize) {
        self.capacity = self.capacity.max(power_of_two(octets));
    }

    fn index(&self, offset: u64) -> usize {
        offset as usize & (self.storage.len() - 1)
    }

    /// Returns the storage that holds `octets`, which are within the capacity.
    fn storage_for(&self, octets: usize) -> usize {
        power_of_two(octets).clamp(MIN_STORAGE.min(self.capacity), self.capacity)
    }

    /// Makes room for all octets before `end`, which is within the capacity.
    fn reserve(&mut self, end: u64) {
        let octets = (end - self.start) as usize;
        debug_assert!(octets <= self.capacity, "beyond the ring's capacity");
        if octets > self.storage.len() {
            self.resize(self.storage_for(octets));
        }
    }

    /// Moves the ring to `len` octets of storage, which hold its contents.
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

    /// Frees storage: all of it if there are no octets before `end`, otherwise all beyond twice
    /// what these octets need.
    fn shrink(&mut self, end: u64) {
        let held = end.saturating_sub(self.start) as usize;
        if held == 0 {
            self.storage = Vec::new();
        } else if self.storage_for(2 * held) < self.storage.len() {
            self.resize(self.storage_for(2 * held));
        }
    }

    /// Copies `data` to `offset`, where room has been made.
    fn put(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let at = self.index(offset);
        let first = data.len().min(self.storage.len() - at);
        self.storage[at..at + first].copy_from_slice(&data[..first]);
        self.storage[..data.len() - first].copy_from_slice(&data[first..]);
    }

    /// Returns the octets `from..to`, in two pieces.
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

/// The octets that the application has written and the peer has not acknowledged. Use it beside a
/// [`Connection`](unruffled_tcp::Connection), which only counts octets.
#[derive(Debug)]
pub struct SendBuffer {
    ring: Ring,
    /// Maximum number of octets that the buffer holds, within the ring's capacity.
    limit: usize,
    end: u64,
}

impl SendBuffer {
    /// Returns a buffer for up to `capacity` octets, rounded up to a power of two.
    pub fn new(capacity: usize) -> Self {
        let ring = Ring::new(capacity);
        Self { limit: ring.capacity, ring, end: 0 }
    }

    /// Limits the buffer to `octets`. If it holds more, it keeps them.
    pub fn limit_to(&mut self, octets: usize) {
        self.limit = octets;
        self.ring.allow(octets);
    }

    /// Returns the octets that can be written now.
    pub fn free(&self) -> usize {
        self.limit.saturating_sub(self.len())
    }

    /// Returns the octets held.
    pub fn len(&self) -> usize {
        (self.end - self.ring.start) as usize
    }

    /// Returns whether everything has been acknowledged.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the maximum number of octets that the buffer holds.
    pub fn capacity(&self) -> usize {
        self.limit
    }

    /// Returns the offset of the first octet held.
    pub fn start(&self) -> u64 {
        self.ring.start
    }

    /// Returns the offset behind the last octet written.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the octets of memory that the buffer takes.
    pub fn storage(&self) -> usize {
        self.ring.storage.len()
    }

    /// Returns the octets that can be written now if the storage may grow to `max_storage`.
    pub fn free_within(&self, max_storage: usize) -> usize {
        self.room_within(max_storage).saturating_sub(self.len())
    }

    /// Returns the octets that the buffer can hold if its storage may grow to `max_storage`.
    pub fn room_within(&self, max_storage: usize) -> usize {
        // Storage is the smallest ring or a larger power of two.
        let rounded = max_storage.checked_ilog2().map_or(0, |log| 1 << log);
        let room = if rounded < MIN_STORAGE.min(self.ring.capacity) { 0 } else { rounded };
        self.storage().max(room).min(self.limit)
    }

    /// Frees storage that the octets held do not need.
    pub fn shrink(&mut self) {
        self.ring.shrink(self.end);
    }

    /// Appends as much of `data` as there is room for, and returns its length.
    pub fn write(&mut self, data: &[u8]) -> usize {
        self.write_within(data, usize::MAX)
    }

    /// Appends as [`SendBuffer::write`] does, with storage that grows to at most `max_storage`.
    pub fn write_within(&mut self, data: &[u8], max_storage: usize) -> usize {
        let data = &data[..data.len().min(self.free_within(max_storage))];
        let end = self.end + data.len() as u64;
        self.ring.reserve(end);
        self.ring.put(self.end, data);
        self.end = end;
        data.len()
    }

    /// Returns the octets `offset..offset + len`, as many of them as are held, in two pieces.
    pub fn slices(&self, offset: u64, len: u32) -> (&[u8], &[u8]) {
        let from = offset.clamp(self.ring.start, self.end);
        let to = offset.saturating_add(u64::from(len)).clamp(from, self.end);
        self.ring.slices(from, to)
    }

    /// Drops the octets before `offset`, which have been acknowledged.
    pub fn release(&mut self, offset: u64) {
        self.ring.start = offset.clamp(self.ring.start, self.end);
    }
}

/// The octets that have arrived and the application has not read, with holes. Use it beside a
/// [`Connection`](unruffled_tcp::Connection), which only counts octets.
#[derive(Debug)]
pub struct ReceiveBuffer {
    ring: Ring,
    /// Offset from which on nothing is held.
    top: u64,
}

impl ReceiveBuffer {
    /// Returns a buffer for up to `capacity` octets, rounded up to a power of two.
    pub fn new(capacity: usize) -> Self {
        Self { ring: Ring::new(capacity), top: 0 }
    }

    /// Raises the capacity to at least `capacity` octets.
    pub fn allow(&mut self, capacity: usize) {
        self.ring.allow(capacity);
    }

    /// Returns the octets of memory that the buffer takes.
    pub fn storage(&self) -> usize {
        self.ring.storage.len()
    }

    /// Returns the octets of memory that the buffer takes once it holds all octets before `end`.
    pub fn storage_until(&self, end: u64) -> usize {
        let held = end.clamp(self.ring.start, self.limit()) - self.ring.start;
        if held == 0 { self.storage() } else { self.ring.storage_for(held as usize) }
            .max(self.storage())
    }

    /// Returns whether nothing is held, in order or not.
    pub fn is_empty(&self) -> bool {
        self.top <= self.ring.start
    }

    /// Frees storage that the octets held do not need.
    pub fn shrink(&mut self) {
        self.ring.shrink(self.top);
    }

    /// Returns the first offset that the application has not read.
    pub fn start(&self) -> u64 {
        self.ring.start
    }

    /// Returns the first offset for which there is no room.
    pub fn limit(&self) -> u64 {
        self.ring.start + self.ring.capacity as u64
    }

    /// Stores `data` at `offset`, in order or not, and overwrites what is there. The caller passes
    /// only octets that the engine reports as new ([`Event::Fresh`](unruffled_tcp::Event::Fresh)).
    /// Octets that have been read already, or that lie beyond the limit, are left out.
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

    /// Drops the next `len` octets without reading them.
    pub fn skip(&mut self, len: u64) {
        self.ring.start += len;
    }

    /// Moves octets before `end`, which have all arrived, to `out`, as many as fit; returns their
    /// number.
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

    /// Returns the octet at an offset of the stream that all tests write.
    fn octet(offset: u64) -> u8 {
        (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
    }

    fn stream(from: u64, len: usize) -> Vec<u8> {
        (from..from + len as u64).map(octet).collect()
    }

    #[test]
    fn a_send_buffer_accepts_what_fits_and_returns_it_by_offset() {
        let mut buffer = SendBuffer::new(1000);
        assert_eq!(buffer.capacity(), 1024);
        assert_eq!(buffer.write(&stream(0, 2000)), 1024);
        assert_eq!(buffer.write(&[1]), 0);
        buffer.release(600);
        assert_eq!(buffer.write(&stream(1024, 300)), 300);
        let (a, b) = buffer.slices(1000, 200);
        assert_eq!([a, b].concat(), stream(1000, 200));
        assert!(!b.is_empty(), "the ring wraps there");
        assert_eq!(buffer.slices(0, 10), (&[][..], &[][..]), "released");
    }

    #[test]
    fn a_buffer_without_bound_accepts_everything() {
        let mut buffer = SendBuffer::new(usize::MAX);
        assert_eq!(buffer.write_within(&stream(0, 10_000), 1 << 20), 10_000);
        let mut buffer = SendBuffer::new(1000);
        buffer.limit_to(usize::MAX);
        assert_eq!(buffer.write_within(&stream(0, 10_000), 1 << 20), 10_000);
        assert_eq!(buffer.slices(0, 10_000), (&stream(0, 10_000)[..], &[][..]));
    }

    #[test]
    fn storage_grows_only_when_needed() {
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
    fn shrinking_frees_storage_and_keeps_the_contents() {
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
        assert_eq!(buffer.write_within(&[1], 5000), 0, "storage is a power of two");
        buffer.release(4096);
        buffer.shrink();
        assert_eq!((buffer.storage(), buffer.write_within(&[1], MIN_STORAGE - 1)), (0, 0));
    }

    #[test]
    fn octets_outside_the_buffer_are_left_out() {
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
        fn octets_are_read_as_they_were_written(
            steps in prop::collection::vec((0_usize..5000, 0_usize..5000, any::<bool>()), 1..200)
        ) {
            let mut buffer = SendBuffer::new(1 << 16);
            let mut received = ReceiveBuffer::new(1 << 16);
            let mut written = 0;
            let mut arrived = 0;
            let mut read = 0;
            let mut out = vec![0; 8192];
            for (a, b, swap) in steps {
                written += buffer.write(&stream(written, a)) as u64;
                // Two pieces arrive, in either order.
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
