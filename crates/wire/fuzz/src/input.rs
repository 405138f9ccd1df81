//! Values from the fuzzer's octets.

/// Octets that are taken from the front. Behind their end there are zeros.
#[derive(Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Returns the input that consists of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns whether all octets have been taken.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes up to `len` octets, as many as there are.
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Takes one octet.
    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or(0)
    }

    /// Takes two octets as a little-endian number.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Takes four octets as a little-endian number.
    pub fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    /// Takes one octet, and returns the choice that it selects.
    pub fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::from(self.byte()) % choices.len()]
    }
}

/// The bits of one octet, taken from the low end.
#[derive(Debug)]
pub struct Bits(u8);

impl Bits {
    /// Returns the bits of `byte`.
    pub fn of(byte: u8) -> Self {
        Self(byte)
    }

    /// Takes the next bit.
    pub fn next(&mut self) -> bool {
        let bit = self.0 & 1 == 1;
        self.0 >>= 1;
        bit
    }
}
