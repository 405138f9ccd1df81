//! The senders that take part.

use std::fs;

use unruffled_kernel::NAME;
use unruffled_lab::senders::about;
use unruffled_tcp::Variant;
use unruffled_units::hint;

use crate::Error;

/// The congestion controls that take part by default.
const USUAL: [&str; 3] = ["cubic", "reno", "bbr"];

/// A sender.
#[derive(Clone, Debug)]
pub enum Competitor {
    /// The kernel, under this congestion control.
    Kernel(String),
    /// Ours.
    Ours(Box<Variant>),
}

impl Competitor {
    /// The kernel under each of these congestion controls.
    ///
    /// `unruffled` need not be there yet: it is loaded for the race.
    ///
    /// # Errors
    /// The kernel lacks one, or one is named twice.
    pub fn kernels(names: &[String]) -> Result<Vec<Self>, Error> {
        let available = available();
        let known = |name: &String| *name == NAME || available.contains(name);
        let names: Vec<_> = names.iter().map(|name| name.trim().to_owned()).collect();
        if let Some(missing) = names.iter().find(|name| !known(name)) {
            let name = missing.clone();
            let hint = match Variant::parse(&name) {
                Ok(_) => format!("; {name} is a variant of ours (--variants)"),
                Err(_) => hint(&name, available.iter().map(String::as_str).chain([NAME])),
            };
            return Err(Error::NoCongestionControl { name, available: available.join(", "), hint });
        }
        let twice = |(i, name): &(usize, &String)| names[..*i].contains(name);
        if let Some((_, name)) = names.iter().enumerate().find(twice) {
            let (place, name) = ("--kernel".to_owned(), name.clone());
            return Err(unruffled_scenario::Error::Twice { place, name }.into());
        }
        Ok(names.into_iter().map(Self::Kernel).collect())
    }

    /// The kernel under what it has of CUBIC, Reno and BBR.
    pub(crate) fn usual_kernels() -> Vec<Self> {
        let available = available();
        let there = USUAL.iter().filter(|name| available.iter().any(|a| a == *name));
        there.map(|&name| Self::Kernel(name.to_owned())).collect()
    }

    /// The name of its rows: `kernel-cubic`, or the variant's.
    pub fn name(&self) -> String {
        match self {
            Self::Kernel(control) => format!("kernel-{control}"),
            Self::Ours(variant) => variant.name().to_owned(),
        }
    }

    /// Whether it is the congestion control of `unruffled attach`.
    pub(crate) fn is_loaded(&self) -> bool {
        matches!(self, Self::Kernel(control) if control == NAME)
    }

    /// One line on what it is.
    pub(crate) fn about(&self) -> String {
        match self {
            Self::Kernel(control) => format!("Linux {} with {control}", release()),
            Self::Ours(variant) => about(variant),
        }
    }
}

/// What the kernel offers.
fn available() -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = fs::read_to_string(path).unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// The kernel's release.
pub(crate) fn release() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}
