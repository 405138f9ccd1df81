//! The command `unruffled`.

fn main() {}
