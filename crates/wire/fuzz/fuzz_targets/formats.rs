//! Any octets, as a file.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    unruffled_wire_fuzz::formats::run(bytes);
});
