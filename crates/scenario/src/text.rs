//! Reading of text files.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::Path;

/// The largest size of a text file, in octets: more than anyone writes, and less than memory holds.
const MAX_OCTETS: u64 = 16 << 20;

/// Reads the text of the file.
///
/// # Errors
/// A file that cannot be read, is not UTF-8, or has more than 16 MiB, as endless devices do.
pub fn read(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_OCTETS + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_OCTETS {
        return Err(Error::new(ErrorKind::FileTooLarge, "more than 16 MiB"));
    }
    let wrong = |_| Error::new(ErrorKind::InvalidData, "stream did not contain valid UTF-8");
    String::from_utf8(bytes).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_file_is_rejected() {
        let error = read(Path::new("/dev/zero")).expect_err("has no end");
        assert_eq!(error.to_string(), "more than 16 MiB");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.toml");
        std::fs::write(&path, "é".repeat(8 << 20)).expect("is written");
        assert_eq!(read(&path).expect("fits").len(), 16 << 20);
        std::fs::write(&path, [0xff]).expect("is written");
        assert_eq!(read(&path).expect_err("is no text").kind(), ErrorKind::InvalidData);
    }
}
