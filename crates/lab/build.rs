//! Computes the version of the model, by which the store keeps results.

#[cfg(feature = "store")]
#[path = "build/model.rs"]
mod model;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "store")]
    {
        let crate_dir = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
        let model = model::model(std::path::Path::new(&crate_dir));
        println!("cargo::rustc-env=UNRUFFLED_MODEL={model}");
    }
}
