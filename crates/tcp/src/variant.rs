//! The senders by name. A [`Row`] of the table names the parts that a sender is made of; a
//! [`Variant`] is a row with parts added by name (`rr-ta+cubic`) and its parameters set.

mod parts;
mod rows;

use parts::Change;
pub use parts::{PARTS, Part};
pub use rows::ROWS;

use crate::Config;
use crate::control::cubic::Cubic;
use crate::control::westwood::Westwood;
use crate::control::{CongestionControl, Reno};
use crate::detect::LossDetector;
use crate::parameter::{Parameter, Values};
use crate::sender::tcp_pr::{Form, TcpPr};
use crate::sender::wb_rto::{Scale, WbRto};
use crate::sender::{LimitedTransmit, RESTORE};

/// What a sender does when it finds that a reduction of the window was needless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undo {
    /// Nothing.
    None,
    /// Slow-start back up to the old window, without a burst (RFC 2883, section 5.2; AVG-DEV,
    /// section III-A).
    SlowStart,
    /// Take the old window and threshold again at once, as Linux does.
    AtOnce,
}

/// How the window goes down over a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// To ssthresh at once; the pipe paces what is sent (RFC 6675).
    AtOnce,
    /// In proportion to what is delivered (PRR, RFC 9937).
    Proportional,
}

/// Recovery for peers without SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// Cumulative only; the first new acknowledgement ends recovery (Reno, RFC 5681).
    Reno,
    /// Cumulative only; partial acknowledgements resend the next hole (NewReno, RFC 6582).
    NewReno,
    /// Selective, with DSACK (RFC 6675).
    Sack,
    /// Cumulative only; duplicates say nothing (TCP-PR).
    Cumulative,
}

/// Which of a retransmitted segment's two acknowledgements measures its reordering length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// The mean of both, once a DSACK has come (RR-TCP's MEAN).
    Mean,
    /// That of the original, known by a bit that only the simulator has (RR-TCP's RTX).
    Rtx,
}

/// Retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timer {
    /// RFC 6298; with the parameter `rtt_percentile`, RR-TCP's enhanced sampling besides.
    Rfc6298,
    /// WB-RTO, with its weights of the contention in seconds.
    WbRto(Scale),
}

/// Who decides on losses, on the window and on what to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduct {
    /// The parts that the row names.
    Parts,
    /// TCP-PR, which is all of them in one: it takes no other part.
    TcpPr(Form),
}

impl Conduct {
    fn is_tcp_pr(self) -> bool {
        matches!(self, Self::TcpPr(_))
    }
}

/// Congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// RFC 5681.
    Reno,
    /// RFC 9438.
    Cubic,
    /// TCP Westwood.
    Westwood,
}

/// One published sender.
pub struct Row {
    /// Its name, as commands and scenarios write it.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// Who decides.
    pub conduct: Conduct,
    /// Acknowledgements and recovery.
    pub acks: Acks,
    /// Loss detection.
    pub(crate) detector: fn(&Values<'_>) -> Box<dyn LossDetector>,
    /// Loss detection in words.
    pub detection: &'static str,
    /// Response to needless reductions; the parameter `restore`, if the row has it, goes before.
    pub undo: Undo,
    /// Limited transmit; the parameter `limited_transmit`, if the row has it, goes before.
    pub limited_transmit: LimitedTransmit,
    /// Duplicates that wait for a hole grow the window as new acknowledgements do, in congestion
    /// avoidance; what it grows by is not sent before the wait ends (TCP-DCR, section 2.2).
    pub grows_while_waiting: bool,
    /// What is suspected to be lost is resent before it reduces the window.
    pub doubts: bool,
    /// Window reduction in recovery.
    pub reduction: Reduction,
    /// Retransmission timer.
    pub timer: Timer,
    /// Congestion control.
    pub control: Control,
    /// Tail loss probes.
    pub probes: bool,
    /// MEAN or RTX.
    pub flavour: Flavour,
    /// What can be set.
    pub parameters: &'static [Parameter],
}

impl core::fmt::Debug for Row {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Row({})", self.name)
    }
}

/// A sender: a row, the parts added to it, and the values of its parameters.
#[derive(Clone, Debug)]
pub struct Variant {
    name: String,
    row: &'static Row,
    control: Control,
    eifel: bool,
    f_rto: bool,
    parameters: Vec<Parameter>,
    values: Vec<f64>,
}

impl Variant {
    /// Reads a name: a row's, then parts, each behind a `+`.
    ///
    /// # Errors
    /// One line that says what is unknown, or why the parts do not go together.
    pub fn parse(name: &str) -> Result<Self, String> {
        let mut names = name.split('+');
        let base = names.next().unwrap_or_default();
        let row = ROWS.iter().find(|row| row.name == base).ok_or_else(|| {
            let known: Vec<&str> = ROWS.iter().map(|r| r.name).collect();
            format!("{name}: no such variant: expected one of {}", known.join(", "))
        })?;
        let mut variant = Self {
            name: name.to_owned(),
            row,
            control: row.control,
            eifel: false,
            f_rto: false,
            parameters: row.parameters.to_vec(),
            values: Vec::new(),
        };
        let mut taken: Vec<&str> = Vec::new();
        for part_name in names {
            let part = PARTS.iter().find(|part| part.name == part_name).ok_or_else(|| {
                let known: Vec<&str> = PARTS.iter().map(|p| p.name).collect();
                format!("{name}: no part {part_name:?}: expected one of {}", known.join(", "))
            })?;
            if taken.contains(&part.name) {
                return Err(format!("{name}: {part_name} stands twice"));
            }
            variant.add(part).map_err(|reason| format!("{name}: {reason}"))?;
            taken.push(part.name);
        }
        variant.values = variant.parameters.iter().map(|p| p.default).collect();
        Ok(variant)
    }

    /// Why `part` does not go with what the sender is made of, if it does not.
    fn clash(&self, part: &Part) -> Option<String> {
        let name = part.name;
        if self.row.conduct.is_tcp_pr() {
            return Some(format!(
                "{} has its own loss detection, timer and congestion control: expected no parts",
                self.row.name
            ));
        }
        match part.change {
            Change::Control(_) if self.control != Control::Reno => {
                Some(format!("{name} is a second congestion control: expected at most one"))
            }
            Change::Control(_) | Change::Eifel | Change::FRto => None,
        }
    }

    fn add(&mut self, part: &Part) -> Result<(), String> {
        if let Some(reason) = self.clash(part) {
            return Err(reason);
        }
        match part.change {
            Change::Control(control) => self.control = control,
            Change::Eifel => self.eifel = true,
            Change::FRto => self.f_rto = true,
        }
        self.parameters.extend_from_slice(part.parameters);
        Ok(())
    }

    /// The sender called `name`, with its parameters as published.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name).ok()
    }

    /// Sets a parameter, written in its unit.
    ///
    /// # Errors
    /// One line that says what was expected.
    pub fn set(&mut self, parameter: &str, text: &str) -> Result<(), String> {
        let Some(at) = self.parameters.iter().position(|p| p.name == parameter) else {
            let known: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
            return Err(match known.as_slice() {
                [] => format!("{} has no parameters", self.name),
                known => format!("no such parameter: expected one of {}", known.join(", ")),
            });
        };
        self.values[at] = self.parameters[at].parse(text)?;
        Ok(())
    }

    /// Its name, parts and all.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The row that it is based on.
    pub fn row(&self) -> &'static Row {
        self.row
    }

    /// Whether it needs what only the simulator tells: which of two copies arrived.
    pub fn is_for_simulation_only(&self) -> bool {
        self.row().flavour == Flavour::Rtx
    }

    /// Its parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&Parameter, f64)> {
        self.parameters.iter().zip(self.values.iter().copied())
    }

    /// The parts in words, in the order of the questions they answer.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let row = self.row;
        let acks = match row.acks {
            Acks::Reno => "cumulative, recovery ends with the first new one",
            Acks::NewReno => "cumulative, partial ones resend the next hole",
            Acks::Sack => "selective, with DSACK",
            Acks::Cumulative => "cumulative, duplicates say nothing",
        };
        let by_tcp_pr = row.conduct.is_tcp_pr();
        let undo = match self.undo() {
            Undo::None => "none",
            Undo::SlowStart => "DSACK restore, slow start up to the old window",
            Undo::AtOnce => "DSACK restore at once",
        };
        let timer = match (row.timer, self.values().find("rtt_percentile")) {
            _ if by_tcp_pr => "none: every packet has its own".to_owned(),
            (Timer::Rfc6298, None) => "RFC 6298".to_owned(),
            (Timer::Rfc6298, Some(p)) => {
                format!("RFC 6298, at least the {:.1}th percentile", p * 100.0)
            }
            (Timer::WbRto([a1, a2, a3, a4]), _) => {
                format!("random between the RTT and 1 to 2 times {a1}, {a2}, {a3} or {a4} s")
            }
        };
        let reduction = match row.reduction {
            _ if by_tcp_pr => "to half the window of the time when the lost packet was sent",
            Reduction::AtOnce => "to ssthresh at once",
            Reduction::Proportional => "proportional (PRR)",
        };
        let control = match self.control {
            _ if by_tcp_pr => "TCP-PR's own",
            Control::Reno => "Reno, RFC 5681",
            Control::Cubic => "CUBIC, RFC 9438",
            Control::Westwood => "Westwood, ssthresh from the rate of acknowledgements",
        };
        let mut parts = vec![
            ("acknowledgements", acks.to_owned()),
            ("loss detection", row.detection.to_owned()),
            ("spurious response", undo.to_owned()),
            ("retransmission timer", timer),
            ("limited transmit", self.limited_transmit().to_string()),
            ("window reduction", reduction.to_owned()),
            ("congestion control", control.to_owned()),
        ];
        if row.grows_while_waiting {
            parts.push(("while a hole waits", "the window keeps its additive increase".to_owned()));
        }
        if self.eifel {
            parts.push(("eifel", "timestamps, RFC 3522; response RFC 4015".to_owned()));
        }
        if self.f_rto {
            parts.push(("f-rto", "RFC 5682; response RFC 4015".to_owned()));
        }
        if row.probes {
            parts.push(("tail loss probe", "RFC 8985, section 7".to_owned()));
        }
        parts
    }

    /// Whether Eifel detection is part of it, which needs timestamps at both ends.
    pub(crate) fn eifel(&self) -> bool {
        self.eifel
    }

    /// Whether it is told by SACK blocks what arrived.
    pub(crate) fn takes_sack(&self) -> bool {
        self.row.acks == Acks::Sack
    }

    /// The settings of a connection with this sender.
    pub(crate) fn settings(&self, config: Config) -> Config {
        Config { timestamps: config.timestamps || self.eifel(), ..config }
    }

    pub(crate) fn f_rto(&self) -> bool {
        self.f_rto
    }

    pub(crate) fn values(&self) -> Values<'_> {
        Values { parameters: &self.parameters, values: &self.values }
    }

    pub(crate) fn detector(&self) -> Box<dyn LossDetector> {
        (self.row.detector)(&self.values())
    }

    /// TCP-PR's machine, if the sender lives by it.
    pub(crate) fn tcp_pr(&self, config: &Config) -> Option<TcpPr> {
        let Conduct::TcpPr(form) = self.row.conduct else { return None };
        Some(TcpPr::build(form, &self.values(), config))
    }

    /// What becomes of the window when its reduction proves needless.
    pub(crate) fn undo(&self) -> Undo {
        match self.values().find_choice(RESTORE.name) {
            None => self.row.undo,
            Some("at-once") => Undo::AtOnce,
            Some(_) => Undo::SlowStart,
        }
    }

    pub(crate) fn limited_transmit(&self) -> LimitedTransmit {
        let windows = self.values().find("limited_transmit");
        windows.map_or(self.row.limited_transmit, LimitedTransmit::Windows)
    }

    pub(crate) fn wb_rto(&self, config: &Config) -> Option<WbRto> {
        match self.row.timer {
            Timer::Rfc6298 => None,
            Timer::WbRto(scale) => Some(WbRto::build(&self.values(), scale, config)),
        }
    }

    pub(crate) fn congestion_control(&self) -> Box<dyn CongestionControl> {
        match self.control {
            Control::Reno => Box::new(Reno),
            Control::Cubic => Cubic::build(&self.values()),
            Control::Westwood => Westwood::build(&self.values()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_defaults_within_their_ranges() {
        for (i, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..i].iter().all(|r| r.name != row.name), "{} stands twice", row.name);
            let variant = Variant::named(row.name).expect("a row is a variant");
            for (parameter, value) in variant.parameters() {
                let (low, high) = parameter.range;
                assert!((low..=high).contains(&value), "{} {}", row.name, parameter.name);
                let shown = parameter.show(value);
                let text = shown.trim_end_matches(" segments").trim_end_matches(" cwnd");
                assert_eq!(parameter.parse(text), Ok(value), "{} {shown}", row.name);
            }
            // Every parameter that the parts read is declared: building them panics otherwise.
            let _ = (variant.detector(), variant.congestion_control());
            let _ = variant.wb_rto(&Config::default());
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_reason() {
        let refused = |name: &str| Variant::parse(name).expect_err(name);
        assert!(refused("sackk").starts_with("sackk: no such variant: expected one of reno, "));
        assert!(refused("sack+nonsense").starts_with("sack+nonsense: no part \"nonsense\""));
        let second = "is a second congestion control: expected at most one";
        assert_eq!(refused("westwood+cubic"), format!("westwood+cubic: cubic {second}"));
        assert_eq!(
            refused("sack+cubic+westwood"),
            format!("sack+cubic+westwood: westwood {second}")
        );
        assert_eq!(refused("sack+eifel+eifel"), "sack+eifel+eifel: eifel stands twice");
    }

    #[test]
    fn parts_go_with_any_sender_in_any_order_and_bring_their_parameters() {
        for row in ROWS {
            for parts in ["+cubic+eifel+f-rto", "+f-rto+eifel", "+westwood"] {
                let name = format!("{}{parts}", row.name);
                let Ok(variant) = Variant::parse(&name) else {
                    let whole = row.conduct.is_tcp_pr();
                    assert!(whole || row.control != Control::Reno, "{name}");
                    continue;
                };
                let _ = (variant.detector(), variant.congestion_control());
            }
        }
        let mut variant = Variant::named("rr-ta+cubic").expect("makes sense");
        variant.set("beta", "0.5").expect("in its range");
        assert_eq!((variant.values().get("beta"), variant.values().get("c")), (0.5, 0.4));
        assert_eq!(variant.set("beta", "1"), Err("expected 0.1 to 0.99, found \"1\"".to_owned()));
        assert!(variant.set("c", "0").is_err());
    }

    #[test]
    fn a_sender_that_is_all_of_one_piece_takes_no_parts() {
        let change = Change::Control(Control::Reno);
        let part = Part { name: "other", about: "", source: "", change, parameters: &[] };
        for name in ["tcp-pr", "tcp-pr-extreme", "tcp-pr-sack"] {
            let mut variant = Variant::named(name).expect("exists");
            let reason =
                "has its own loss detection, timer and congestion control: expected no parts";
            assert_eq!(variant.add(&part), Err(format!("{name} {reason}")));
        }
    }

    #[test]
    fn a_parameter_can_be_set_in_its_unit() {
        let mut variant = Variant::named("rr-ta").expect("exists");
        variant.set("history", "40s").expect("a time");
        assert_eq!(variant.values().get("history"), 40.0);
        assert_eq!(
            variant.set("fa_ratio", "120 %"),
            Err("expected 0 % to 99 %, found \"120 %\"".to_owned())
        );
        assert!(variant.set("colour", "1").is_err());
    }
}
