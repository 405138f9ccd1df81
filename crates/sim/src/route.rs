//! Selection of a path for each packet of a source.

use unruffled_measure::LinkId;
use unruffled_path::Chooser;

use crate::network::PathId;

/// The paths of a source's packets. Each path must have at least one link.
pub type Route = unruffled_path::Route<LinkId>;

/// Selects a path of a [`Route`] for each packet.
#[derive(Clone, Debug)]
pub(crate) enum PathChooser {
    /// All packets take this path. Most of a million sources have nothing to choose.
    Only(PathId),
    /// Any path of several.
    Several(Box<Several>),
}

/// Paths to choose from.
#[derive(Clone, Debug)]
pub(crate) struct Several {
    paths: Vec<PathId>,
    chooser: Chooser,
}

impl PathChooser {
    /// Creates a chooser for a route, whose paths have the ids `paths` in order.
    pub(crate) fn new(route: &Route, paths: Vec<PathId>) -> Self {
        let chooser = Chooser::new(route);
        match chooser.only() {
            Some(index) => Self::Only(paths[index]),
            None => Self::Several(Box::new(Several { paths, chooser })),
        }
    }

    /// Returns the path of all packets, if there is a single one.
    pub(crate) fn only(&self) -> Option<PathId> {
        match self {
            Self::Only(path) => Some(*path),
            Self::Several(_) => None,
        }
    }

    /// Returns the path of the next packet.
    #[inline(never)]
    pub(crate) fn next(&mut self) -> PathId {
        match self {
            Self::Only(path) => *path,
            Self::Several(several) => several.paths[several.chooser.choose()],
        }
    }
}
