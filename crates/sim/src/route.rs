//! Selection of a path for each packet of a source.

use unruffled_measure::LinkId;
use unruffled_path::Chooser;

use crate::network::PathId;

/// The paths of a source's packets. Each path must have at least one link.
pub type Route = unruffled_path::Route<LinkId>;

/// Selects a path of a [`Route`] for each packet.
#[derive(Clone, Debug)]
pub(crate) struct PathChooser {
    paths: Vec<PathId>,
    chooser: Chooser,
}

impl PathChooser {
    /// Creates a chooser for a route, whose paths have the ids `paths` in order.
    pub(crate) fn new(route: &Route, paths: Vec<PathId>) -> Self {
        Self { paths, chooser: Chooser::new(route) }
    }

    /// Returns the path of all packets, if there is a single one.
    pub(crate) fn only(&self) -> Option<PathId> {
        self.chooser.only().map(|index| self.paths[index])
    }

    /// Returns the path of the next packet.
    #[inline(never)]
    pub(crate) fn next(&mut self) -> PathId {
        self.paths[self.chooser.choose()]
    }
}
