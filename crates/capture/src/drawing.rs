//! What passed of one direction, for a drawing of sequence over time: dots, thinned as they come.

use unruffled_units::Instant;

/// Dots of one kind: at most so many, and fewer and fewer of those that come once there are more.
#[derive(Clone, Debug, Default)]
struct Dots {
    kept: Vec<(Instant, u64)>,
    came: u64,
    /// Every so many are kept, as a power of two.
    shift: u32,
}

impl Dots {
    fn add(&mut self, at: Instant, position: u64, most: usize) {
        if self.came.trailing_zeros() >= self.shift {
            if self.kept.len() >= most {
                let mut keep = false;
                self.kept.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.shift += 1;
            }
            if self.came.trailing_zeros() >= self.shift {
                self.kept.push((at, position));
            }
        }
        self.came += 1;
    }
}

/// What is drawn of one direction, while it is followed; positions are octets of the stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    most: usize,
    new: Dots,
    late: Dots,
    resent: Dots,
    spurious: Dots,
    acknowledged: Dots,
}

impl Sketch {
    /// A drawing of at most `most` dots of a kind.
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(2), ..Self::default() }
    }

    pub(crate) fn new_data(&mut self, at: Instant, position: u64) {
        self.new.add(at, position, self.most);
    }

    pub(crate) fn late(&mut self, at: Instant, position: u64) {
        self.late.add(at, position, self.most);
    }

    pub(crate) fn resent(&mut self, at: Instant, position: u64) {
        self.resent.add(at, position, self.most);
    }

    pub(crate) fn spurious(&mut self, at: Instant, position: u64) {
        self.spurious.add(at, position, self.most);
    }

    pub(crate) fn acknowledged(&mut self, at: Instant, position: u64) {
        self.acknowledged.add(at, position, self.most);
    }

    pub(crate) fn told(&self, start: Instant) -> Drawing {
        let dots = |dots: &Dots| Thinned {
            dots: dots.kept.iter().map(|&(at, p)| (at.since(start).as_secs_f64(), p)).collect(),
            came: dots.came,
        };
        Drawing {
            new: dots(&self.new),
            late: dots(&self.late),
            resent: dots(&self.resent),
            spurious: dots(&self.spurious),
            acknowledged: dots(&self.acknowledged),
        }
    }
}

/// Dots of a drawing: seconds since the connection began, and octets of the stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thinned {
    /// Those that were kept, in about the order of time.
    pub dots: Vec<(f64, u64)>,
    /// How many there were.
    pub came: u64,
}

/// Sequence over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// Segments that passed for the first time.
    pub new: Thinned,
    /// Segments that others overtook, on the way here or beyond.
    pub late: Thinned,
    /// Retransmissions, the spurious among them.
    pub resent: Thinned,
    /// Those that proved spurious.
    pub spurious: Thinned,
    /// Cumulative acknowledgements.
    pub acknowledged: Thinned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_dots_become_evenly_fewer() {
        let mut sketch = Sketch::new(100);
        for i in 0..10_000 {
            sketch.new_data(Instant::from_millis(i), i);
        }
        let drawing = sketch.told(Instant::ZERO);
        assert_eq!(drawing.new.came, 10_000);
        let positions: Vec<u64> = drawing.new.dots.iter().map(|dot| dot.1).collect();
        assert!((50..=100).contains(&positions.len()), "{}", positions.len());
        assert!(positions.windows(2).all(|pair| pair[1] - pair[0] == 128), "{positions:?}");
        assert_eq!(drawing.late, Thinned::default());
    }
}
