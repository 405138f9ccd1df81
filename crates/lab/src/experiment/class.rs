//! Why a claim fails, as one of a few classes.

use std::fmt;

/// Why a claim of a paper fails here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// No sender of this kind can do it, which a number shows.
    OutOfReach,
    /// A second implementation, in another simulator and by other people, has our numbers.
    SecondImplementationAgrees,
    /// The paper says something else elsewhere.
    ContradictsItself,
    /// What it depends on is not in the paper, or lost.
    SettingLost,
    /// The paper's number is of one run, and lies within the distribution of ours.
    SingleDraw,
    /// Another reading of the paper, which is stated, makes it hold.
    Reading,
    /// Not known.
    Open,
}

impl Class {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::OutOfReach,
        Self::SecondImplementationAgrees,
        Self::ContradictsItself,
        Self::SettingLost,
        Self::SingleDraw,
        Self::Reading,
        Self::Open,
    ];

    /// Its name, as an experiment's file has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::OutOfReach => "out of reach",
            Self::SecondImplementationAgrees => "second implementation agrees",
            Self::ContradictsItself => "contradicts itself",
            Self::SettingLost => "setting lost",
            Self::SingleDraw => "single draw",
            Self::Reading => "reading",
            Self::Open => "open",
        }
    }

    /// The class of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a claim fails: the class, and what shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The class.
    pub class: Class,
    /// What shows it, with numbers.
    pub why: String,
}
