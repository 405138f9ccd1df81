//! Real-time priority for threads.

use thread_priority::unix::{set_thread_priority_and_policy, thread_native_id};
use thread_priority::{RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy};

/// Gives the calling thread the lowest real-time priority, if the system allows it. The thread then runs
/// before all ordinary threads, as the kernel's own packet handling does.
pub fn real_time() {
    let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    // A failure only makes the thread less punctual.
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, fifo);
}
