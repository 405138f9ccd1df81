//! Rules of `iptables` and `ip6tables`: a chain of its own in the table raw.
//!
//! There are two variants, which have rules of their own: `legacy`, and `nft`, for the kernel's nf_tables.
//! The plain name is one of them.

use super::program::{Failure, run};
use super::{End, Match, Selection};
use crate::Hook;

/// Suffixes of the programs' names, in the order in which they are tried: the machine's choice first.
pub(super) const VARIANTS: [&str; 3] = ["", "-legacy", "-nft"];

/// Name of the chain. It has rules of resequencers only.
const CHAIN: &str = "UNRUFFLED-RESEQUENCE";

/// Comment of the chain's first rule if its program has created the table raw as well.
const NEW_TABLE: &str = "with the table";

/// Seconds for which a program waits for another one that changes rules.
const LOCK_WAIT: &str = "5";

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    fn program(self, variant: &str) -> String {
        match self {
            Self::V4 => format!("iptables{variant}"),
            Self::V6 => format!("ip6tables{variant}"),
        }
    }

    /// Name of the table in nf_tables.
    fn table(self) -> &'static str {
        match self {
            Self::V4 => "ip raw",
            Self::V6 => "ip6 raw",
        }
    }

    /// File with the names of the legacy variant's tables.
    fn legacy_tables(self) -> &'static str {
        match self {
            Self::V4 => "/proc/thread-self/net/ip_tables_names",
            Self::V6 => "/proc/thread-self/net/ip6_tables_names",
        }
    }
}

/// Installs the rules, and returns the name of the program.
pub(super) fn install(
    family: Family,
    variant: &str,
    selection: &Selection,
) -> Result<String, Failure> {
    let program = family.program(variant);
    let comment = is_nft(&program)? && has_table(family) == Some(false);
    restore(family, variant, &script(selection, comment))?;
    Ok(program)
}

/// Returns the rules of the table raw, or `None` if the chain is not there.
fn rules(family: Family, variant: &str) -> Option<String> {
    let program = family.program(variant);
    if !is_nft(&program).ok()? {
        // The program would create the table.
        let tables = std::fs::read_to_string(family.legacy_tables()).unwrap_or_default();
        if !tables.lines().any(|table| table == "raw") {
            return None;
        }
    }
    // A table that the program cannot show has none of its rules.
    let rules = run(&program, &["-w", LOCK_WAIT, "-t", "raw", "-S"], "").ok()?;
    rules.lines().any(|rule| rule == format!("-N {CHAIN}")).then_some(rules)
}

/// Removes the rules, and returns whether there were any.
pub(super) fn remove(family: Family, variant: &str) -> Result<bool, Failure> {
    let Some(rules) = rules(family, variant) else { return Ok(false) };
    let mut script = "*raw\n".to_owned();
    let jump = format!("-A PREROUTING -j {CHAIN}");
    for _ in rules.lines().filter(|rule| *rule == jump) {
        script += &format!("-D PREROUTING -j {CHAIN}\n");
    }
    script += &format!("-F {CHAIN}\n-X {CHAIN}\nCOMMIT\n");
    restore(family, variant, &script)?;
    if rules.contains(NEW_TABLE) {
        remove_empty_table(family);
    }
    Ok(true)
}

fn restore(family: Family, variant: &str, script: &str) -> Result<(), Failure> {
    let program = format!("{}-restore", family.program(variant));
    run(&program, &["-w", LOCK_WAIT, "--noflush"], script).map(drop)
}

/// Returns whether the program works on nf_tables.
fn is_nft(program: &str) -> Result<bool, Failure> {
    // Programs before 1.8 are legacy, and do not show a variant.
    run(program, &["-V"], "").map(|version| version.contains("nf_tables"))
}

/// Returns whether nf_tables has the table raw, or `None` without `nft`.
fn has_table(family: Family) -> Option<bool> {
    let tables = run("nft", &["list", "tables"], "").ok()?;
    let table = format!("table {}", family.table());
    Some(tables.lines().any(|line| line == table))
}

/// Removes the table raw if no rule and no chain of other programs is in it.
fn remove_empty_table(family: Family) {
    let Ok(table) = run("nft", &["list", "table", family.table()], "") else { return };
    let is_ours = |line: &str| {
        let line = line.trim();
        let is_chain = matches!(line, "chain PREROUTING {" | "chain OUTPUT {");
        let is_default = line.starts_with("type filter hook ") && line.ends_with("policy accept;");
        is_chain || is_default || matches!(line, "}" | "") || line.starts_with("table ")
    };
    if table.lines().all(is_ours) {
        let _ = run("nft", &["delete", "table", family.table()], "");
    }
}

/// Returns the input of `iptables-restore --noflush`.
fn script(selection: &Selection, new_table: bool) -> String {
    let comment =
        if new_table { format!("-m comment --comment \"{NEW_TABLE}\" ") } else { String::new() };
    let passes = match selection.hook {
        Hook::Input => "! --dst-type LOCAL",
        Hook::Forward => "--dst-type LOCAL",
    };
    let (first, last) = (selection.queues.start(), selection.queues.end());
    let queue = if first == last {
        format!("--queue-num {first}")
    } else {
        format!("--queue-balance {first}:{last}")
    };
    let mut text = format!(
        "*raw\n\
         :{CHAIN} - [0:0]\n\
         -A {CHAIN} -i lo {comment}-j RETURN\n\
         -A {CHAIN} -m addrtype {passes} -j RETURN\n"
    );
    for rule in &selection.matches {
        text += &format!("-A {CHAIN} {}-j NFQUEUE {queue} --queue-bypass\n", matching(rule));
    }
    text + &format!("-A PREROUTING -j {CHAIN}\nCOMMIT\n")
}

fn matching(rule: &Match) -> String {
    let mut text = String::new();
    if let Some(interface) = &rule.interface {
        text += &format!("-i {interface} ");
    }
    text += &format!("-p {} ", rule.protocol.name());
    if let Some((end, ports)) = rule.port {
        let end = match end {
            End::Source => "--sport",
            End::Destination => "--dport",
        };
        text += &format!("{end} {}:{} ", ports.first, ports.last);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PortRange, Settings};

    #[test]
    fn the_rules_are_in_a_chain_of_their_own() {
        let expected = "\
*raw
:UNRUFFLED-RESEQUENCE - [0:0]
-A UNRUFFLED-RESEQUENCE -i lo -j RETURN
-A UNRUFFLED-RESEQUENCE -m addrtype ! --dst-type LOCAL -j RETURN
-A UNRUFFLED-RESEQUENCE -p tcp -j NFQUEUE --queue-num 42000 --queue-bypass
-A PREROUTING -j UNRUFFLED-RESEQUENCE
COMMIT
";
        let selection = Selection::new(&Settings::default(), &[42_000]);
        assert_eq!(script(&selection, false), expected);
        let marked = script(&selection, true);
        assert!(marked.contains("-i lo -m comment --comment \"with the table\" -j RETURN\n"));
    }

    #[test]
    fn a_gateway_has_several_queues_for_some_ports_of_an_interface() {
        let settings = Settings {
            hook: Hook::Forward,
            interfaces: vec!["wan".into()],
            ports: vec![PortRange { first: 443, last: 443 }],
            ..Settings::default()
        };
        let script = script(&Selection::new(&settings, &[7, 8]), false);
        let rules: Vec<_> = script.lines().skip(3).collect();
        assert_eq!(
            rules,
            [
                "-A UNRUFFLED-RESEQUENCE -m addrtype --dst-type LOCAL -j RETURN",
                "-A UNRUFFLED-RESEQUENCE -i wan -p tcp --dport 443:443 -j NFQUEUE --queue-balance 7:8 \
                 --queue-bypass",
                "-A UNRUFFLED-RESEQUENCE -i wan -p tcp --sport 443:443 -j NFQUEUE --queue-balance 7:8 \
                 --queue-bypass",
                "-A PREROUTING -j UNRUFFLED-RESEQUENCE",
                "COMMIT",
            ]
        );
    }
}
