//! Compiles the part in C, and links the static libraries of `NGTCP2_ROOT` and the system's GnuTLS.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-env-changed=NGTCP2_ROOT");
    println!("cargo::rerun-if-changed=src/ends.c");
    println!("cargo::rerun-if-changed=src/tls.c");
    println!("cargo::rerun-if-changed=src/ends.h");
    let root = PathBuf::from(std::env::var_os("NGTCP2_ROOT").unwrap_or_default()).join("usr");
    cc::Build::new()
        .include(root.join("include"))
        .files(["src/ends.c", "src/tls.c"])
        .flag("-std=c11")
        .warnings(true)
        .extra_warnings(true)
        .compile("ends");
    let libraries = std::fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
    for folder in libraries.filter(|entry| entry.path().join("libngtcp2.a").exists()) {
        println!("cargo::rustc-link-search=native={}", folder.path().display());
    }
    println!("cargo::rustc-link-lib=static=ngtcp2_crypto_gnutls");
    println!("cargo::rustc-link-lib=static=ngtcp2");
    println!("cargo::rustc-link-lib=dylib=gnutls");
}
