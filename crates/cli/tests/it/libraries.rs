//! What the command needs of the machine where it runs: the C library, and what comes with the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const UNRUFFLED: &str = env!("CARGO_BIN_EXE_unruffled");

/// Of glibc and of gcc, by the begin of their names.
const USUAL: [&str; 8] = [
    "libc.so.",
    "libm.so.",
    "libgcc_s.so.",
    "libdl.so.",
    "libpthread.so.",
    "librt.so.",
    "ld-linux",
    "linux-vdso.so.",
];

/// Whether the archives of libelf and zlib are there, which the command is then linked with.
fn has_archives() -> bool {
    if !cfg!(feature = "bpf") {
        return true;
    }
    let found = |name: &str| {
        let told = Command::new("cc").arg(format!("-print-file-name={name}")).output();
        told.is_ok_and(|told| told.stdout.starts_with(b"/"))
    };
    let is_wanted = std::env::var_os("UNRUFFLED_LIBELF").is_none_or(|choice| choice != "shared");
    let has = is_wanted && found("libelf.a") && found("libz.a");
    if !has {
        eprintln!("skipped: libelf and zlib are linked as shared libraries");
    }
    has
}

/// The shared libraries, as they are named and where they are; nothing without `ldd`.
fn libraries() -> Option<Vec<(String, PathBuf)>> {
    let Ok(told) = Command::new("ldd").arg(UNRUFFLED).output() else {
        eprintln!("skipped: no ldd");
        return None;
    };
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let parse = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let path = words.iter().rev().find(|word| word.starts_with('/')).unwrap_or(&words[0]);
        let name = Path::new(words[0]).file_name().expect("a library has a name");
        (name.to_string_lossy().into_owned(), PathBuf::from(path))
    };
    Some(told.lines().filter(|line| line.starts_with('\t')).map(parse).collect())
}

#[test]
fn the_command_needs_the_c_library_alone() {
    if !has_archives() {
        return;
    }
    let Some(libraries) = libraries() else { return };
    let is_usual = |name: &str| USUAL.iter().any(|usual| name.starts_with(usual));
    let others: Vec<_> = libraries.iter().filter(|(name, _)| !is_usual(name)).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(libraries.iter().any(|(name, _)| name.starts_with("libc.so.")), "{libraries:?}");
}

/// A root directory with the command, glibc and libgcc, and nothing else.
#[test]
fn the_command_works_where_nothing_else_is_installed() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: chroot takes root");
        return;
    }
    if !has_archives() {
        return;
    }
    let Some(libraries) = libraries() else { return };
    let root = tempfile::tempdir().expect("a folder");
    fs::copy(UNRUFFLED, root.path().join("unruffled")).expect("is copied");
    fs::create_dir(root.path().join("tmp")).expect("a folder");
    let usual = libraries.iter().filter(|(name, path)| {
        path.is_absolute() && USUAL.iter().any(|usual| name.starts_with(usual))
    });
    for (_, path) in usual {
        let place = root.path().join(path.strip_prefix("/").expect("is absolute"));
        fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
        fs::copy(path, place).expect("is copied");
    }
    let short = ["--duration", "2s", "--seeds", "1", "--variants", "sack", "--no-report"];
    let captured = [&["compare", "rr-3", "--pcap", "/tmp/c.pcapng"], &short[..]].concat();
    for arguments in [&["--version"][..], &captured, &["analyze", "/tmp/c.pcapng"]] {
        let output =
            Command::new("chroot").arg(root.path()).arg("/unruffled").args(arguments).output();
        let output = output.expect("chroot is in coreutils");
        assert!(output.status.success() && !output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
}
