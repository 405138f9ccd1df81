//! Shared libraries of the command: the C library, and those of the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const UNRUFFLED: &str = env!("CARGO_BIN_EXE_unruffled");

/// Libraries of glibc and gcc, by the start of their names.
const BASE_LIBRARIES: [&str; 8] = [
    "libc.so.",
    "libm.so.",
    "libgcc_s.so.",
    "libdl.so.",
    "libpthread.so.",
    "librt.so.",
    "ld-linux",
    "linux-vdso.so.",
];

/// Returns whether the command is linked with the archives of libelf and zlib.
fn has_archives() -> bool {
    if !cfg!(feature = "bpf") {
        return true;
    }
    let found = |name: &str| {
        let output = Command::new("cc").arg(format!("-print-file-name={name}")).output();
        output.is_ok_and(|output| output.stdout.starts_with(b"/"))
    };
    let is_static = std::env::var_os("UNRUFFLED_LIBELF").is_none_or(|choice| choice != "shared");
    let has = is_static && found("libelf.a") && found("libz.a");
    if !has {
        eprintln!("skipped: libelf and zlib are linked as shared libraries");
    }
    has
}

/// Returns names and paths of the shared libraries, or `None` without `ldd`.
fn libraries() -> Option<Vec<(String, PathBuf)>> {
    let Ok(output) = Command::new("ldd").arg(UNRUFFLED).output() else {
        eprintln!("skipped: no ldd");
        return None;
    };
    let list = String::from_utf8_lossy(&output.stdout).into_owned();
    let parse = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let path = words.iter().rev().find(|word| word.starts_with('/')).unwrap_or(&words[0]);
        let name = Path::new(words[0]).file_name().expect("a library has a name");
        (name.to_string_lossy().into_owned(), PathBuf::from(path))
    };
    Some(list.lines().filter(|line| line.starts_with('\t')).map(parse).collect())
}

#[test]
fn the_command_needs_only_the_c_library() {
    if !has_archives() {
        return;
    }
    let Some(libraries) = libraries() else { return };
    let is_base = |name: &str| BASE_LIBRARIES.iter().any(|base| name.starts_with(base));
    let others: Vec<_> = libraries.iter().filter(|(name, _)| !is_base(name)).collect();
    assert!(others.is_empty(), "{others:?}");
    assert!(libraries.iter().any(|(name, _)| name.starts_with("libc.so.")), "{libraries:?}");
}

/// The root directory has only the command, glibc and libgcc.
#[test]
fn the_command_works_where_nothing_else_is_installed() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: chroot needs root");
        return;
    }
    if !has_archives() {
        return;
    }
    let Some(libraries) = libraries() else { return };
    let root = tempfile::tempdir().expect("a folder");
    fs::copy(UNRUFFLED, root.path().join("unruffled")).expect("is copied");
    fs::create_dir(root.path().join("tmp")).expect("a folder");
    let base = libraries.iter().filter(|(name, path)| {
        path.is_absolute() && BASE_LIBRARIES.iter().any(|base| name.starts_with(base))
    });
    for (_, path) in base {
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
