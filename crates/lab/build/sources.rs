//! Sources that affect the result of a run.

/// The files and folders, relative to this crate.
pub(crate) const MODEL: [&str; 10] = [
    "../units/src",
    "../path/src",
    "../lateness/src",
    "../tcp/src",
    "../resequence/src",
    "../sim/src",
    "../measure/src",
    "src/assembly.rs",
    "src/run.rs",
    "../scenario/src",
];
