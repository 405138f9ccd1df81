//! Descriptions of all senders: the parts of each row, and of rows with added parts.
//!
//! `UNRUFFLED_WRITE_DESCRIPTIONS=1 cargo test -p unruffled-tcp --test it descriptions` writes the
//! file again after an intended change of a description.

use std::fmt::Write;
use std::path::Path;

use unruffled_tcp::{ROWS, Variant};

const REWRITE: &str = "UNRUFFLED_WRITE_DESCRIPTIONS";

#[test]
fn descriptions_of_all_senders_match_the_file() {
    let names = ROWS.iter().map(|row| row.name);
    let mut text = String::new();
    for name in names.chain(["sack+cubic", "rr-ta+westwood", "reno+eifel+f-rto"]) {
        let variant = Variant::parse(name).expect("a valid name");
        writeln!(text, "{name}").expect("a String accepts text");
        for (question, part) in variant.parts() {
            writeln!(text, "  {question}: {part}").expect("a String accepts text");
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/descriptions.txt");
    if std::env::var_os(REWRITE).is_some() {
        return std::fs::write(&path, text).expect("a writable file");
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap_or_default());
}
