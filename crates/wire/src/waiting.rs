//! Threads and asynchronous tasks that wait for a stack.

mod task;
mod thread;

pub(crate) use task::Task;
pub(crate) use thread::Thread;
