//! A bit rate, as people read it.

/// So many bits per second, to three digits or so.
pub(crate) fn in_words(bps: f64) -> String {
    match bps {
        bps if bps < 1e6 => format!("{:.0} kb/s", bps / 1e3),
        bps if bps < 1e8 => format!("{:.2} Mb/s", bps / 1e6),
        bps => format!("{:.0} Mb/s", bps / 1e6),
    }
}
