//! The senders of a race.

use std::fs;

use unruffled_kernel::NAME;
use unruffled_lab::senders::about;
use unruffled_tcp::Variant;
use unruffled_units::hint;

use crate::Error;

/// Congestion controls of the kernel that take part by default.
const DEFAULT_KERNELS: [&str; 3] = ["cubic", "reno", "bbr"];

/// A sender of a race.
#[derive(Clone, Debug)]
pub enum Competitor {
    /// The kernel under this congestion control.
    Kernel(String),
    /// The kernel under this congestion control, to a receiver whose packets are put in order.
    Resequenced(String),
    /// A sender of our engine.
    Ours(Box<Variant>),
}

impl Competitor {
    /// Returns the kernel under each of these congestion controls.
    ///
    /// `unruffled` may be missing from the kernel: a race loads it.
    ///
    /// # Errors
    /// [`Error::NoCongestionControl`] if the kernel lacks one; [`Error::Lab`] if one is named twice.
    pub fn kernels(names: &[String]) -> Result<Vec<Self>, Error> {
        let available = available();
        let is_known = |name: &String| *name == NAME || available.contains(name);
        let names: Vec<_> = names.iter().map(|name| name.trim().to_owned()).collect();
        if let Some(missing) = names.iter().find(|name| !is_known(name)) {
            let name = missing.clone();
            let hint = match Variant::parse(&name) {
                Ok(_) => format!("; {name} is a variant of ours (--variants)"),
                Err(_) => hint(&name, available.iter().map(String::as_str).chain([NAME])),
            };
            return Err(Error::NoCongestionControl { name, available: available.join(", "), hint });
        }
        let is_repeated = |(i, name): &(usize, &String)| names[..*i].contains(name);
        if let Some((_, name)) = names.iter().enumerate().find(is_repeated) {
            let (place, name) = ("--kernel".to_owned(), name.clone());
            return Err(unruffled_scenario::Error::Twice { place, name }.into());
        }
        Ok(names.into_iter().map(Self::Kernel).collect())
    }

    /// Returns the kernel under CUBIC, Reno and BBR, without those that it lacks.
    pub(crate) fn default_kernels() -> Vec<Self> {
        let available = available();
        let present = DEFAULT_KERNELS.iter().filter(|name| available.iter().any(|a| a == *name));
        present.map(|&name| Self::Kernel(name.to_owned())).collect()
    }

    /// Returns the name in result rows: `kernel-cubic`, `kernel-cubic+resequence`, or the variant's name.
    pub fn name(&self) -> String {
        match self {
            Self::Kernel(control) => format!("kernel-{control}"),
            Self::Resequenced(control) => format!("kernel-{control}+resequence"),
            Self::Ours(variant) => variant.name().to_owned(),
        }
    }

    /// Returns whether this is the congestion control of `unruffled attach`.
    pub(crate) fn is_loaded(&self) -> bool {
        matches!(self, Self::Kernel(control) | Self::Resequenced(control) if control == NAME)
    }

    /// Returns whether the packets to the receiver are put in order.
    pub(crate) fn is_resequenced(&self) -> bool {
        matches!(self, Self::Resequenced(_))
    }

    /// Returns a one-line description.
    pub(crate) fn about(&self) -> String {
        match self {
            Self::Kernel(control) => format!("Linux {} with {control}", release()),
            Self::Resequenced(control) => {
                format!("Linux {} with {control}, and a resequencer before the receiver", release())
            }
            Self::Ours(variant) => about(variant),
        }
    }
}

/// Returns the kernel's congestion controls.
fn available() -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = fs::read_to_string(path).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// Returns the kernel's release, such as `6.18.5`.
pub(crate) fn release() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}
