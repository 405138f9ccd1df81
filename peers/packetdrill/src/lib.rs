//! packetdrill's plug-in interface (`--so_filename`) over [`unruffled_stack::Stack`], in
//! virtual time: a script of minutes runs in milliseconds, and every run gives the same packets at
//! the same microsecond.
//!
//! packetdrill calls functions named as the C library's, hands over packets with `netdev_send`, and
//! asks with `netdev_receive` for those that leave. Each call becomes one of [`calls`] or
//! [`options`] on the [`host::Host`], which holds the stack, the descriptors and the clock.
//!
//! `unsafe` stands in three modules, because the interface is C's: [`interface`] takes pointers
//! from packetdrill and fills in its table of functions, [`memory`] makes slices of what those
//! point to, and [`preload`] replaces functions of the C library that packetdrill calls directly.

mod calls;
mod clock;
mod descriptor;
mod host;
#[allow(unsafe_code)]
mod interface;
#[allow(unsafe_code)]
mod memory;
mod options;
mod packet;
#[allow(unsafe_code)]
mod preload;
mod settings;
mod tcp_info;
mod wishes;
