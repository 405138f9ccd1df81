//! Rules of `nft`: a table of its own.

use super::program::{Failure, run};
use super::{End, Match, Selection};
use crate::Hook;

/// Name of the table. It has rules of resequencers only.
const TABLE: &str = "inet unruffled_resequence";

/// Priority of the chain: after raw (-300), whose rules a queued packet therefore meets, and before the
/// tracking of connections (-200).
const PRIORITY: i32 = -290;

pub(super) fn install(selection: &Selection) -> Result<(), Failure> {
    run("nft", &["-f", "-"], &script(selection)).map(drop)
}

/// Returns whether the table is there.
fn is_present() -> bool {
    // Without the program or the kernel's part there is no table.
    let tables = run("nft", &["list", "tables"], "").unwrap_or_default();
    tables.lines().any(|line| line == format!("table {TABLE}"))
}

/// Removes the table, and returns whether it was there.
pub(super) fn remove() -> Result<bool, Failure> {
    if !is_present() {
        return Ok(false);
    }
    run("nft", &["-f", "-"], &format!("delete table {TABLE}\n")).map(|_| true)
}

/// Returns the script that makes the table, and replaces one that is there.
fn script(selection: &Selection) -> String {
    let passes = match selection.hook {
        Hook::Input => "fib daddr type != local return",
        Hook::Forward => "fib daddr type local return",
    };
    let (first, last) = (selection.queues.start(), selection.queues.end());
    let queue = if first == last { first.to_string() } else { format!("{first}-{last}") };
    let mut text = format!(
        "add table {TABLE}\n\
         delete table {TABLE}\n\
         table {TABLE} {{\n\
         chain prerouting {{\n\
         type filter hook prerouting priority {PRIORITY}; policy accept;\n\
         iifname \"lo\" return\n\
         {passes}\n"
    );
    for rule in &selection.matches {
        text += &format!("{}queue num {queue} bypass\n", matching(rule));
    }
    text + "}\n}\n"
}

fn matching(rule: &Match) -> String {
    let mut text = String::new();
    if let Some(interface) = &rule.interface {
        text += &format!("iifname \"{interface}\" ");
    }
    let protocol = rule.protocol.name();
    text += &match rule.port {
        None => format!("meta l4proto {protocol} "),
        Some((end, ports)) => {
            let end = match end {
                End::Source => "sport",
                End::Destination => "dport",
            };
            format!("{protocol} {end} {}-{} ", ports.first, ports.last)
        }
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortRange, Settings};

    #[test]
    fn the_script_has_a_table_that_replaces_an_older_one() {
        let expected = "\
add table inet unruffled_resequence
delete table inet unruffled_resequence
table inet unruffled_resequence {
chain prerouting {
type filter hook prerouting priority -290; policy accept;
iifname \"lo\" return
fib daddr type != local return
meta l4proto tcp queue num 42000 bypass
}
}
";
        assert_eq!(script(&Selection::new(&Settings::default(), &[42_000])), expected);
    }

    #[test]
    fn a_gateway_has_several_queues_for_some_ports_of_an_interface() {
        let settings = Settings {
            hook: Hook::Forward,
            interfaces: vec!["wan".into()],
            ports: vec![PortRange { first: 5201, last: 5210 }],
            ..Settings::default()
        };
        let script = script(&Selection::new(&settings, &[7, 8]));
        assert!(script.contains("fib daddr type local return\n"), "{script}");
        let rules: Vec<_> = script.lines().filter(|line| line.contains("queue")).collect();
        assert_eq!(
            rules,
            [
                "iifname \"wan\" tcp dport 5201-5210 queue num 7-8 bypass",
                "iifname \"wan\" tcp sport 5201-5210 queue num 7-8 bypass",
            ]
        );
    }
}
