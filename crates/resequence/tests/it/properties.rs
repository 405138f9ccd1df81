//! Random packets.
