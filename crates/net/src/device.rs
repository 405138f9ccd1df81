//! The TUN device at either end of the path.

use nix::errno::Errno;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::Error;

/// Name of the device in both namespaces.
pub(crate) const DEVICE: &str = "path0";

/// A non-blocking TUN device.
pub(crate) struct Device(SyncDevice);

impl Device {
    /// Creates a device in the network namespace of this thread. It has no offload: packets have their
    /// checksums, and none is longer than the MTU.
    ///
    /// # Errors
    /// If the process lacks the required privileges, or the kernel lacks TUN.
    pub(crate) fn new() -> Result<Self, Error> {
        let builder = DeviceBuilder::new().name(DEVICE).enable(false);
        let device = builder.build_sync().map_err(device_error)?;
        device.set_nonblocking(true).map_err(device_error)?;
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

/// Returns the error for a device that cannot be created.
fn device_error(reason: std::io::Error) -> Error {
    match reason.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::ENODEV | Errno::ENXIO) => Error::NoTun(reason),
        _ => Error::kernel("a TUN device", reason),
    }
}
