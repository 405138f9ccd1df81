//! The table of parts that can be added to a sender.

use crate::parts::Kind;
use crate::parts::control::AnyControl;
use crate::parts::control::bbr::BBR;
use crate::parts::control::bbr3::BBR3;
use crate::parts::control::cubic::CUBIC;
use crate::parts::control::linux_cubic::LINUX_CUBIC;
use crate::parts::control::westwood::WESTWOOD;

/// A part that can be added to a sender by name. [`PARTS`] lists what may follow a `+`.
#[derive(Clone, Copy)]
pub struct Part {
    /// Name, as written after the `+`.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Change to the sender.
    pub(super) change: Change,
}

impl core::fmt::Debug for Part {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Part({})", self.name)
    }
}

/// Change that a part makes to a sender.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Control(Kind<AnyControl>),
    Eifel,
    FRto,
}

/// Parts that can be added to any sender that is composed of parts.
pub const PARTS: &[Part] = &[
    Part {
        name: "cubic",
        about: "the window grows with the cube of the time since the last reduction",
        source: "RFC 9438",
        change: Change::Control(CUBIC),
    },
    Part {
        name: "linux-cubic",
        about: "as cubic, in whole segments and with HyStart, which ends slow start early",
        source: "Linux 6.18, tcp_cubic.c",
        change: Change::Control(LINUX_CUBIC),
    },
    Part {
        name: "westwood",
        about: "after a loss the window is what the path holds, by the rate of acknowledgements",
        source: "Casetti et al., TCP Westwood, Wireless Networks 8 (2002)",
        change: Change::Control(WESTWOOD),
    },
    Part {
        name: "bbr",
        about: "paced at the bandwidth and the minimum round-trip time; loss hardly matters",
        source: "Linux 6.18, tcp_bbr.c; Cardwell et al., ACM Queue 14 (2016)",
        change: Change::Control(BBR),
    },
    Part {
        name: "bbr3",
        about: "as bbr; losses bound what is in flight, and slow the sender down for a short time",
        source: "draft-ietf-ccwg-bbr-06",
        change: Change::Control(BBR3),
    },
    Part {
        name: "eifel",
        about: "timestamps identify spurious retransmissions; the window is restored",
        source: "RFC 3522, RFC 4015",
        change: Change::Eifel,
    },
    Part {
        name: "f-rto",
        about: "new data after a timeout shows whether it was spurious; the window is restored",
        source: "RFC 5682, RFC 4015",
        change: Change::FRto,
    },
];
