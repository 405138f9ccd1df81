//! The text files that people write, read whole.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// Octets of such a file at most: more than anybody writes, and what memory can hold.
const MOST: u64 = 16 << 20;

/// The text of the file.
///
/// # Errors
/// It cannot be read, is no text, or has no end in sight, as devices do not.
pub fn read(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(Error::new(ErrorKind::FileTooLarge, "more than 16 MiB"));
    }
    let wrong = |_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(bytes).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let refused = read(Path::new("/dev/zero")).expect_err("has no end");
        assert_eq!(refused.to_string(), "more than 16 MiB");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "é".repeat(8 << 20)).expect("is written");
        assert_eq!(read(&path).expect("fits").len(), 16 << 20);
        std::fs::write(&path, [0xff]).expect("is written");
        assert_eq!(read(&path).expect_err("is no text").kind(), ErrorKind::InvalidData);
    }
}
