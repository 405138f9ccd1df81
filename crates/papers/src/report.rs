//! The results of experiments as one HTML file, as Markdown, and as SVG.

mod axis;
mod figure;
mod markdown;
mod numbers;
mod reproduction;

pub use figure::figure_file;
pub use markdown::markdown;
pub use reproduction::reproduction;
