//! The reference of JSON fields, from the types that are serialised.

mod check;
mod definitions;
mod page;

use std::path::Path;

use self::definitions::Definitions;
pub(crate) use self::page::page;

/// Crates whose values are printed as JSON.
const CRATES: [&str; 8] =
    ["capture", "lab", "measure", "doctor", "kernel", "nfqueue", "cli", "scenario"];

/// A field that no type declares: name, value, meaning.
type Declared = (&'static str, &'static str, &'static str);

/// What a command prints with `--json`.
struct Document {
    command: &'static str,
    about: &'static str,
    /// File and name of the type; the file alone if all fields are declared here.
    file: &'static str,
    root: Option<&'static str>,
    more: &'static [Declared],
}

/// The documents, in the order of the page.
const DOCUMENTS: [Document; 5] = [
    Document {
        command: "compare",
        about: "One object. `sweep` has rows with the same names, `compare --csv` the columns of `rows`.",
        file: "crates/lab/src/table/data.rs",
        root: Some("Document"),
        more: &[],
    },
    Document {
        command: "race",
        about: "The same object as `compare`. What a kernel does not count is `null`.",
        file: "crates/lab/src/table/data.rs",
        root: None,
        more: &[],
    },
    Document {
        command: "analyze",
        about: "One object for each capture. Several captures are `captures` and `matches` of one object.",
        file: "crates/lab/src/analysis/json.rs",
        root: Some("Document"),
        more: &[],
    },
    Document {
        command: "status",
        about: "One object; with `--watch`, one a line.",
        file: "crates/cli/src/kernel/status/row.rs",
        root: None,
        more: &[
            ("version", "String", "Version of the command."),
            ("registered", "bool", "Whether the congestion control is loaded."),
            ("attached", "unruffled_kernel::Attachments", "What is attached, and since when."),
            ("interval_s", "Option<f64>", "Time that the rates cover, in seconds."),
            (
                "connections",
                "Vec<Row>",
                "The connections under the congestion control, as `--sort` has them.",
            ),
            (
                "totals",
                "Vec<unruffled_kernel::status::Totals>",
                "Sums, ended connections included.",
            ),
            ("ended", "u64", "Number of connections that ended within the interval."),
            (
                "others",
                "u64",
                "Number of connections under the congestion control of another version.",
            ),
            (
                "resequencer",
                "Option<unruffled_nfqueue::status::Status>",
                "The resequencer that runs in this network namespace.",
            ),
        ],
    },
    Document {
        command: "doctor",
        about: "One object.",
        file: "crates/doctor/src/report.rs",
        root: Some("Report"),
        more: &[
            ("commands", "Vec<String>", "The commands of the plan."),
            (
                "fix",
                "Option<unruffled_cli::doctor::Trial>",
                "With `--fix`: what attaching changed.",
            ),
        ],
    },
];

/// Types whose `Serialize` is written by hand, with their fields.
const BY_HAND: [(&str, &[Declared]); 3] = [
    (
        "RunRow",
        &[
            ("scenario", "String", "Name of the scenario."),
            ("variant", "String", "Full name of the sender."),
            ("seed", "u64", "Seed of all random numbers of the run."),
        ],
    ),
    (
        "Means",
        &[
            ("variant", "String", "Full name of the sender."),
            ("runs", "u64", "Number of runs."),
            ("goodput_bps", "Interval", "Goodput, in bits per second."),
            ("share_of_undisturbed", "Interval", "Share of the goodput of the undisturbed path."),
            ("METRIC", "Option<Interval>", "Each of the other numbers of `rows`."),
            (
                "beside",
                "Vec<Goodput>",
                "Goodput of other traffic beside the sender. Absent without other traffic.",
            ),
        ],
    ),
    (
        "Step",
        &[
            ("action", "Action", "What to do."),
            ("host", "Option<IpAddr>", "The host on which to do it, where it is known."),
            ("role", "Option<Role>", "Part of the host in the transfers."),
            ("captured_here", "Option<bool>", "Whether the capture was made on that host."),
            ("transfers", "Vec<u64>", "Numbers of the transfers that it helps."),
            ("text", "String", "The advice as a sentence."),
            ("command", "Option<String>", "The command, if there is one."),
        ],
    ),
];

/// Lists of metrics that are fields of a type whose `Serialize` is written by hand.
const METRICS: [(&str, &[(&str, &str)]); 1] = [(
    "RunRow",
    &[
        ("METRICS", ""),
        ("ECN_METRICS", "Only where the senders request ECN."),
        ("EXIT_METRICS", "Only where the far end of a link may drop packets."),
    ],
)];

/// Returns the fields of a JSON document on standard input, printed by `command`, that the page lacks.
///
/// # Errors
///
/// One line: what [`generate`] reports, or input that is no JSON.
pub(crate) fn check(root: &Path, command: &str) -> Result<Vec<String>, String> {
    let document = serde_json::from_reader(std::io::stdin().lock())
        .map_err(|error| format!("standard input: {error}"))?;
    let missing = check::undocumented(&generate(root)?, command, &document)?;
    Ok(missing.into_iter().map(|field| format!("{command}: {field}: not documented")).collect())
}

/// Returns the page, from the sources below `root`.
///
/// # Errors
///
/// One line: a file that cannot be read, a type that is not found, or a field without documentation.
pub(crate) fn generate(root: &Path) -> Result<String, String> {
    page(&Definitions::read(root, &CRATES)?)
}
