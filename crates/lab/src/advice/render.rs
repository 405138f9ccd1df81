//! A plan as text.

use super::step::Step;
use crate::text::{COMMAND_INDENT, wrapped};

/// The advice on transfer `number`, a line for each step.
pub fn lines(plan: &[Step], number: usize) -> Vec<String> {
    let own = plan.iter().filter(|step| step.transfers.contains(&number));
    own.map(|step| format!("{} {}", step.in_words(), step.advice.command())).collect()
}

/// The steps for any of the `most` largest transfers.
pub(crate) fn for_largest(plan: &[Step], most: usize) -> impl Iterator<Item = &Step> {
    plan.iter().filter(move |step| step.transfers.iter().any(|&number| number <= most))
}

/// The plan for the `most` largest transfers, for a terminal of `width` columns. Each command has a line
/// of its own, which is never broken.
pub(crate) fn render(plan: &[Step], most: usize, width: usize) -> String {
    let mut text = String::new();
    let mut before: Option<&Step> = None;
    for (number, step) in (1..).zip(for_largest(plan, most)) {
        if number == 1 {
            text += "\nWhat to do, in this order:\n";
        }
        let is_there = before.is_some_and(|before| is_same_place(before, step));
        let line = match is_there {
            true => format!("{number}. There, {}", step.advice.text()),
            false => format!("{number}. {}", step.in_words()),
        };
        text += &wrapped(&line, width, "  ");
        let command = step.advice.command();
        let commands = match command.rsplit_once(" && ") {
            Some((first, then)) => vec![first, then],
            None => vec![command.as_str()],
        };
        for command in commands {
            text += &format!("{COMMAND_INDENT}{command}\n");
        }
        before = Some(step);
    }
    text
}

/// Returns whether both steps are for the same transfers on the same host.
fn is_same_place(one: &Step, other: &Step) -> bool {
    let place = |step: &Step| step.site.map(|site| (site.host, site.role));
    one.site.is_some() && place(one) == place(other) && one.transfers == other.transfers
}
