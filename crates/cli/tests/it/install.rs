//! What `make install` installs: man pages and completions of every subcommand, and units that systemd accepts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const UNRUFFLED: &str = env!("CARGO_BIN_EXE_unruffled");

/// Returns scripts/install.sh for the command of this build.
fn script() -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/install.sh");
    let mut command = Command::new(script);
    for variable in ["DESTDIR", "PREFIX", "SYSCONFDIR", "UNITDIR", "ZSHDIR", "RUNNER", "PROFILE"] {
        command.env_remove(variable);
    }
    command.env("BINARY", UNRUFFLED);
    command
}

/// Runs scripts/install.sh for files below `root`.
fn install(root: &TempDir, verb: &str, prefix: &str) -> Output {
    let mut command = script();
    let output = command.arg(verb).env("DESTDIR", root.path()).env("PREFIX", prefix).output();
    let output = output.expect("sh runs");
    assert!(output.status.success(), "{output:?}");
    output
}

/// Returns the paths of all files below `folder`, relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("can be read") {
            let path = entry.expect("can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).expect("is below").to_owned());
            }
        }
    }
    found
}

/// Returns the names of the subcommands that the help lists.
fn subcommands() -> Vec<String> {
    let help = Command::new(UNRUFFLED).arg("--help").output().expect("runs");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let (_, commands) = help.split_once("Commands:\n").expect("subcommands");
    let lines = commands.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_subcommand_has_a_man_page_and_completions() {
    let root = tempfile::tempdir().expect("a folder");
    install(&root, "install", "/usr");
    let share = root.path().join("usr/share");
    let read = |path: &str| fs::read_to_string(share.join(path)).expect(path);
    let overview = read("man/man1/unruffled.1");
    let completions = [
        read("bash-completion/completions/unruffled"),
        read("fish/vendor_completions.d/unruffled.fish"),
        read("zsh/site-functions/_unruffled"),
    ];
    let subcommands = subcommands();
    assert!(subcommands.len() > 10, "{subcommands:?}");
    for name in &subcommands {
        let page = read(&format!("man/man1/unruffled-{name}.1"));
        for section in ["NAME", "SYNOPSIS", "OPTIONS", "\"EXIT STATUS\""] {
            assert!(page.contains(&format!(".SH {section}\n")), "{name}: {section}");
        }
        assert!(overview.contains(&format!("unruffled\\-{name}(1)")), "{name}: {overview}");
        for completion in &completions {
            assert!(completion.contains(name.as_str()), "{name}");
        }
    }
    for completion in &completions {
        assert!(!completion.contains("resequence-worker"), "a hidden subcommand");
    }
    let pages = files(&share.join("man/man1")).len();
    assert_eq!(pages, subcommands.len() + 1, "hidden subcommands have no page");
    assert!(read("man/man1/unruffled-attach.1").contains("/etc/unruffled.toml"));
}

#[test]
fn what_is_installed_is_removed() {
    for prefix in ["/usr/local", "/opt/a b"] {
        let root = tempfile::tempdir().expect("a folder");
        install(&root, "install", prefix);
        assert!(files(root.path()).len() > 20);
        install(&root, "uninstall", prefix);
        assert_eq!(files(root.path()), Vec::<PathBuf>::new());
    }
}

#[test]
fn settings_of_an_administrator_are_kept() {
    let root = tempfile::tempdir().expect("a folder");
    let settings = root.path().join("etc/unruffled.toml");
    fs::create_dir(root.path().join("etc")).expect("a folder");
    fs::write(&settings, "[attach]\n").expect("is written");
    install(&root, "install", "/usr");
    assert_eq!(fs::read_to_string(&settings).expect("is there"), "[attach]\n");
    let output = install(&root, "uninstall", "/usr");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("kept: "), "{output:?}");
    assert_eq!(files(root.path()), [PathBuf::from("etc/unruffled.toml")]);
}

/// The command lines of the units are valid, with the flags and the settings of today.
#[test]
fn units_run_the_installed_command_with_the_installed_settings() {
    // Without DESTDIR, so that systemd finds the command where the units say.
    let root = tempfile::tempdir().expect("a folder");
    let prefix = root.path().join("usr");
    let settings = root.path().join("etc");
    let script =
        script().arg("install").env("PREFIX", &prefix).env("SYSCONFDIR", &settings).output();
    assert!(script.as_ref().is_ok_and(|output| output.status.success()), "{script:?}");
    let command = prefix.join("bin/unruffled").display().to_string();
    let settings = settings.join("unruffled.toml").display().to_string();
    let units = ["unruffled.service", "unruffled-all.service", "unruffled-resequence.service"]
        .map(|name| prefix.join("lib/systemd/system").join(name));
    for unit in &units {
        let text = fs::read_to_string(unit).expect("is installed");
        let lines = text.lines().filter(|line| line.starts_with("Exec"));
        let lines: Vec<&str> =
            lines.filter_map(|line| line.split_once('=')).map(|(_, value)| value).collect();
        assert!(!lines.is_empty(), "{text}");
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words[0], command, "{line}");
            let help = Command::new(UNRUFFLED).args(&words[1..]).arg("--help").output();
            assert!(help.as_ref().is_ok_and(|help| help.status.success()), "{line}: {help:?}");
            let config = words.iter().skip_while(|word| **word != "--config").nth(1);
            assert!(config.is_none_or(|path| **path == settings), "{line}");
        }
        assert!(text.contains(&format!("--config {settings}\n")), "{text}");
    }
    match Command::new("systemd-analyze").args(["verify", "--man=no"]).args(&units).output() {
        Err(_) => eprintln!("skipped: no systemd-analyze"),
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stderr);
            let faults: Vec<_> =
                printed.lines().filter(|line| line.contains("unruffled")).collect();
            assert!(faults.is_empty(), "{printed}");
        }
    }
}
