//! A case's path as a single link.

use unruffled_lab::Scenario;

use super::paths::{Case, over};

/// The case as a scenario of one link.
pub(crate) fn scenario(case: &Case, timestamps: bool) -> Scenario {
    let Case { rate, delay_ms, befalls, .. } = case;
    let path = format!(
        "[path]\nhops = ['l']\n\
         [link.l]\nrate = '{rate}'\ndelay = '{delay_ms} ms'\nqueue = 100\n{befalls}\n"
    );
    over(case, timestamps, &path)
}
