//! Any segments and calls to one connection, in any state and with any sender.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    unruffled_wire_fuzz::connection::run(bytes);
});
