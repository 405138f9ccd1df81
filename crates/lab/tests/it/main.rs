//! The integration tests of the crate, in one binary.

mod beside;
mod both_ends;
mod checksums;
mod exits;
mod expected;
mod fitted;
mod ground_truth;
mod in_order;
mod linux;
mod losses;
mod model;
mod networks;
mod ns2;
mod one_link;
mod paths;
mod remedies;
mod remedy_causes;
mod reports;
mod resequence;
mod senders;
mod shares;
mod stacks;
