//! Threads that must run as soon as there is something to do.

use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id};
use thread_priority::{RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy};

/// Gives the calling thread the lowest real-time priority, if the system lets it: before all
/// ordinary threads, as a kernel's own packet handling is.
pub fn real_time() {
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    // It makes the thread more punctual, and need not succeed.
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, fifo);
}
