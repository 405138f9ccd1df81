//! The results of experiments as one HTML file, as Markdown, and as SVG.

mod axis;
mod figure;
mod markdown;
mod numbers;
mod reproduction;

pub use figure::figure_file;
pub use markdown::{Picture, book, markdown};
pub use reproduction::reproduction;
