//! Segments that the receiver drops because it keeps no further island. smoltcp names them in its
//! log alone.

use std::sync::atomic::{AtomicU64, Ordering};

use log::{LevelFilter, Log, Metadata, Record};

/// How the line in the log begins (`socket/tcp.rs`).
const LINE: &str = "assembler: too many holes";

static DROPPED: AtomicU64 = AtomicU64::new(0);

struct Counter;

impl Log for Counter {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        if record.args().to_string().starts_with(LINE) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn flush(&self) {}
}

/// Counts from now on.
pub fn count() -> Result<(), String> {
    log::set_logger(&Counter).map_err(|error| error.to_string())?;
    log::set_max_level(LevelFilter::Debug);
    Ok(())
}

/// Segments dropped so far.
pub fn dropped() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}
