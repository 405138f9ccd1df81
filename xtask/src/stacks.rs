//! What foreign stacks do with late packets: the figures, `peers/stacks/figures.csv`, and the tables of the
//! documentation that are made from them.

use std::fs;
use std::path::Path;
use std::process::Command;

/// What is measured, by table.
const TABLE: &str = "peers/stacks/table.txt";
/// What was measured.
const FIGURES: &str = "peers/stacks/figures.csv";
/// The page whose tables are generated.
const PAGE: &str = "docs/guide/stacks.md";

const HEAD: &str =
    "stack,version,date,path,seeds,goodput_mbps,retransmits,spurious,discarded,lost_percent";

/// The paths, in the order of the columns: the scenario, the head of the column, and the number of seeds. Only
/// random losses differ between seeds.
const PATHS: [(&str, &str, u32); 6] = [
    ("stacks-in-order", "in order", 1),
    ("stacks-lossy", "0.5 % lost", 3),
    ("stacks-few-20ms", "5 % late by 20 ms", 1),
    ("stacks-few-100ms", "5 % late by 100 ms", 1),
    ("stacks-half-100ms", "half late by 100 ms", 1),
    ("stacks-bond", "bond", 1),
];

const BEGIN: &str = "<!-- stacks: ";
const END: &str = "<!-- end -->";

/// A stack on a path.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    stack: String,
    version: String,
    date: String,
    path: String,
    seeds: u32,
    /// Means over the seeds; not a number for what the stack does not count.
    goodput_mbps: f64,
    retransmits: f64,
    spurious: f64,
    discarded: f64,
    lost_percent: f64,
}

/// A stack of a table.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    name: String,
    /// Least number of seeds on every path, for a stack that draws at random itself.
    seeds: u32,
}

/// Returns a table's stacks: a name in each line, and a number of seeds after it if it needs more than one.
fn section(table: &str, name: &str) -> Vec<Entry> {
    let mut within = false;
    let mut stacks = Vec::new();
    for line in table.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            within = section == name;
        } else if within && !line.is_empty() && !line.starts_with('#') {
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default().to_owned();
            let seeds = words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
            stacks.push(Entry { name, seeds });
        }
    }
    stacks
}

impl Figure {
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(',').collect();
        let [stack, version, date, path, seeds, goodput, retransmits, spurious, discarded, lost] =
            fields[..]
        else {
            return None;
        };
        let number = |text: &str| if text.is_empty() { Some(f64::NAN) } else { text.parse().ok() };
        Some(Self {
            stack: stack.to_owned(),
            version: version.to_owned(),
            date: date.to_owned(),
            path: path.to_owned(),
            seeds: seeds.parse().ok()?,
            goodput_mbps: number(goodput)?,
            retransmits: number(retransmits)?,
            spurious: number(spurious)?,
            discarded: number(discarded)?,
            lost_percent: number(lost)?,
        })
    }

    fn line(&self) -> String {
        let number = |value: f64, decimals: usize| match value.is_nan() {
            true => String::new(),
            false => format!("{value:.decimals$}"),
        };
        let Self { stack, version, date, path, seeds, .. } = self;
        format!(
            "{stack},{version},{date},{path},{seeds},{},{},{},{},{}",
            number(self.goodput_mbps, 3),
            number(self.retransmits, 0),
            number(self.spurious, 0),
            number(self.discarded, 0),
            number(self.lost_percent, 2),
        )
    }

    /// Returns the mean of the rows that `race --json` has printed.
    fn of_json(json: &str) -> Option<[f64; 5]> {
        let value: serde_json::Value = serde_json::from_str(json).ok()?;
        let rows = value.get("rows")?.as_array()?;
        let mean = |name: &str| {
            let values = rows.iter().map(|row| row.get(name).and_then(serde_json::Value::as_f64));
            let values: Vec<f64> = values.map(|value| value.unwrap_or(f64::NAN)).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        (!rows.is_empty()).then(|| {
            [
                mean("goodput_bps") / 1e6,
                mean("retransmits"),
                mean("spurious_retransmits"),
                mean("discarded"),
                mean("loss_rate") * 100.0,
            ]
        })
    }
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
}

fn figures(root: &Path) -> Result<Vec<Figure>, String> {
    let Ok(text) = fs::read_to_string(root.join(FIGURES)) else { return Ok(Vec::new()) };
    let lines = text.lines().zip(1..).skip(1);
    lines
        .map(|(line, number)| {
            Figure::parse(line).ok_or_else(|| format!("{FIGURES}:{number}: expected {HEAD}"))
        })
        .collect()
}

/// Measures the stacks of the table that are built, or those of `only`, with the command `unruffled`, and writes
/// the figures.
///
/// # Errors
/// One line on the file or the command that failed.
pub(crate) fn measure(
    root: &Path,
    unruffled: &str,
    built: &str,
    only: &[&str],
) -> Result<Vec<String>, String> {
    let table = read(root, TABLE)?;
    let sections: Vec<&str> =
        table.lines().filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']')).collect();
    let stacks: Vec<Entry> = sections.iter().flat_map(|name| section(&table, name)).collect();
    let mut figures = figures(root)?;
    let date = output(Command::new("date").arg("+%Y-%m-%d"))?.trim().to_owned();
    for Entry { name: stack, seeds: own_seeds } in &stacks {
        let base = stack.split(['+', ':']).next().unwrap_or_default();
        if !only.is_empty() && !only.contains(&base) && !only.contains(&stack.as_str()) {
            continue;
        }
        let manifest = Path::new(built).join(base).join("stack.toml");
        let Ok(manifest) = fs::read_to_string(manifest) else {
            eprintln!("{stack}: not built, skipped");
            continue;
        };
        let version = manifest.lines().find_map(|line| line.strip_prefix("version = "));
        let version = version.unwrap_or_default().trim_matches('"').replace(',', ";");
        for (path, _, seeds) in PATHS {
            let seeds = seeds.max(*own_seeds);
            eprintln!("{stack} on {path}");
            let scenario = format!("peers/stacks/paths/{path}.toml");
            let seeds_text = seeds.to_string();
            let mut command = Command::new(unruffled);
            command
                .current_dir(root)
                .args(["race", &scenario, "--stack", stack, "--stacks", built]);
            command.args(["--duration", "60s", "--seeds", &seeds_text, "--no-report", "--json"]);
            let Some([goodput_mbps, retransmits, spurious, discarded, lost_percent]) =
                Figure::of_json(&output(&mut command)?)
            else {
                return Err(format!("{stack} on {path}: no transfer came to its end"));
            };
            let figure = Figure {
                stack: stack.clone(),
                version: version.clone(),
                date: date.clone(),
                path: path.to_owned(),
                seeds,
                goodput_mbps,
                retransmits,
                spurious,
                discarded,
                lost_percent,
            };
            figures.retain(|known| (&known.stack, &known.path) != (&figure.stack, &figure.path));
            figures.push(figure);
            write(root, &stacks, &mut figures)?;
        }
    }
    Ok(Vec::new())
}

/// Writes the figures in the order of the table.
fn write(root: &Path, stacks: &[Entry], figures: &mut Vec<Figure>) -> Result<(), String> {
    let place = |figure: &Figure| {
        let stack = stacks.iter().position(|stack| stack.name == figure.stack);
        let path = PATHS.iter().position(|(path, ..)| *path == figure.path);
        (stack, path)
    };
    figures.retain(|figure| place(figure).0.is_some() && place(figure).1.is_some());
    figures.sort_by_key(place);
    let lines: Vec<String> = figures.iter().map(Figure::line).collect();
    let text = format!("{HEAD}\n{}\n", lines.join("\n"));
    fs::write(root.join(FIGURES), text).map_err(|error| format!("{FIGURES}: {error}"))
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{command:?}: {}", output.status)),
    }
}

/// Returns the table of a section, in Markdown.
fn table(stacks: &[Entry], figures: &[Figure]) -> String {
    let heads: Vec<&str> = PATHS.iter().map(|(_, head, _)| *head).collect();
    let mut lines = vec![
        format!("| stack | version | measured | {} |", heads.join(" | ")),
        format!("|---|---|---|{}", "--:|".repeat(PATHS.len())),
    ];
    for Entry { name: stack, .. } in stacks {
        let of = |path: &str| figures.iter().find(|f| f.stack == *stack && f.path == path);
        let Some(first) = PATHS.iter().find_map(|(path, ..)| of(path)) else { continue };
        let cells: Vec<String> =
            PATHS.iter().map(|(path, ..)| of(path).map_or("–".to_owned(), cell)).collect();
        let version = without_commit(&first.version);
        let date = &first.date;
        lines.push(format!("| `{stack}` | {version} | {date} | {} |", cells.join(" | ")));
    }
    lines.join("\n")
}

/// Returns a Go version without the commit of a pseudo-version: its time is enough to read.
fn without_commit(version: &str) -> &str {
    let is_commit = |end: &str| end.len() == 12 && end.bytes().all(|b| b.is_ascii_hexdigit());
    match version.rsplit_once('-') {
        Some((start, end)) if is_commit(end) => start,
        _ => version,
    }
}

/// Returns the goodput with two significant digits.
fn cell(figure: &Figure) -> String {
    let goodput = figure.goodput_mbps;
    let decimals = match goodput {
        10.0.. => 0,
        1.0.. => 1,
        0.1.. => 2,
        _ => 3,
    };
    format!("{goodput:.decimals$}")
}

/// Returns the page with its tables brought up to date.
fn with_tables(page: &str, table_text: &str, figures: &[Figure]) -> Result<String, String> {
    let mut parts = page.split(BEGIN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").ok_or("a mark without its end")?;
        let (_, rest) = rest.split_once(END).ok_or_else(|| format!("{name}: expected {END}"))?;
        let table = table(&section(table_text, name), figures);
        text += &format!("{BEGIN}{name} -->\n\n{table}\n\n{END}{rest}");
    }
    Ok(text)
}

/// Writes the tables of the page.
///
/// # Errors
/// One line on the file that failed.
pub(crate) fn page(root: &Path) -> Result<Vec<String>, String> {
    let page = read(root, PAGE)?;
    let text = with_tables(&page, &read(root, TABLE)?, &figures(root)?)
        .map_err(|error| format!("{PAGE}: {error}"))?;
    fs::write(root.join(PAGE), text).map_err(|error| format!("{PAGE}: {error}"))?;
    Ok(Vec::new())
}

/// Returns a violation if the page's tables are not those of the figures.
///
/// # Errors
/// One line on the file that cannot be read.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let page = read(root, PAGE)?;
    let text = with_tables(&page, &read(root, TABLE)?, &figures(root)?)
        .map_err(|error| format!("{PAGE}: {error}"))?;
    let command = "cargo xtask stacks page";
    let violation = || format!("{PAGE}: its tables are not those of {FIGURES}: run {command}");
    Ok((text != page).then(violation).into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_names_and_seeds() {
        let table = "# A remark.\n[defaults]\nquinn\n\n[controls]\ngvisor+cubic 5\n# none\n";
        let entry = |name: &str, seeds| Entry { name: name.to_owned(), seeds };
        assert_eq!(section(table, "defaults"), [entry("quinn", 1)]);
        assert_eq!(section(table, "controls"), [entry("gvisor+cubic", 5)]);
        assert_eq!(section(table, "settings"), []);
    }

    const LINE: &str = "quinn,quinn-proto 0.11.19,2026-11-28,stacks-in-order,1,9.570,151,0,,0.30";

    #[test]
    fn a_figure_is_written_as_it_is_read() {
        let figure = Figure::parse(LINE).expect("is valid");
        assert!(figure.discarded.is_nan(), "the stack does not count them");
        assert_eq!(figure.line(), LINE);
        assert_eq!(Figure::parse("quinn,1"), None);
    }

    #[test]
    fn a_pseudo_version_has_no_commit() {
        let gvisor = "gvisor 0.0.0-20260905035102-160fafc42237";
        assert_eq!(without_commit(gvisor), "gvisor 0.0.0-20260905035102");
        assert_eq!(without_commit("ngtcp2 0.12.1+dfsg-1"), "ngtcp2 0.12.1+dfsg-1");
    }

    #[test]
    fn rows_become_their_mean() {
        let json = r#"{"rows": [
            {"goodput_bps": 4e6, "retransmits": 2, "spurious_retransmits": 1, "discarded": null, "loss_rate": 0.01},
            {"goodput_bps": 6e6, "retransmits": 4, "spurious_retransmits": 1, "discarded": 7, "loss_rate": 0.03}]}"#;
        let [goodput, retransmits, spurious, discarded, lost] =
            Figure::of_json(json).expect("has rows");
        assert_eq!((goodput, retransmits, spurious, lost), (5.0, 3.0, 1.0, 2.0));
        assert!(discarded.is_nan());
        assert_eq!(Figure::of_json(r#"{"rows": []}"#), None);
    }

    #[test]
    fn a_page_has_the_tables_that_it_marks() {
        let table = "[defaults]\nquinn\nquiche\n[controls]\nquinn+bbr\n";
        let page = "Before.\n\n<!-- stacks: defaults -->\nold\n<!-- end -->\n\nAfter.\n";
        let figures = [Figure::parse(LINE).expect("is valid")];
        let text = with_tables(page, table, &figures).expect("is marked");
        assert!(
            text.contains("| `quinn` | quinn-proto 0.11.19 | 2026-11-28 | 9.6 | – |"),
            "{text}"
        );
        assert!(!text.contains("quiche") && !text.contains("old"), "{text}");
        assert!(text.starts_with("Before.") && text.ends_with("<!-- end -->\n\nAfter.\n"));
        assert_eq!(with_tables(&text, table, &figures).as_ref(), Ok(&text));
    }
}
