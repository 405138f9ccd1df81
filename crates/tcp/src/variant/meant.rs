//! Suggestions for names that are not senders.

use unruffled_units::{did_you_mean, similar};

use super::{PARTS, ROWS, Variant};

/// Congestion controls of Linux that no sender here has.
const KERNEL: [&str; 15] = [
    "bbr2",
    "bic",
    "cdg",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "prague",
    "scalable",
    "vegas",
    "veno",
    "yeah",
];

/// Row suggested when a name consists of parts only. Its loss detection is that of present Linux.
const DEFAULT_ROW: &str = "rack";

/// Returns the suggestion that ends the error for `name`: a similar sender, or how to run a control
/// of the kernel. Empty if nothing is similar.
pub(super) fn hint(name: &str) -> String {
    let plain = name.trim().to_lowercase().replace(['_', ' '], "-");
    let bare = ["tcp-", "kernel-", "linux-"].iter().find_map(|owner| plain.strip_prefix(owner));
    let bare = bare.unwrap_or(&plain);
    let of_kernel = bare.split('+').find(|name| KERNEL.contains(name));
    let of_kernel =
        of_kernel.or((plain.starts_with("kernel-") && bare != "unruffled").then_some(bare));
    if let Some(control) = of_kernel {
        return format!("; {control} is the kernel's own: race it with --kernel {control}");
    }
    [plain.as_str(), bare].into_iter().find_map(meant).map_or(String::new(), |m| did_you_mean(&m))
}

/// Returns the sender most similar to `plain`, a name in lower case.
fn meant(plain: &str) -> Option<String> {
    let mut names = plain.split('+').filter(|part| !part.is_empty());
    let base = names.next()?;
    let parts = || PARTS.iter().map(|part| part.name);
    let rows = || ROWS.iter().map(|row| row.name);
    // Reno is the control of every sender without an added one.
    let rest: Vec<&str> = names.filter(|part| *part != "reno").collect();
    let rest: Option<String> =
        rest.into_iter().map(|p| Some(format!("+{}", similar(p, parts())?))).collect();
    let beginning = match base {
        base if rows().any(|row| row == base) => Some(base.to_owned()),
        base if parts().any(|part| part == base) => Some(format!("{DEFAULT_ROW}+{base}")),
        _ => None,
    };
    let together: Vec<String> =
        rows().flat_map(|row| parts().map(move |part| format!("{row}+{part}"))).collect();
    let near = || {
        let with_part = || similar(base, together.iter().map(String::as_str)).map(str::to_owned);
        let alone = || similar(base, parts()).map(|part| format!("{DEFAULT_ROW}+{part}"));
        similar(base, rows()).map(str::to_owned).or_else(with_part).or_else(alone)
    };
    let name = beginning.or_else(near)? + &rest?;
    Variant::parse(&name).is_ok().then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similar_sender_is_suggested() {
        for (name, expected) in [
            ("bbr", "rack+bbr"),
            ("BBR3", "rack+bbr3"),
            ("cubic", "rack+cubic"),
            ("CUBIC", "rack+cubic"),
            ("tcp-cubic", "rack+cubic"),
            ("Linux", "linux"),
            ("tcp-linux", "linux"),
            ("cubic+eifel", "rack+cubic+eifel"),
            ("eifel", "rack+eifel"),
            ("RACK", "rack"),
            ("Rack+Cubic", "rack+cubic"),
            ("rack-cubic", "rack+cubic"),
            ("rak+cubc", "rack+cubic"),
            ("rack+reno", "rack"),
            ("rr_ta", "rr-ta"),
            ("rrta", "rr-ta"),
            ("sackk", "sack"),
            ("New Reno", "newreno"),
            ("unrufled", "unruffled"),
            ("tcp-pr-sak", "tcp-pr-sack"),
        ] {
            assert_eq!(hint(name), did_you_mean(expected), "{name}");
        }
    }

    #[test]
    fn a_congestion_control_that_only_the_kernel_has_is_pointed_out() {
        for (name, control) in [
            ("bbr2", "bbr2"),
            ("kernel-bbr", "bbr"),
            ("kernel-cubic", "cubic"),
            ("rack+dctcp", "dctcp"),
            ("tcp_vegas", "vegas"),
        ] {
            let expected =
                format!("; {control} is the kernel's own: race it with --kernel {control}");
            assert_eq!(hint(name), expected);
        }
    }

    #[test]
    fn a_name_that_is_similar_to_nothing_has_no_suggestion() {
        for name in ["", "+", "lambda", "x", "frobnicate", "sack+nonsense"] {
            assert_eq!(hint(name), "", "{name}");
        }
    }

    #[test]
    fn every_name_with_one_letter_missing_or_added_gets_a_suggestion_that_parses() {
        for row in ROWS.iter().filter(|row| row.name.len() > 3) {
            for at in 0..row.name.len() {
                let fewer = [&row.name[..at], &row.name[at + 1..]].concat();
                let more = [&row.name[..at], "x", &row.name[at..]].concat();
                for name in [fewer, more].iter().filter(|name| Variant::parse(name).is_err()) {
                    let hint = hint(name);
                    let meant =
                        hint.strip_prefix("; did you mean ").and_then(|h| h.strip_suffix('?'));
                    assert!(
                        meant.is_some_and(|name| Variant::parse(name).is_ok()),
                        "{name}: {hint}"
                    );
                }
            }
        }
    }
}
