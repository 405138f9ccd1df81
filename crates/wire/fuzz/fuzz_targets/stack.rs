//! Anything that happens to a stack, from its peers and its applications.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    unruffled_wire_fuzz::stack::run(bytes);
});
