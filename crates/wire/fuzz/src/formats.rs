//! A file of any format and compression is read to its end, or to the first damage.

use std::io::Cursor;

use unruffled_capture::{Error, Source, read};

/// Returns the number of frames in a file. `None` if it is not a capture.
pub fn run(bytes: &[u8]) -> Option<u64> {
    let mut frames = 0;
    let source = Source::new(Box::new(Cursor::new(bytes.to_vec())), None).ok()?;
    let end = read(source, |frame| {
        frames += 1;
        assert!(frame.data.len() <= frame.length as usize);
    });
    if let Some(Error::CutOff { packets, .. } | Error::Damaged { packets, .. }) = end.ok()? {
        assert_eq!(packets, frames);
    }
    Some(frames)
}
