//! Facts from packets.
