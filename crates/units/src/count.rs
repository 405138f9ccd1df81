//! Numbers of things, in words.

use std::fmt::Display;

/// Formats a number of things: `1 run`, `2 runs`. The plural of `thing` takes an s.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let s = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{s}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_takes_the_singular() {
        assert_eq!([0, 1, 2].map(|n: usize| count(n, "run")), ["0 runs", "1 run", "2 runs"]);
    }
}
