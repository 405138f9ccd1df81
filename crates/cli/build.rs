//! Selects the libelf and zlib that the command is linked with if it loads BPF programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={SEARCH_TREE}");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    if let Err(why) = link_archives(&out) {
        println!("cargo:warning={why}: the command needs libelf.so and libz.so where it runs");
    }
}

/// Functions that the archive of elfutils 0.192 lacks.
const SEARCH_TREE: &str = "libelf/search_tree.c";

/// Makes the linker find archives for `-lelf` and `-lz`, which libbpf-sys requests, so that the command
/// starts where neither library is installed. The linker uses the first directory that has a library of
/// the name, and this directory has archives only.
///
/// Only the command is linked with them: Python's module is a shared object, for which these archives are
/// not compiled. The features of libbpf-sys are not suitable: `static-libelf` does not search the system's
/// directories, and `vendored-libelf` requires autotools, flex, bison and gawk.
fn link_archives(directory: &Path) -> Result<(), String> {
    const CHOICE: &str = "UNRUFFLED_LIBELF";
    for variable in [CHOICE, "CC", "PKG_CONFIG"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    match env::var(CHOICE).as_deref() {
        Ok("shared") => return Ok(()),
        Ok("" | "static") | Err(_) => {}
        Ok(other) => {
            println!("cargo::error={CHOICE}={other}: expected static or shared");
            return Ok(());
        }
    }
    let Some(compiler) = compiler() else {
        return Err("cross-compiled without a C compiler of its own".to_owned());
    };
    let compiler = compiler.as_str();
    let elf = archive(compiler, "elf")?;
    let zlib = archive(compiler, "z")?;
    // zlib, and zstd since elfutils 0.189.
    let needed: Vec<_> =
        needed().iter().map(|name| archive(compiler, name)).collect::<Result<_, _>>()?;
    script(&directory.join("libz.a"), [&zlib])?;
    let group = || std::iter::once(&elf).chain(&needed).chain([&zlib]);
    script(&directory.join("libelf.a"), group())?;
    if !can_be_linked(compiler, directory, &elf) {
        let added = directory.join("search_tree.o");
        run(Command::new(compiler).args(["-O2", "-fPIE", "-c", SEARCH_TREE, "-o"]).arg(&added))?;
        script(&directory.join("libelf.a"), group().chain([&added]))?;
        if !can_be_linked(compiler, directory, &elf) {
            return Err(format!("{} cannot be linked", elf.display()));
        }
    }
    // For programs only: a dependent shared object, such as the Python module, gets a plain search path, too.
    println!("cargo:rustc-link-arg-bins=-L{}", directory.display());
    Ok(())
}

/// Writes a linker script, which the linker accepts under the name of a library.
fn script<'a>(file: &Path, members: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), String> {
    let members = members.into_iter().map(|path| format!(" \"{}\"", path.display()));
    let text = format!("GROUP ({} )\n", members.collect::<String>());
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns whether a position-independent program can be linked with all of libelf and the additions of the
/// script.
fn can_be_linked(compiler: &str, directory: &Path, elf: &Path) -> bool {
    let source = directory.join("probe.c");
    let mut linking = Command::new(compiler);
    linking.args(["-pie", "-Wl,--whole-archive"]).arg(elf).arg("-Wl,--no-whole-archive");
    linking.arg(&source).arg(directory.join("libelf.a")).arg("-o").arg(directory.join("probe"));
    fs::write(&source, "int main(void) { return 0; }\n").is_ok() && run(&mut linking).is_ok()
}

/// Returns the libraries that a static libelf needs besides itself.
fn needed() -> Vec<String> {
    let pkg_config = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let flags = run(Command::new(pkg_config).args(["--static", "--libs-only-l", "libelf"]));
    let flags = flags.unwrap_or_default();
    let names = flags.split_whitespace().filter_map(|word| word.strip_prefix("-l"));
    names.filter(|name| *name != "elf").map(str::to_owned).collect()
}

/// Returns the path of a library's archive, as the compiler finds it.
fn archive(compiler: &str, name: &str) -> Result<PathBuf, String> {
    let file = format!("lib{name}.a");
    let printed = run(Command::new(compiler).arg(format!("-print-file-name={file}")))?;
    // If there is none, the compiler prints the bare name.
    let path = PathBuf::from(printed.trim());
    if path.is_absolute() { Ok(path) } else { Err(format!("{file} is not installed")) }
}

/// Returns the C compiler for the target. Another machine's is named by `CC_` and the target with
/// underscores, as for the crate cc.
fn compiler() -> Option<String> {
    let target = env::var("TARGET").unwrap_or_default();
    let variable = format!("CC_{}", target.replace('-', "_"));
    println!("cargo:rerun-if-env-changed={variable}");
    let is_native = env::var("HOST").is_ok_and(|host| host == target);
    let native = || is_native.then(|| env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
    env::var(variable).ok().or_else(native)
}

/// Returns the output of a command, if it succeeds.
fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name}: {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
