//! Any octets, as a capture or as packets of a few connections.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    unruffled_wire_fuzz::capture::run(bytes);
});
