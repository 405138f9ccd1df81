//! Work on all threads of the current pool, or on this thread in a program without threads.

#[cfg(feature = "threads")]
use rayon::prelude::*;

/// Applies `each` to all items, and returns the results in the order of the items.
///
/// # Errors
/// An error of one of the items.
#[cfg(feature = "threads")]
pub(crate) fn try_map<T: Send, R: Send, E: Send>(
    items: Vec<T>,
    each: impl Fn(T) -> Result<R, E> + Sync + Send,
) -> Result<Vec<R>, E> {
    items.into_par_iter().map(each).collect()
}

/// Applies `each` to all items, and returns the results in the order of the items.
///
/// # Errors
/// The error of the first item that has one.
#[cfg(not(feature = "threads"))]
pub(crate) fn try_map<T, R, E>(
    items: Vec<T>,
    each: impl Fn(T) -> Result<R, E>,
) -> Result<Vec<R>, E> {
    items.into_iter().map(each).collect()
}

/// Returns the results of both.
#[cfg(feature = "threads")]
pub(crate) fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(one, other)
}

/// Returns the results of both.
#[cfg(not(feature = "threads"))]
pub(crate) fn join<A, B>(one: impl FnOnce() -> A, other: impl FnOnce() -> B) -> (A, B) {
    (one(), other())
}
