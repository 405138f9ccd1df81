//! The senders of a race.

use std::fs;

use unruffled_kernel::Growth;
use unruffled_lab::senders::about;
use unruffled_tcp::Variant;
use unruffled_units::hint;

use crate::{Error, Foreign};

/// Congestion controls of the kernel that take part by default.
const DEFAULT_KERNELS: [&str; 3] = ["cubic", "reno", "bbr"];

/// Returns the name of a congestion control that a race loads, in flags and results.
fn name_of(growth: Growth) -> &'static str {
    match growth {
        Growth::Cubic => "unruffled",
        Growth::Bbr => "unruffled+bbr",
    }
}

/// Returns the growth of a congestion control that a race loads, from its name here or in the kernel.
fn growth_of(name: &str) -> Option<Growth> {
    Growth::ALL.into_iter().find(|&growth| name == name_of(growth) || name == growth.control())
}

/// A sender of a race.
#[derive(Clone, Debug)]
pub enum Competitor {
    /// The kernel under this congestion control.
    Kernel(String),
    /// The kernel under this congestion control, to a receiver whose packets are put in order.
    Resequenced(String),
    /// A sender of our engine.
    Ours(Box<Variant>),
    /// A foreign stack, at both ends.
    Foreign(Box<Foreign>),
}

impl Competitor {
    /// Returns the kernel under each of these congestion controls.
    ///
    /// `unruffled` and `unruffled+bbr` may be missing from the kernel: a race loads them.
    ///
    /// # Errors
    /// [`Error::NoCongestionControl`] if the kernel lacks one; [`Error::Lab`] if one is named twice.
    pub fn kernels(names: &[String]) -> Result<Vec<Self>, Error> {
        let available = available();
        let is_known = |name: &String| growth_of(name).is_some() || available.contains(name);
        let names = names.iter().map(|name| {
            let loaded = growth_of(name.trim()).map(name_of);
            loaded.unwrap_or(name.trim()).to_owned()
        });
        let names: Vec<_> = names.collect();
        if let Some(missing) = names.iter().find(|name| !is_known(name)) {
            let name = missing.clone();
            let hint = match Variant::parse(&name) {
                Ok(_) => format!("; {name} is a variant of ours (--variants)"),
                Err(_) => {
                    let loaded = Growth::ALL.map(name_of);
                    hint(&name, available.iter().map(String::as_str).chain(loaded))
                }
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
            Self::Foreign(foreign) => foreign.name(),
        }
    }

    /// Returns the growth of a congestion control of `unruffled attach`, which a race loads.
    pub fn growth(&self) -> Option<Growth> {
        match self {
            Self::Kernel(control) | Self::Resequenced(control) => growth_of(control),
            Self::Ours(_) | Self::Foreign(_) => None,
        }
    }

    /// Returns whether this is a congestion control of `unruffled attach`.
    pub(crate) fn is_loaded(&self) -> bool {
        self.growth().is_some()
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
            Self::Foreign(foreign) => foreign.about(),
        }
    }

    /// Returns whether real packets carry its transfer.
    pub fn is_real(&self) -> bool {
        !matches!(self, Self::Foreign(foreign) if foreign.is_virtual())
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
