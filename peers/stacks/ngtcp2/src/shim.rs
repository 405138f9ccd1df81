//! `ends.h` in Rust.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

use stacks_driver::{Bench, IP_UDP, Pattern, Side, fill};

/// What the library's callbacks work on.
pub struct Context<'a> {
    /// What the server has read.
    pub pattern: &'a mut Pattern,
    /// Takes packets; absent while they arrive, when none is sent.
    pub bench: Option<&'a mut Bench>,
}

#[repr(C)]
struct Calls {
    context: *mut c_void,
    fill: extern "C" fn(*mut c_void, u64, *mut u8, usize),
    check: extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    sent: extern "C" fn(*mut c_void, c_int, *const u8, usize),
}

#[repr(C)]
struct Request {
    control: c_int,
    seed: u64,
    octets: u64,
    payload: usize,
    ack_thresh: usize,
    calls: Calls,
}

/// Counts from the library's log.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Packets of the client declared lost.
    pub lost: u64,
    /// Packets that the server dropped as duplicates though they were none.
    pub discarded: u64,
}

#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

unsafe extern "C" {
    fn ends_open(request: *const Request, error: *mut c_char, room: usize) -> *mut Opaque;
    fn ends_deliver(
        ends: *mut Opaque,
        context: *mut c_void,
        now: u64,
        from: c_int,
        data: *const u8,
        length: usize,
        again: c_int,
    ) -> c_int;
    fn ends_turn(ends: *mut Opaque, context: *mut c_void, now: u64) -> c_int;
    fn ends_due(ends: *mut Opaque) -> u64;
    fn ends_counts(ends: *const Opaque) -> Counts;
    fn ends_error(ends: *const Opaque) -> *const c_char;
}

extern "C" fn fill_room(_: *mut c_void, offset: u64, room: *mut u8, length: usize) {
    // SAFETY: `pieces` in ends.c passes `length` octets that it has allocated; fill writes them only.
    fill(offset, unsafe { std::slice::from_raw_parts_mut(room, length) });
}

extern "C" fn check(context: *mut c_void, data: *const u8, length: usize) -> c_int {
    if length == 0 {
        return 0;
    }
    // SAFETY: the context is the one that `deliver` or `turn` passes, which waits for the call's end;
    // the library passes `length` octets.
    let (context, data) =
        unsafe { (&mut *context.cast::<Context<'_>>(), std::slice::from_raw_parts(data, length)) };
    c_int::from(context.pattern.check(data).is_err())
}

extern "C" fn sent(context: *mut c_void, side: c_int, data: *const u8, length: usize) {
    // SAFETY: as in `check`; ends.c passes a packet of `length` octets.
    let (context, data) =
        unsafe { (&mut *context.cast::<Context<'_>>(), std::slice::from_raw_parts(data, length)) };
    let side = if side == 0 { Side::Client } else { Side::Server };
    if let Some(bench) = &mut context.bench {
        bench.send(side, data.to_vec(), IP_UDP);
    }
}

/// Two connections.
pub struct Connections(NonNull<Opaque>);

impl Connections {
    /// Opens the client's. `control` is a number of `ngtcp2_cc_algo`; 0 as `ack_thresh` stands for
    /// the library's.
    pub fn open(
        control: i32,
        seed: u64,
        octets: u64,
        payload: usize,
        ack_thresh: usize,
    ) -> Result<Connections, String> {
        let request = Request {
            control,
            seed,
            octets,
            payload,
            ack_thresh,
            calls: Calls { context: std::ptr::null_mut(), fill: fill_room, check, sent },
        };
        let mut error: [c_char; 256] = [0; 256];
        // SAFETY: the request and the room for an error outlive the call, which copies the former.
        let ends = unsafe { ends_open(&request, error.as_mut_ptr(), error.len()) };
        NonNull::new(ends).map(Connections).ok_or_else(|| {
            // SAFETY: ends_open ends the text with a zero, within the room.
            unsafe { CStr::from_ptr(error.as_ptr()) }.to_string_lossy().into_owned()
        })
    }

    /// Hands a packet to the end that did not send it.
    pub fn deliver(
        &mut self,
        context: &mut Context<'_>,
        now: u64,
        from: Side,
        data: &[u8],
        again: bool,
    ) -> Result<(), String> {
        let from = c_int::from(from == Side::Server);
        let context = std::ptr::from_mut(context).cast();
        // SAFETY: the connections are those that were opened; context and data outlive the call.
        let code = unsafe {
            ends_deliver(
                self.0.as_ptr(),
                context,
                now,
                from,
                data.as_ptr(),
                data.len(),
                c_int::from(again),
            )
        };
        self.outcome(code)
    }

    /// Timers that are due, and packets that may be sent.
    pub fn turn(&mut self, context: &mut Context<'_>, now: u64) -> Result<(), String> {
        let context = std::ptr::from_mut(context).cast();
        // SAFETY: as in `deliver`.
        let code = unsafe { ends_turn(self.0.as_ptr(), context, now) };
        self.outcome(code)
    }

    /// When a timer is due.
    pub fn due(&mut self) -> Option<u64> {
        // SAFETY: the connections are those that were opened.
        Some(unsafe { ends_due(self.0.as_ptr()) }).filter(|&due| due < u64::MAX)
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        // SAFETY: as in `due`.
        unsafe { ends_counts(self.0.as_ptr()) }
    }

    fn outcome(&self, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the text lives as long as the connections, and ends with a zero.
        let error = unsafe { CStr::from_ptr(ends_error(self.0.as_ptr())) };
        Err(error.to_string_lossy().into_owned())
    }
}
