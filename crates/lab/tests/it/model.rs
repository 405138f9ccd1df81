//! The version of the model, by which stored results are found.

#[path = "../../build/sources.rs"]
mod sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the crates of this workspace on which a crate depends.
fn dependencies(name: &str) -> Vec<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest = crates.join(name).join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a crate has a manifest");
    let manifest: toml::Table = text.parse().expect("is TOML");
    let dependencies = manifest["dependencies"].as_table().expect("is a table");
    dependencies.keys().filter_map(|d| d.strip_prefix("unruffled-").map(str::to_owned)).collect()
}

/// Otherwise results of another version of that crate would be taken from the store.
#[test]
fn the_version_of_the_model_covers_every_crate_that_a_run_depends_on() {
    let mut covered = BTreeSet::new();
    let mut open = vec!["scenario".to_owned(), "sim".to_owned(), "measure".to_owned()];
    while let Some(name) = open.pop() {
        let folder = format!("../{name}/src");
        assert!(sources::MODEL.contains(&folder.as_str()), "{folder} is missing");
        if covered.insert(name.clone()) {
            open.extend(dependencies(&name));
        }
    }
    assert!(covered.contains("tcp"), "dependencies are followed");
}
