//! What waits for a stack: threads, and the tasks of an executor.

mod task;
mod thread;

pub(crate) use task::Task;
pub(crate) use thread::Thread;
