//! What became of the experiments, for people: one HTML file, Markdown, a figure as SVG.

mod axis;
mod figure;
mod markdown;
mod numbers;
mod reproduction;

pub use figure::figure_file;
pub use markdown::markdown;
pub use reproduction::reproduction;
