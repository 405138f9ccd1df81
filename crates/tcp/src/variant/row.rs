//! Rows of the table of senders.

use crate::Config;
use crate::parts::Kind;
use crate::parts::control::AnyControl;
use crate::parts::detect::Detector;
use crate::parts::limited_transmit::AnyLimitedTransmit;
use crate::parts::respond::dsack::Restoration;
use crate::parts::respond::packets;
use crate::parts::timer::AnyTimer;
use crate::sender::{Acks, Lengths, Reduction, quic, tcp_pr};

/// A published sender. [`ROWS`](super::ROWS) lists all of them.
pub struct Row {
    /// Name, as commands and scenarios write it.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    pub(super) made_of: MadeOf,
}

/// Construction of a sender.
#[allow(clippy::large_enum_variant, reason = "rows are constants, none is moved")]
pub(super) enum MadeOf {
    /// Kinds of parts.
    Kinds(Kinds),
    /// A version of TCP-PR, which has a machine of its own.
    TcpPr(tcp_pr::Version),
    /// Kinds of parts of a QUIC stack, which has a machine of its own.
    Quic(QuicKinds),
}

/// Kinds of parts of a QUIC stack, and the settings of both ends.
#[derive(Clone, Copy)]
pub(super) struct QuicKinds {
    /// Loss detection.
    pub(super) detector: Kind<Detector>,
    /// Response to spurious losses.
    pub(super) restoration: Kind<packets::Restoration>,
    /// Congestion control.
    pub(super) control: Kind<AnyControl>,
    /// Rules of recovery.
    pub(super) recovery: quic::Recovery,
    /// Settings of both ends.
    pub(super) ends: fn(Config) -> Config,
}

/// Kinds of parts of a composed sender, and how they work together.
#[derive(Clone, Copy)]
pub(super) struct Kinds {
    /// Loss detection.
    pub(super) detector: Kind<Detector>,
    /// Response to reductions that DSACKs prove spurious.
    pub(super) restoration: Kind<Restoration>,
    /// Retransmission timer.
    pub(super) timer: Kind<AnyTimer>,
    /// Limited transmit.
    pub(super) limited_transmit: Kind<AnyLimitedTransmit>,
    /// Congestion control.
    pub(super) control: Kind<AnyControl>,
    /// Kind of acknowledgements.
    pub(super) acks: Acks,
    /// Course of the reduction in a recovery.
    pub(super) reduction: Reduction,
    /// Whether tail loss probes are sent.
    pub(super) probes: bool,
    /// Settings of both ends, and the course of recovery.
    pub(super) host: Host,
    /// Measurement of the reordering lengths of retransmitted segments.
    pub(super) lengths: Lengths,
}

/// The system that a row models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// None: the caller chooses the settings of both ends, and recovery follows the RFCs.
    Any,
    /// Linux, at both ends.
    Linux,
    /// gVisor's netstack, at both ends.
    Gvisor,
    /// smoltcp, at both ends.
    Smoltcp,
}

impl Row {
    /// Returns the settings of an end of a connection of this sender.
    pub(super) fn settings(&self, config: Config) -> Config {
        match &self.made_of {
            MadeOf::Kinds(kinds) => match kinds.host {
                Host::Any => config,
                Host::Linux => config.as_linux(),
                Host::Gvisor => config.as_gvisor(),
                Host::Smoltcp => config.as_smoltcp(),
            },
            MadeOf::TcpPr(_) => config,
            MadeOf::Quic(kinds) => (kinds.ends)(config),
        }
    }

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

    pub(super) const fn quic(
        name: &'static str,
        about: &'static str,
        source: &'static str,
        kinds: QuicKinds,
    ) -> Self {
        Self { name, about, source, made_of: MadeOf::Quic(kinds) }
    }

    /// Returns whether the sender is composed of parts and so takes others. All senders are, except
    /// those of TCP-PR and the QUIC stacks.
    pub fn is_composed(&self) -> bool {
        matches!(self.made_of, MadeOf::Kinds(_))
    }

    /// Returns whether the sender uses SACK blocks.
    pub fn takes_sack(&self) -> bool {
        match &self.made_of {
            MadeOf::Kinds(kinds) => kinds.acks == Acks::Sack,
            MadeOf::TcpPr(version) => version.selective,
            MadeOf::Quic(_) => true,
        }
    }

    /// Returns whether segments have packet numbers, as those of QUIC stacks. Both ends must be of such a
    /// sender then.
    pub fn numbers_packets(&self) -> bool {
        matches!(self.made_of, MadeOf::Quic(_))
    }

    /// Returns whether the sender depends on which of two copies arrived, or on packet numbers, which
    /// only the simulator has.
    pub fn is_for_simulation_only(&self) -> bool {
        match &self.made_of {
            MadeOf::Kinds(kinds) => kinds.lengths == Lengths::Original,
            MadeOf::TcpPr(_) => false,
            MadeOf::Quic(_) => true,
        }
    }
}

impl core::fmt::Debug for Row {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Row({})", self.name)
    }
}
