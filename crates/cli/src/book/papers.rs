//! The pages of the papers, from the stored runs of `unruffled reproduce`, or from quick ones.

use std::path::Path;
use std::sync::Mutex;

use unruffled_lab::store::Store;
use unruffled_papers::Error;
use unruffled_papers::experiment::Experiment;
use unruffled_papers::report::{Picture, book};
use unruffled_papers::reproduce::Plan;

use super::Page;

/// Returns the pages and the pictures. Where the store lacks a run, all is from quick runs, which are not kept.
///
/// # Errors
/// A store that fails.
pub(super) fn pages(store: Option<&Path>) -> Result<Vec<Page>, Error> {
    crate::reproduce::with_stack(|| {
        let experiments = Experiment::all(false)?;
        let plan = Plan::new(&experiments)?;
        let kept = Mutex::new(crate::store::chosen(store, false)?);
        if plan.missing(&kept)?.is_empty() {
            return written(&plan, &kept);
        }
        let experiments = Experiment::all(true)?;
        let plan = Plan::new(&experiments)?;
        let memory = Mutex::new(Store::in_memory()?);
        let missing = plan.missing(&memory)?;
        crate::pool(None)?.install(|| missing.run(&memory, &()))?;
        written(&plan, &memory)
    })
}

fn written(plan: &Plan<'_>, store: &Mutex<Store>) -> Result<Vec<Page>, Error> {
    let (pages, pictures) = book(&plan.outcomes(store)?);
    let pictures = pictures.into_iter().map(|Picture { name, svg }| (name, svg));
    let all = pages.into_iter().chain(pictures);
    Ok(all.map(|(name, text)| (format!("papers/{name}"), text)).collect())
}
