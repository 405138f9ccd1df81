//! One segment for each of the first two duplicates, then one for every second duplicate (Blanton
//! and Allman, AVG-DEV). Acknowledgements keep arriving at half the rate.

use std::borrow::Cow;

use super::{AnyLimitedTransmit, LimitedTransmit};
use crate::parts::{Kind, maker};

/// Blanton and Allman's limited transmit.
pub(crate) const EVERY_OTHER: Kind<AnyLimitedTransmit> = Kind::new::<()>("every-other", |values| {
    maker(values, |(), _| AnyLimitedTransmit::EveryOther(EveryOther))
});

/// One segment for two duplicates.
#[derive(Clone, Debug)]
pub(crate) struct EveryOther;

impl LimitedTransmit for EveryOther {
    fn about(&self) -> Cow<'static, str> {
        "first two duplicates, then every second".into()
    }

    fn allowance(&self, duplicates: u32, _cwnd: f64) -> u32 {
        duplicates.min(2) + duplicates.saturating_sub(2) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_duplicates_release_one_each_and_then_every_second() {
        let released: Vec<u32> = (0..=9).map(|n| EveryOther.allowance(n, 4.0)).collect();
        assert_eq!(released, [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    }
}
