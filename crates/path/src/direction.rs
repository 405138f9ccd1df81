//! Direction of packets within their flow.

/// Direction of a packet within its own flow.
///
/// It distinguishes data from acknowledgements, to which different impairments may apply. With flows in
/// both directions, a link carries packets of either direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Data, which comes from the end that sends data.
    Forward,
    /// Acknowledgements, which go to the end that sends data.
    Reverse,
}
