//! The TUN device at either end of the path.

use nix::errno::Errno;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::Error;

/// Its name in either namespace.
pub(crate) const DEVICE: &str = "path0";

/// A TUN device that does not block.
pub(crate) struct Device(SyncDevice);

impl Device {
    /// A device in the network namespace of this thread. Without offload: packets come with their
    /// checksums, and none is longer than the MTU.
    ///
    /// # Errors
    /// The process may not, or the kernel cannot.
    pub(crate) fn new() -> Result<Self, Error> {
        let builder = DeviceBuilder::new().name(DEVICE).enable(false);
        let device = builder.build_sync().map_err(refused)?;
        device.set_nonblocking(true).map_err(refused)?;
        Ok(Self(device))
    }
}

impl std::ops::Deref for Device {
    type Target = SyncDevice;
    fn deref(&self) -> &SyncDevice {
        &self.0
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(DEVICE)
    }
}

/// Why there is no device.
fn refused(reason: std::io::Error) -> Error {
    match reason.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::ENODEV | Errno::ENXIO) => Error::NoTun(reason),
        _ => Error::kernel("a TUN device", reason),
    }
}
