//! Any octets, as packets whose order is restored.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    unruffled_wire_fuzz::resequence::run(bytes);
});
