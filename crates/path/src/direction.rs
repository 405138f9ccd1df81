//! Which way packets travel.

/// Which way a packet travels within its own flow. With flows both ways, a link carries packets of
/// either direction.
///
/// It tells data from acknowledgements, which impairments may treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the end that sends data.
    Forward,
    /// To the end that sends data: acknowledgements.
    Reverse,
}
