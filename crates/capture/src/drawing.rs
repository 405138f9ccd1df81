//! Sequence numbers over time, as dots of a drawing, in bounded memory.

use unruffled_units::Instant;

/// Sampler of dots of one kind. When a limit is reached, every other dot is dropped, and from then on
/// only half as many of the new dots are kept.
#[derive(Clone, Debug, Default)]
struct DotSampler {
    kept: Vec<(Instant, u64)>,
    total: u64,
    /// One of 2^`shift` dots is kept.
    shift: u32,
}

impl DotSampler {
    fn add(&mut self, at: Instant, position: u64, limit: usize) {
        if self.total.trailing_zeros() >= self.shift {
            if self.kept.len() >= limit {
                let mut keep = false;
                self.kept.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.shift += 1;
            }
            if self.total.trailing_zeros() >= self.shift {
                self.kept.push((at, position));
            }
        }
        self.total += 1;
    }

    fn sample(&self, start: Instant) -> DotSample {
        let dots =
            self.kept.iter().map(|&(at, position)| (at.since(start).as_secs_f64(), position));
        DotSample { dots: dots.collect(), total: self.total }
    }
}

/// Builder of the drawing of one direction, packet by packet. Positions are octets of the stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct DrawingBuilder {
    limit: usize,
    new: DotSampler,
    late: DotSampler,
    resent: DotSampler,
    spurious: DotSampler,
    acknowledged: DotSampler,
}

impl DrawingBuilder {
    /// Creates an empty drawing that keeps at most `limit` dots of each kind.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit: limit.max(2), ..Self::default() }
    }

    pub(crate) fn new_data(&mut self, at: Instant, position: u64) {
        self.new.add(at, position, self.limit);
    }

    pub(crate) fn late(&mut self, at: Instant, position: u64) {
        self.late.add(at, position, self.limit);
    }

    pub(crate) fn resent(&mut self, at: Instant, position: u64) {
        self.resent.add(at, position, self.limit);
    }

    pub(crate) fn spurious(&mut self, at: Instant, position: u64) {
        self.spurious.add(at, position, self.limit);
    }

    pub(crate) fn acknowledged(&mut self, at: Instant, position: u64) {
        self.acknowledged.add(at, position, self.limit);
    }

    /// Returns the drawing of a connection whose first packet passed at `start`.
    pub(crate) fn build(&self, start: Instant) -> Drawing {
        Drawing {
            new: self.new.sample(start),
            late: self.late.sample(start),
            resent: self.resent.sample(start),
            spurious: self.spurious.sample(start),
            acknowledged: self.acknowledged.sample(start),
        }
    }
}

/// An evenly spaced sample of a drawing's dots of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DotSample {
    /// Dots that were kept, roughly in order of time: seconds since the connection's first packet,
    /// and octets of the stream.
    pub dots: Vec<(f64, u64)>,
    /// Number of dots before sampling.
    pub total: u64,
}

/// Sequence numbers over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// First transmissions.
    pub new: DotSample,
    /// Segments that were overtaken before or after the capture point.
    pub late: DotSample,
    /// All retransmissions.
    pub resent: DotSample,
    /// Spurious retransmissions.
    pub spurious: DotSample,
    /// Cumulative acknowledgements.
    pub acknowledged: DotSample,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_dots_are_thinned_out_evenly() {
        let mut builder = DrawingBuilder::new(100);
        for i in 0..10_000 {
            builder.new_data(Instant::from_millis(i), i);
        }
        let drawing = builder.build(Instant::ZERO);
        assert_eq!(drawing.new.total, 10_000);
        let positions: Vec<u64> = drawing.new.dots.iter().map(|dot| dot.1).collect();
        assert!((50..=100).contains(&positions.len()), "{}", positions.len());
        assert!(positions.windows(2).all(|pair| pair[1] - pair[0] == 128), "{positions:?}");
        assert_eq!(drawing.late, DotSample::default());
    }
}
