//! The JavaScript module of the web page's engine, by wasm-bindgen of the version in Cargo.lock.

use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;

/// Writes the module of the WebAssembly in `input` to the folder `output`.
pub(crate) fn bindgen(input: &Path, output: &Path) -> Result<(), String> {
    let module = || {
        let mut bindgen = Bindgen::new();
        bindgen.input_path(input).web(true)?.typescript(true);
        bindgen.remove_name_section(true).remove_producers_section(true);
        bindgen.generate(output)
    };
    module().map_err(|error| format!("{}: {error:#}", input.display()))
}
