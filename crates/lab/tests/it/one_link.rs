//! The path of a case as a single link.

use unruffled_lab::Scenario;

use super::paths::{Case, over};

/// Returns the case as a scenario with one link.
pub(crate) fn scenario(case: &Case, timestamps: bool) -> Scenario {
    let Case { rate, delay_ms, impairments, .. } = case;
    let path = format!(
        "[path]\nhops = ['l']\n\
         [link.l]\nrate = '{rate}'\ndelay = '{delay_ms} ms'\nqueue = 100\n{impairments}\n"
    );
    over(case, timestamps, &path)
}
