//! The classes of reasons why claims fail.

use std::fmt;

/// Why a claim of a paper fails in these experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// No sender of this kind can meet the claim, as a number shows.
    OutOfReach,
    /// A second implementation, in another simulator and by other people, has the same numbers.
    SecondImplementationAgrees,
    /// The paper contradicts the claim elsewhere.
    ContradictsItself,
    /// A setting that the claim depends on is not in the paper, or is lost.
    SettingLost,
    /// The paper's number is from one run, and lies within the distribution of these runs.
    SingleDraw,
    /// The claim holds by another reading of the paper, which is stated.
    Reading,
    /// The reason is unknown.
    Open,
}

impl Class {
    /// All classes, in their order of presentation.
    pub const ALL: [Self; 7] = [
        Self::OutOfReach,
        Self::SecondImplementationAgrees,
        Self::ContradictsItself,
        Self::SettingLost,
        Self::SingleDraw,
        Self::Reading,
        Self::Open,
    ];

    /// Returns the name in an experiment's file.
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

    /// Returns the class of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a claim fails: the class and the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The class.
    pub class: Class,
    /// The evidence, with numbers.
    pub why: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    /// Verdicts of a full run, as `make reproduce` writes them.
    const VERDICTS: &str = include_str!("../../experiments/verdicts.txt");

    /// Returns the verdicts on an experiment's claims, each with its claim, in their order.
    fn committed(id: &str) -> Vec<(&'static str, &'static str)> {
        let start = format!("{id}: ");
        let own = VERDICTS.lines().filter_map(|line| line.strip_prefix(&start));
        own.filter_map(|line| line.split_once(": ")).collect()
    }

    #[test]
    fn each_failing_claim_of_the_committed_results_has_its_class_and_no_other_claim_has_one() {
        let mut wrong = Vec::new();
        let mut failing = 0;
        let mut open = 0;
        for experiment in Experiment::all(false).expect("they load") {
            let verdicts = committed(&experiment.id);
            assert_eq!(verdicts.len(), experiment.claims.len(), "{}", experiment.id);
            for (claim, (verdict, text)) in experiment.claims.iter().zip(verdicts) {
                let claimed = claim.text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(text, claimed, "{}: the list is of other claims", experiment.id);
                let fails = verdict == "fails";
                if fails != claim.cause.is_some() {
                    wrong.push(format!("{}: {text}: {verdict}", experiment.id));
                }
                failing += usize::from(fails);
                let class = claim.cause.as_ref().map(|cause| cause.class);
                open += usize::from(class == Some(Class::Open));
            }
        }
        assert!(wrong.is_empty(), "{} claims:\n{}", wrong.len(), wrong.join("\n"));
        assert!(failing > 0 && open <= 10, "{failing} claims fail, {open} of them are open");
    }
}
