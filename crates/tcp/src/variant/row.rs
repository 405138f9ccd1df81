//! What a row of the table of senders says.

use crate::parts::Kind;
use crate::parts::control::AnyControl;
use crate::parts::detect::Detector;
use crate::parts::limited_transmit::AnyLimitedTransmit;
use crate::parts::respond::dsack::Restoration;
use crate::parts::timer::AnyTimer;
use crate::sender::{Acks, Lengths, Reduction, tcp_pr};

/// One published sender. Use it to list the senders, with [`ROWS`](super::ROWS).
pub struct Row {
    /// Its name, as commands and scenarios write it.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    pub(super) made_of: MadeOf,
}

/// Of what a sender is made.
#[expect(clippy::large_enum_variant, reason = "rows are constants, none is moved")]
pub(super) enum MadeOf {
    /// Parts.
    Kinds(Kinds),
    /// TCP-PR's machine.
    TcpPr(tcp_pr::Version),
}

/// The kinds of parts that a composed sender has, and what it does with what they say.
#[derive(Clone, Copy)]
pub(super) struct Kinds {
    /// Loss detection.
    pub(super) detector: Kind<Detector>,
    /// The response to reductions that DSACKs prove spurious.
    pub(super) restoration: Kind<Restoration>,
    /// Retransmission timer.
    pub(super) timer: Kind<AnyTimer>,
    /// Limited transmit.
    pub(super) limited_transmit: Kind<AnyLimitedTransmit>,
    /// Congestion control.
    pub(super) control: Kind<AnyControl>,
    /// What acknowledgements say.
    pub(super) acks: Acks,
    /// Window reduction in recovery.
    pub(super) reduction: Reduction,
    /// Tail loss probes.
    pub(super) probes: bool,
    /// How reordering lengths of retransmitted segments are measured.
    pub(super) lengths: Lengths,
}

impl Row {
    pub(super) const fn composed(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        kinds: Kinds,
    ) -> Self {
        Self { name, about, source, made_of: MadeOf::Kinds(kinds) }
    }

    pub(super) const fn tcp_pr(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        version: tcp_pr::Version,
    ) -> Self {
        Self { name, about, source, made_of: MadeOf::TcpPr(version) }
    }

    /// Whether it is composed of parts, and so takes others: all are but TCP-PR's.
    pub fn is_composed(&self) -> bool {
        matches!(self.made_of, MadeOf::Kinds(_))
    }

    /// Whether it is told by SACK blocks what arrived.
    pub fn takes_sack(&self) -> bool {
        match &self.made_of {
            MadeOf::Kinds(kinds) => kinds.acks == Acks::Sack,
            MadeOf::TcpPr(version) => version.selective,
        }
    }

    /// Whether it needs what only the simulator tells: which of two copies arrived.
    pub fn is_for_simulation_only(&self) -> bool {
        match &self.made_of {
            MadeOf::Kinds(kinds) => kinds.lengths == Lengths::Original,
            MadeOf::TcpPr(_) => false,
        }
    }
}

impl core::fmt::Debug for Row {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Row({})", self.name)
    }
}
