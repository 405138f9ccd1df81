//! Chooses which libelf and zlib the command is linked with, where it loads BPF programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    if let Err(why) = link_archives(&out) {
        println!("cargo:warning={why}: the command needs libelf.so and libz.so where it runs");
    }
}

/// Makes `-lelf` and `-lz`, which libbpf-sys asks for, find archives, so that the command starts where
/// neither library is installed. The linker takes the first directory that has a library of the name, and
/// this directory has archives only.
///
/// This is done for the command alone: Python's module is a shared object, for which these archives are
/// not compiled. libbpf-sys's own features do not fit: `static-libelf` looks for the archive in no
/// directory of the system, and `vendored-libelf` takes autotools, flex, bison and gawk.
fn link_archives(directory: &Path) -> Result<(), String> {
    const CHOICE: &str = "UNRUFFLED_LIBELF";
    println!("cargo:rerun-if-env-changed={CHOICE}");
    println!("cargo:rerun-if-env-changed=CC");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG");
    match env::var(CHOICE).as_deref() {
        Ok("shared") => return Ok(()),
        Ok("" | "static") | Err(_) => {}
        Ok(other) => {
            println!("cargo::error={CHOICE}={other}: expected static or shared");
            return Ok(());
        }
    }
    if env::var_os("TARGET") != env::var_os("HOST") {
        return Err("cross-compiled".to_owned());
    }
    let elf = archive("elf")?;
    // zlib, and zstd since elfutils 0.189.
    let needed: Vec<_> = needed().iter().map(|name| archive(name)).collect::<Result<_, _>>()?;
    let zlib = archive("z")?;
    let group = std::iter::once(&elf).chain(&needed).chain([&zlib]);
    let group: String = group.map(|path| format!(" \"{}\"", path.display())).collect();
    let group = format!("GROUP ({group} )\n");
    let zlib = format!("INPUT ( \"{}\" )\n", zlib.display());
    let source = directory.join("probe.c");
    // The linker reads scripts under the names of libraries.
    let written = fs::write(directory.join("libelf.a"), group)
        .and_then(|()| fs::write(directory.join("libz.a"), zlib))
        .and_then(|()| fs::write(&source, "int main(void) { return 0; }\n"));
    written.map_err(|error| format!("{}: {error}", directory.display()))?;
    // Archives may not fit into a position-independent program, or lack what they need.
    let linked = Command::new(compiler())
        .args(["-pie", "-Wl,--whole-archive"])
        .arg(&elf)
        .arg("-Wl,--no-whole-archive")
        .arg(&source)
        .arg(directory.join("libelf.a"))
        .arg("-o")
        .arg(directory.join("probe"))
        .output();
    if !linked.is_ok_and(|linked| linked.status.success()) {
        return Err(format!("{} cannot be linked", elf.display()));
    }
    println!("cargo:rustc-link-search=native={}", directory.display());
    Ok(())
}

/// What `-l` names beside libelf itself where that is linked statically.
fn needed() -> Vec<String> {
    let pkg_config = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let told = Command::new(pkg_config).args(["--static", "--libs-only-l", "libelf"]).output();
    let told = told.map(|told| String::from_utf8_lossy(&told.stdout).into_owned());
    let told = told.unwrap_or_default();
    let names = told.split_whitespace().filter_map(|word| word.strip_prefix("-l"));
    names.filter(|name| *name != "elf").map(str::to_owned).collect()
}

/// The archive of a library, where the compiler looks for it.
fn archive(name: &str) -> Result<PathBuf, String> {
    let file = format!("lib{name}.a");
    let told = Command::new(compiler()).arg(format!("-print-file-name={file}")).output();
    let told = told.map_err(|error| format!("{}: {error}", compiler()))?;
    // Where there is none, it is the bare name.
    let path = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
    if path.is_absolute() { Ok(path) } else { Err(format!("{file} is not installed")) }
}

fn compiler() -> String {
    env::var("CC").unwrap_or_else(|_| "cc".to_owned())
}
