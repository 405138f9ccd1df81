//! A fitted path in words.

use super::{Fit, Reading};

impl Fit {
    /// Describes the fitted path, over which its sender delivers `delivers_bps`, in a line.
    pub fn in_words(&self, delivers_bps: f64) -> String {
        let distance = self.distance.map_or(String::new(), |distance| {
            format!(", Kolmogorov-Smirnov distance of the late times {distance:.3}")
        });
        let unfilled = match self.filled {
            true => "",
            false => "; its rate is a lower bound, since the transfer never filled its path",
        };
        // Without SACK, the receiver of the model does not show which packets were late.
        let late = match self.late {
            (1e-9.., 0.0) => "late packets are not seen".to_owned(),
            (_, late) => format!("{:.2} % late", late * 100.0),
        };
        format!(
            "{} delivers {:.2} Mb/s over it, {:.2} Mb/s were captured; {late}, {:.2} % were captured\
             {distance}{unfilled}",
            self.sender,
            delivers_bps / 1e6,
            self.observed_bps / 1e6,
            self.late.0 * 100.0,
        )
    }

    /// Describes the other reading of the losses, over which the sender delivers `delivers_bps`, in a line.
    pub fn other_in_words(&self, other: &Reading, delivers_bps: f64) -> String {
        let what = match other.lossless {
            true => "the same if only the queue of the path drops packets",
            false => "the same if the path itself lost the lost packets",
        };
        format!("{what}: {} delivers {:.2} Mb/s over it", self.sender, delivers_bps / 1e6)
    }
}
