//! Commands of the documentation: those that can run in a moment run, in short variants; of the others the
//! arguments are checked.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use crate::command::{prints, unruffled};

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Documented {
    page: String,
    /// Arguments of `unruffled`.
    arguments: Vec<String>,
    is_root: bool,
    /// The text of the TOML block before it.
    toml: String,
}

/// Returns the commands in the blocks `sh` and `console` of a page that begin with `unruffled`.
fn commands(page: &str, text: &str) -> Vec<Documented> {
    let mut commands = Vec::new();
    let mut toml = String::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("```") {
        let (language, after) = after.split_once('\n').unwrap_or((after, ""));
        let (block, after) = after.split_once("```").unwrap_or((after, ""));
        rest = after;
        match language.trim() {
            "toml" => toml = block.to_owned(),
            language @ ("sh" | "console") => {
                for line in block.replace("\\\n", " ").lines() {
                    let line = line.trim();
                    let line = match language {
                        "console" => line.strip_prefix("$ ").unwrap_or(""),
                        _ => line,
                    };
                    commands.extend(of_line(line).into_iter().map(|(arguments, is_root)| {
                        let (page, toml) = (page.to_owned(), toml.clone());
                        Documented { page, arguments, is_root, toml }
                    }));
                }
            }
            _ => {}
        }
    }
    commands
}

/// Returns the arguments of each `unruffled` in a line of a shell, and whether `sudo` comes before it.
fn of_line(line: &str) -> Vec<(Vec<String>, bool)> {
    let mut found = Vec::new();
    for words in words(line).split(|word| matches!(word.as_str(), "|" | "&&" | ";" | "||")) {
        let is_assignment = |word: &String| {
            word.split_once('=')
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        };
        let mut words = words.iter().skip_while(|word| is_assignment(word)).peekable();
        let is_root = words.next_if(|word| *word == "sudo").is_some();
        if words.next().is_some_and(|program| program == "unruffled") {
            let own = words.take_while(|word| !matches!(word.as_str(), ">" | ">>" | "2>"));
            found.push((own.cloned().collect(), is_root));
        }
    }
    found
}

/// Splits a line as a shell does, without expansions. A comment ends it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Returns why a command does not run in this test.
fn reason(command: &Documented) -> Option<&'static str> {
    let arguments = &command.arguments;
    let has = |flag: &str| arguments.iter().any(|word| word == flag);
    let records = ["docs/measurements/", "docs/internals/", "docs/architecture.md"];
    if records.iter().any(|start| command.page.starts_with(start)) {
        return Some("a measurement");
    }
    if command.is_root {
        return Some("root");
    }
    if arguments.iter().any(|word| word.contains('$')) {
        return Some("a variable of the shell");
    }
    match arguments.first()?.as_str() {
        "attach" | "detach" | "run" | "status" | "resequence" => Some("the kernel of this machine"),
        "race" | "emulate" | "doctor" => Some("real time"),
        "analyze" if has("-i") => Some("packets of this machine"),
        "compare" if has("--all") || has("--random") => Some("minutes"),
        "reproduce" if !has("--list") => Some("minutes"),
        "sweep" | "bench" => Some("minutes"),
        "store" => Some("runs of before"),
        _ => None,
    }
}

/// Returns a variant that takes a moment: one seed of three seconds, no report.
fn short(arguments: &[String]) -> Vec<String> {
    if arguments.first().is_none_or(|name| name != "compare") {
        return arguments.to_vec();
    }
    let mut kept = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--duration" | "--seeds" | "--report" => drop(words.next()),
            "--no-report" => {}
            "--set" => match words.next() {
                Some(value) if value.starts_with("duration=") => {}
                value => kept.extend([Some(word), value].into_iter().flatten().cloned()),
            },
            _ => kept.push(word.clone()),
        }
    }
    let more = ["--duration", "3 s", "--set", "warmup=0 s", "--seeds", "1", "--no-report"];
    kept.extend(more.map(str::to_owned));
    kept
}

/// A folder with what the pages presume: the repository's files, a capture, and a page's own file.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder can be made");
        for name in ["docs", "crates"] {
            let link = folder.path().join(name);
            std::os::unix::fs::symlink(root().join(name), link).expect("a link can be made");
        }
        let capture =
            ["compare", "few-late", "--variants", "unruffled", "--seeds", "1", "--no-report"];
        let more = ["--duration", "3 s", "--pcap", "capture.pcapng"];
        prints(&folder, &[&capture[..], &more].concat());
        Self { folder }
    }

    /// Runs a command with the files that it reads.
    fn run(&self, command: &Documented) -> Output {
        let path = |name: &str| self.folder.path().join(name);
        for word in &command.arguments[1..] {
            if word.ends_with(".toml") && command.arguments[0] == "compare" {
                // A page shows the file first, or writes it by another command.
                let is_shown = command.toml.contains("[link");
                let text = if is_shown {
                    command.toml.clone()
                } else {
                    prints(&self.folder, &["scenarios", "--show", "half-late"])
                };
                if !path(word).exists() || is_shown && !word.contains('/') {
                    fs::write(path(word), text).expect("can be written");
                }
            }
            if [".pcap", ".pcapng"].iter().any(|end| word.ends_with(end)) && !path(word).exists() {
                fs::copy(path("capture.pcapng"), path(word)).expect("can be copied");
            }
        }
        let mut arguments = short(&command.arguments);
        if ["analyze", "scenarios"].contains(&arguments[0].as_str())
            && arguments
                .iter()
                .any(|word| ["--scenario", "--report", "--save"].contains(&word.as_str()))
        {
            arguments.push("--force".to_owned());
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        unruffled(&self.folder, &arguments).output().expect("runs")
    }
}

/// Returns all commands of the README and of the pages below `docs`.
fn all() -> Vec<Documented> {
    let mut pages = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("can be read") {
            let entry = entry.expect("can be read");
            let path = folder.join(entry.file_name());
            if entry.file_type().expect("can be read").is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    let of_page = |page: &PathBuf| {
        let text = fs::read_to_string(root().join(page)).expect("can be read");
        commands(&page.to_string_lossy(), &text)
    };
    pages.iter().flat_map(of_page).collect()
}

#[test]
fn the_command_takes_the_arguments_of_every_documented_command() {
    let mut wrong = Vec::new();
    for command in all() {
        let arguments: Vec<OsString> = command.arguments.iter().map(OsString::from).collect();
        if let Err(line) = unruffled_cli::check_arguments(&arguments) {
            wrong.push(format!("{}: {}: {line}", command.page, command.arguments.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{} commands:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn documented_commands_run() {
    let place = Place::new();
    let mut wrong = Vec::new();
    let mut ran: Vec<Vec<String>> = Vec::new();
    for command in all() {
        let Documented { page, arguments, .. } = &command;
        let line = arguments.join(" ");
        if let Some(reason) = reason(&command) {
            println!("{page}: not run ({reason}): {line}");
            continue;
        }
        if arguments.is_empty() || ran.contains(arguments) {
            continue;
        }
        ran.push(arguments.clone());
        let output = place.run(&command);
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            wrong.push(format!("{page}: {line}: {}", errors.trim()));
        }
    }
    assert!(wrong.is_empty(), "{} commands:\n{}", wrong.len(), wrong.join("\n"));
    println!("{} commands ran", ran.len());
    assert!(ran.len() > 30, "only {} commands ran", ran.len());
}

#[test]
fn commands_are_found_in_their_blocks() {
    let page = "`unruffled no`\n```toml\n[link.a]\n```\n```sh\nV=1 unruffled compare a \\\n  'b c' # d\n\
                sudo unruffled race | jq '.x | y'\ncat x | unruffled analyze - > y\nother unruffled\n```\n\
                ```console\n$ unruffled compare\nunruffled: output\n```\n```text\nunruffled no\n```\n";
    let found: Vec<_> = commands("p.md", page)
        .into_iter()
        .map(|command| (command.arguments.join("|"), command.is_root, command.toml))
        .collect();
    let expected =
        [("compare|a|b c", false), ("race", true), ("analyze|-", false), ("compare", false)];
    let expected = expected.map(|(words, root)| (words.to_owned(), root, "[link.a]\n".to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn a_short_variant_has_one_seed_of_three_seconds() {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let long =
        words("compare rr-3 --seeds 5 --set duration=60s --set a=b --duration 9s --report x");
    let expected = "compare rr-3 --set a=b --duration 3 s --set warmup=0 s --seeds 1 --no-report";
    assert_eq!(short(&long).join(" "), expected);
    assert_eq!(short(&words("variants sack")).join(" "), "variants sack");
}
