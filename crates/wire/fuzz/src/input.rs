//! The fuzzer's octets, as values.

/// Octets that are taken from the front; behind their end are zeros.
#[derive(Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all have been taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As many as there are, up to `len`.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// One octet.
    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// Two, the first one the low one.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Four.
    pub fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    /// One of `choices`, by an octet.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.byte()) % choices.len()]
    }
}

/// The bits of one octet, taken from the low end.
#[derive(Debug)]
pub struct Bits(u8);

impl Bits {
    /// Those of `byte`.
    pub fn of(byte: u8) -> Self {
        Self(byte)
    }

    /// The next one.
    pub fn next(&mut self) -> bool {
        let bit = self.0 & 1 == 1;
        self.0 >>= 1;
        bit
    }
}
