//! Checks of this repository's own sources, which no linter offers.
//!
//! `cargo xtask lint` prints one line for each violation and exits with status 1 if there is one.
//!
//! `cargo run -p xtask --features web -- web WASM FOLDER` writes the JavaScript module of the web page's
//! engine; scripts/web.sh calls it.

mod columns;
mod prose;
mod sources;
#[cfg(feature = "web")]
mod web;
mod words;

use std::path::Path;
use std::process::ExitCode;

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
    if arguments != ["lint"] {
        eprintln!("usage: cargo xtask lint");
        return ExitCode::from(2);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match lint(&root) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(violations) => {
            eprintln!("violations: {violations}; xtask/words.txt has the words");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Prints all violations below `root` and returns their number.
fn lint(root: &Path) -> Result<usize, String> {
    let files = sources::read_all(root)?;
    let config = words::Config::read(root)?;
    let mut violations = words::check(&files, &config);
    let checked = files.iter().filter(|file| config.is_checked(&file.path));
    violations.extend(columns::check(checked));
    for violation in &violations {
        println!("{violation}");
    }
    Ok(violations.len())
}
