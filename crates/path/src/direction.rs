//! Direction of packets within their flow.

/// Direction of a packet within its own flow.
///
/// It distinguishes data from acknowledgements, to which different impairments may apply. With flows in
/// both directions, a link carries packets of either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the end that sends data: data.
    Forward,
    /// To the end that sends data: acknowledgements.
    Reverse,
}
