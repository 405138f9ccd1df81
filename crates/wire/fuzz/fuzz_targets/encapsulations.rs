//! Any octets, as frames of any link.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    unruffled_wire_fuzz::encapsulations::run(bytes);
});
