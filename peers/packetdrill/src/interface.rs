//! packetdrill's table of functions, and what it points to.
//!
//! `unsafe`, because packetdrill is C: functions get raw pointers, and the table is filled in behind
//! one. The layout is that of packetdrill's `packetdrill.h`. `fcntl` and `ioctl` are variadic
//! there and not here, which comes to the same where the first arguments travel in registers either
//! way (Linux on x86-64 and arm64).

use std::ffi::CStr;
use std::os::raw::{c_char, c_int, c_long, c_uint, c_ulong, c_void};

use crate::host::{Errno, Host};
use crate::memory::{address, gather, octets, pieces, put_address, room};
use crate::settings::Settings;
use crate::{calls, clock, options};

/// packetdrill's `userdata`: there is one machine, so it says nothing.
type Data = *mut c_void;

/// The C library's way to fail.
fn fail(errno: Errno) -> isize {
    // SAFETY: the address of this thread's `errno` can be written.
    unsafe { *libc::__errno_location() = errno };
    -1
}

fn status(result: Result<(), Errno>) -> c_int {
    number(result.map(|()| 0))
}

fn number(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(|errno| fail(errno) as c_int)
}

fn length(result: Result<usize, Errno>) -> isize {
    result.map_or_else(fail, |len| len as isize)
}

extern "C" fn free(_: Data) {}

extern "C" fn socket(_: Data, domain: c_int, kind: c_int, _protocol: c_int) -> c_int {
    number(calls::socket(domain, kind))
}

unsafe extern "C" fn bind(_: Data, fd: c_int, at: *const u8, len: u32) -> c_int {
    // SAFETY: see `memory`.
    status(calls::bind(fd, unsafe { address(at, len) }))
}

extern "C" fn listen(_: Data, fd: c_int, backlog: c_int) -> c_int {
    status(calls::listen(fd, backlog))
}

unsafe extern "C" fn accept(_: Data, fd: c_int, at: *mut u8, len: *mut u32) -> c_int {
    number(calls::accept(fd).map(|(accepted, peer, v6)| {
        // SAFETY: see `memory`.
        unsafe { put_address(peer, v6, at, len) };
        accepted
    }))
}

unsafe extern "C" fn connect(_: Data, fd: c_int, at: *const u8, len: u32) -> c_int {
    // SAFETY: see `memory`.
    status(calls::connect(fd, unsafe { address(at, len) }))
}

unsafe extern "C" fn recv(_: Data, fd: c_int, at: *mut u8, len: usize, flags: c_int) -> isize {
    // SAFETY: see `memory`.
    let out = unsafe { room(at, len) }.ok_or(libc::EFAULT);
    length(out.and_then(|out| calls::receive(fd, out, flags)))
}

unsafe extern "C" fn read(data: Data, fd: c_int, at: *mut u8, len: usize) -> isize {
    // SAFETY: see `memory`.
    unsafe { recv(data, fd, at, len, 0) }
}

/// # Safety
/// That of [`pieces`].
unsafe fn scatter(fd: c_int, at: *const libc::iovec, count: usize, flags: c_int) -> isize {
    // SAFETY: as the caller promises.
    let Some(pieces) = (unsafe { pieces(at, count) }) else { return fail(libc::EFAULT) };
    let mut all = vec![0; pieces.iter().map(|piece| piece.len()).sum()];
    length(calls::receive(fd, &mut all, flags).inspect(|&read| {
        let mut rest = &all[..read];
        for piece in pieces {
            let (here, after) = rest.split_at(piece.len().min(rest.len()));
            piece[..here.len()].copy_from_slice(here);
            rest = after;
        }
    }))
}

unsafe extern "C" fn readv(_: Data, fd: c_int, at: *const libc::iovec, count: c_int) -> isize {
    // SAFETY: see `memory`.
    unsafe { scatter(fd, at, count.max(0) as usize, 0) }
}

unsafe extern "C" fn recvmsg(_: Data, fd: c_int, at: *mut libc::msghdr, flags: c_int) -> isize {
    // SAFETY: packetdrill gives one message; for its pieces see `memory`.
    unsafe {
        (*at).msg_controllen = 0;
        (*at).msg_flags = 0;
        scatter(fd, (*at).msg_iov, (*at).msg_iovlen, flags)
    }
}

unsafe extern "C" fn send(_: Data, fd: c_int, at: *const u8, len: usize, flags: c_int) -> isize {
    // SAFETY: see `memory`.
    let data = unsafe { octets(at, len) }.ok_or(libc::EFAULT);
    length(data.and_then(|data| calls::send(fd, data, flags)))
}

unsafe extern "C" fn write(data: Data, fd: c_int, at: *const u8, len: usize) -> isize {
    // SAFETY: see `memory`.
    unsafe { send(data, fd, at, len, 0) }
}

unsafe extern "C" fn writev(_: Data, fd: c_int, at: *const libc::iovec, count: c_int) -> isize {
    // SAFETY: see `memory`.
    let all = unsafe { gather(at, count.max(0) as usize) }.ok_or(libc::EFAULT);
    length(all.and_then(|all| calls::send(fd, &all, 0)))
}

unsafe extern "C" fn sendmsg(_: Data, fd: c_int, at: *const libc::msghdr, flags: c_int) -> isize {
    // SAFETY: packetdrill gives one message; for its pieces see `memory`.
    let all = unsafe { gather((*at).msg_iov, (*at).msg_iovlen) }.ok_or(libc::EFAULT);
    length(all.and_then(|all| calls::send(fd, &all, flags)))
}

extern "C" fn fcntl(_: Data, fd: c_int, command: c_int, argument: c_long) -> c_int {
    number(calls::fcntl(fd, command, argument as c_int))
}

unsafe extern "C" fn ioctl(_: Data, fd: c_int, request: c_ulong, out: *mut c_int) -> c_int {
    status(calls::ioctl(fd, request).map(|value| {
        // SAFETY: both requests have room for an int behind them.
        unsafe { *out = value };
    }))
}

extern "C" fn close(_: Data, fd: c_int) -> c_int {
    status(calls::close(fd))
}

extern "C" fn shutdown(_: Data, fd: c_int, how: c_int) -> c_int {
    status(calls::shutdown(fd, how))
}

pub(crate) unsafe extern "C" fn getsockopt(
    _: Data,
    fd: c_int,
    level: c_int,
    name: c_int,
    at: *mut u8,
    len: *mut u32,
) -> c_int {
    // SAFETY: packetdrill says with `len` how much room there is.
    let out = unsafe { len.as_ref().and_then(|&len| room(at, len as usize)) };
    status(out.ok_or(libc::EFAULT).and_then(|out| options::get(fd, level, name, out)))
}

unsafe extern "C" fn setsockopt(
    _: Data,
    fd: c_int,
    level: c_int,
    name: c_int,
    at: *const u8,
    len: u32,
) -> c_int {
    // SAFETY: see `memory`.
    let value = unsafe { octets(at, len as usize) }.ok_or(libc::EFAULT);
    status(value.and_then(|value| options::set(fd, level, name, value)))
}

unsafe extern "C" fn poll(_: Data, at: *mut libc::pollfd, count: c_ulong, ms: c_int) -> c_int {
    // SAFETY: see `memory`.
    let polled = unsafe { room(at, count as usize) }.ok_or(libc::EFAULT);
    number(polled.map(|polled| calls::poll(polled, ms) as c_int))
}

unsafe extern "C" fn netdev_send(_: Data, at: *const u8, len: usize) -> c_int {
    // SAFETY: see `memory`.
    let packet = unsafe { octets(at, len) }.ok_or(libc::EFAULT);
    status(packet.map(clock::arrive))
}

unsafe extern "C" fn netdev_receive(
    _: Data,
    at: *mut u8,
    len: *mut usize,
    time: *mut i64,
) -> c_int {
    let Some((left, packet)) = clock::depart() else {
        // packetdrill would ask for ever.
        eprintln!("unruffled: the script waits for a packet, and none will ever leave");
        std::process::exit(1);
    };
    // SAFETY: packetdrill says with `len` how much room there is, and has room for the time.
    unsafe {
        let Some(out) = room(at, *len) else { return fail(libc::EFAULT) as c_int };
        let taken = packet.len().min(out.len());
        out[..taken].copy_from_slice(&packet[..taken]);
        (*len, *time) = (taken, left);
    }
    0
}

extern "C" fn usleep(_: Data, us: c_uint) -> c_int {
    clock::sleep(i64::from(us));
    0
}

unsafe extern "C" fn gettimeofday(_: Data, out: *mut libc::timeval, _zone: *mut c_void) -> c_int {
    let now = clock::read();
    // SAFETY: packetdrill has room for the time.
    unsafe { *out = libc::timeval { tv_sec: now / 1_000_000, tv_usec: now % 1_000_000 } };
    0
}

/// epoll, pipe and splice: whatever their arguments.
extern "C" fn not_supported(_: Data) -> c_int {
    fail(libc::ENOSYS) as c_int
}

/// Fills in packetdrill's `struct packetdrill_interface`: `userdata`, and 32 functions.
///
/// # Safety
/// `flags` is a string or null, and `table` has room for the structure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn packetdrill_interface_init(
    flags: *const c_char,
    table: *mut *const c_void,
) {
    let flags = if flags.is_null() {
        ""
    } else {
        // SAFETY: packetdrill gives a string.
        unsafe { CStr::from_ptr(flags) }.to_str().unwrap_or("?")
    };
    let settings = Settings::read(flags).unwrap_or_else(|error| {
        eprintln!("unruffled: {error}");
        std::process::exit(2);
    });
    *clock::host() = Host::new(settings);
    let functions: [*const c_void; 33] = [
        std::ptr::null(),
        free as _,
        socket as _,
        bind as _,
        listen as _,
        accept as _,
        connect as _,
        read as _,
        readv as _,
        recv as _,
        // recvfrom() and sendto() have the peer's address behind the same arguments.
        recv as _,
        recvmsg as _,
        write as _,
        writev as _,
        send as _,
        send as _,
        sendmsg as _,
        fcntl as _,
        ioctl as _,
        close as _,
        shutdown as _,
        getsockopt as _,
        setsockopt as _,
        poll as _,
        netdev_send as _,
        netdev_receive as _,
        usleep as _,
        gettimeofday as _,
        not_supported as _,
        not_supported as _,
        not_supported as _,
        not_supported as _,
        not_supported as _,
    ];
    // SAFETY: packetdrill gives a structure of this many pointers.
    unsafe { table.copy_from_nonoverlapping(functions.as_ptr(), functions.len()) };
}
