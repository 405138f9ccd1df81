//! A file that is written beside its final place.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::Result;
use std::path::{Path, PathBuf};

/// A file that is not complete. It has no name on systems that support such files, so that it
/// vanishes if the process ends; on others it is removed unless it takes its place.
pub(super) struct Part {
    file: File,
    place: PathBuf,
    /// The temporary name of the file.
    name: PathBuf,
    named: bool,
}

impl Part {
    /// Creates a file beside `place`.
    pub(super) fn beside(place: &Path) -> Result<Self> {
        let mut name = OsString::from(place.file_name().unwrap_or_default());
        name.push(format!(".{}.part", std::process::id()));
        let name = place.with_file_name(name);
        let nameless = name.parent().and_then(nameless);
        let named = nameless.is_none();
        let file = nameless.map_or_else(|| File::create(&name), Ok)?;
        Ok(Self { file, place: place.to_owned(), name, named })
    }

    /// Returns the file for writing.
    pub(super) fn file(&self) -> Result<File> {
        self.file.try_clone()
    }

    /// Moves the complete file to its place, with the `permissions` of the file that it replaces.
    pub(super) fn take_place(mut self, permissions: Option<Permissions>) -> Result<()> {
        if let Some(permissions) = permissions {
            self.file.set_permissions(permissions)?;
        }
        if !self.named {
            give_name(&self.file, &self.name)?;
            self.named = true;
        }
        fs::rename(&self.name, &self.place)?;
        self.named = false;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.named {
            // The original error matters more than one of removal.
            let _ = fs::remove_file(&self.name);
        }
    }
}

/// Creates a file without a name in `folder`, if the system supports that and can name it later.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o666);
    Path::new(OPEN_FILES).exists().then(|| openat(CWD, folder, flags, mode).ok().map(File::from))?
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

/// The folder with the open files of a process.
#[cfg(target_os = "linux")]
const OPEN_FILES: &str = "/proc/self/fd";

#[cfg(target_os = "linux")]
fn give_name(file: &File, name: &Path) -> Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let open = Path::new(OPEN_FILES).join(file.as_raw_fd().to_string());
    // A killed process of the same number may have left a file.
    let _ = fs::remove_file(name);
    Ok(linkat(CWD, &open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
