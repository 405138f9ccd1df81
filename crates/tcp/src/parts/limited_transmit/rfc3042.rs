//! RFC 3042: one segment for each of the first two duplicates, so that a third can arrive.

use std::borrow::Cow;

use super::{AnyLimitedTransmit, LimitedTransmit};
use crate::parts::{Kind, maker};

/// Limited transmit of RFC 3042.
pub(crate) const RFC_3042: Kind<AnyLimitedTransmit> = Kind::new::<()>("rfc-3042", |values| {
    maker(values, |(), _| AnyLimitedTransmit::Rfc3042(Rfc3042))
});

/// One segment for each of the first two duplicates.
#[derive(Clone, Debug)]
pub(crate) struct Rfc3042;

impl LimitedTransmit for Rfc3042 {
    fn about(&self) -> Cow<'static, str> {
        "RFC 3042, first two duplicates".into()
    }

    fn allowance(&self, duplicates: u32, _cwnd: f64) -> u32 {
        duplicates.min(2)
    }
}
