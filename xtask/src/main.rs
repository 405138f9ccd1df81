//! Checks of this repository's own sources, which no linter offers.
//!
//! `cargo xtask lint` prints one line for each violation and exits with status 1 if there is one.
//! `cargo xtask site assemble BOOK` writes the pages of the documentation into a folder for mdBook, and
//! `cargo xtask site check SITE` reads the finished site; `scripts/site.sh` calls both.
//! `cargo xtask prose` checks the documentation alone.
//! `cargo xtask stacks measure` and `cargo xtask stacks page` bring the tables of foreign stacks up to date;
//! `scripts/stacks.sh figures` calls both.
//! `cargo xtask fields` prints the reference of JSON fields; `cargo xtask fields COMMAND` reads what a command has
//! printed, and reports the fields that the reference lacks.
//!
//! `cargo run -p xtask --features web -- web WASM FOLDER` writes the JavaScript module of the web page's
//! engine; scripts/web.sh calls it.

mod columns;
mod docs;
mod fields;
mod prose;
mod site;
mod sources;
mod stacks;
#[cfg(feature = "web")]
mod web;
mod words;

use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask lint | prose [ROOT] | fields [COMMAND] | \
                     stacks measure UNRUFFLED BUILT [STACK...] | stacks page | site assemble BOOK | site check SITE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    #[cfg(feature = "web")]
    if let [command, input, output] = arguments.as_slice()
        && command == "web"
    {
        return match web::bindgen(Path::new(input), Path::new(output)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(2)
            }
        };
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let violations = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["lint"] => lint(&root),
        ["prose"] => docs::check(&root),
        ["prose", other] => docs::check(Path::new(other)),
        ["fields"] => return print_fields(&root),
        ["fields", command] => fields::check(&root, command),
        ["stacks", "measure", unruffled, built, ref only @ ..] => {
            stacks::measure(&root, unruffled, built, only)
        }
        ["stacks", "page"] => stacks::page(&root),
        ["site", "assemble", book] => assemble(&root, Path::new(book)),
        ["site", "check", folder] => site::check(Path::new(folder)),
        _ => Err(USAGE.to_owned()),
    };
    match violations {
        Ok(violations) if violations.is_empty() => ExitCode::SUCCESS,
        Ok(violations) => {
            for violation in &violations {
                println!("{violation}");
            }
            eprintln!("violations: {}; CONTRIBUTING.md has the rules", violations.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints the reference of JSON fields.
fn print_fields(root: &Path) -> ExitCode {
    match fields::generate(root) {
        Ok(page) => {
            print!("{page}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Returns all violations below `root`.
fn lint(root: &Path) -> Result<Vec<String>, String> {
    let files = sources::read_all(root)?;
    let config = words::Config::read(root)?;
    let mut violations = words::check(&files, &config);
    let checked = files.iter().filter(|file| config.is_checked(&file.path));
    violations.extend(columns::check(checked));
    violations.extend(docs::check(root)?);
    violations.extend(stacks::check(root)?);
    Ok(violations)
}

/// Assembles the book, and prints the pages that this build of it lacks.
fn assemble(root: &Path, book: &Path) -> Result<Vec<String>, String> {
    for page in site::assemble(root, book)? {
        println!("site: without {page}, which was not generated");
    }
    Ok(Vec::new())
}
