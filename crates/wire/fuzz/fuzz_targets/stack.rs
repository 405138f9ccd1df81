//! Any packets of peers and calls of applications to a stack.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    unruffled_wire_fuzz::stack::run(bytes);
});
