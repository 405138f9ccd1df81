//! Links to the playground of the web page (`web/src/state/url.ts` reads them).

use std::fmt::Write as _;

/// The port of `unruffled serve` where none is given.
pub const PORT: u16 = 8377;

/// The most senders that the page takes.
const MOST_SENDERS: usize = 40;

/// The longest name of a sender that the page takes.
const LONGEST_NAME: usize = 60;

/// Returns the address, on the page of `unruffled serve`, of a scenario with these senders. `shown` are
/// the two whose packets are drawn. None if the page does not take one of the senders, or their number.
pub fn address(toml: &str, senders: &[&str], shown: [&str; 2]) -> Option<String> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-".contains(c);
    let fits = |name: &&str| (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(letter);
    if !(1..=MOST_SENDERS).contains(&senders.len()) || !senders.iter().all(fits) {
        return None;
    }
    let senders = senders.join(",");
    let [left, right] = shown;
    let toml = escaped(toml.trim_end());
    Some(format!(
        "http://127.0.0.1:{PORT}/#/play?senders={senders}&shown={left},{right}&toml={toml}"
    ))
}

/// Escapes text for a part of an address.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_form_that_the_page_reads() {
        let toml = "duration = \"1 s\"\n# a+b µ\n";
        let expected = "http://127.0.0.1:8377/#/play?senders=sack,rack+cubic&shown=rack+cubic,sack\
                        &toml=duration+%3D+%221+s%22%0A%23+a%2Bb+%C2%B5";
        let found = address(toml, &["sack", "rack+cubic"], ["rack+cubic", "sack"]);
        assert_eq!(found.as_deref(), Some(expected));
    }

    #[test]
    fn there_is_none_for_senders_that_the_page_does_not_take() {
        assert_eq!(address("", &["sack", "Mine"], ["sack", "Mine"]), None);
        assert_eq!(address("", &["sack", "a b"], ["sack", "a b"]), None);
        assert_eq!(address("", &[], ["", ""]), None);
        assert_eq!(address("", &["rack"; 41], ["rack", "rack"]), None);
    }
}
