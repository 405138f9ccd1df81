//! Growth of the window, by which the congestion controls differ.

use std::fs;

use serde::{Deserialize, Serialize};

/// Growth of the window between losses.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Growth {
    /// CUBIC (RFC 9438), as Linux computes it.
    #[default]
    Cubic,
    /// The kernel's own BBR, version 1.
    Bbr,
}

impl Growth {
    /// All growths.
    pub const ALL: [Self; 2] = [Self::Cubic, Self::Bbr];

    /// Returns the name of the congestion control in the kernel.
    pub const fn control(self) -> &'static str {
        match self {
            Self::Cubic => "unruffled",
            Self::Bbr => "unruffled_bbr",
        }
    }

    /// Returns the growth of the congestion control of this name, if it is one of ours.
    pub fn of_control(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|growth| growth.control() == name)
    }

    /// Returns whether the congestion control is registered in the kernel.
    pub fn is_registered(self) -> bool {
        let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let names = fs::read_to_string(path).unwrap_or_default();
        names.split_whitespace().any(|name| name == self.control())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TCP_CA_NAME_MAX is 16, with the terminator. BPF allows letters, digits, `_` and `.` (bpf_obj_name_cpy).
    #[test]
    fn the_kernel_accepts_the_names() {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        for growth in Growth::ALL {
            assert!(growth.control().len() <= 15 && growth.control().chars().all(is_allowed));
            assert_eq!(Growth::of_control(growth.control()), Some(growth));
        }
        assert_eq!(Growth::of_control("cubic"), None);
    }
}
