//! interim
use crate::reproduce::Outcome;
/// x
pub fn reproduction(_o: &[Outcome<'_>]) -> String {
    String::new()
}
/// x
pub fn figure_file(_o: &Outcome<'_>) -> Option<String> {
    None
}
/// x
pub fn markdown(_o: &[Outcome<'_>], _f: &str) -> String {
    String::new()
}
