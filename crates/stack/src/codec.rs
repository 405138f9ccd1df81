//! Conversion between segments and IP packets (RFC 791, RFC 8200, RFC 9293).
//!
//! [`decode`] reads any octets and returns a segment with its payload, or the reason to drop the
//! packet; it never panics. [`encode`] appends one packet to a buffer of the caller.

mod decode;
mod encode;
mod packet;
mod sum;

pub(crate) use decode::answerable;
pub use decode::decode;
pub use encode::{encode, encode_for_offload, header_len, pure_len, sum_up};
pub use packet::{Arrival, Checksums, Drops, Malformed, Packet, TooBig, Unreached};
