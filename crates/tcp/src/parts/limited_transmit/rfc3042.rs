//! RFC 3042: one segment for each of the first two duplicates, so that the third comes.

use std::borrow::Cow;

use super::{AnyLimitedTransmit, LimitedTransmit};
use crate::parts::{Kind, maker};

/// The standard's limited transmit.
pub(crate) const RFC_3042: Kind<AnyLimitedTransmit> = Kind::new::<()>("rfc-3042", |values| {
    maker(values, |(), _| AnyLimitedTransmit::Rfc3042(Rfc3042))
});

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
