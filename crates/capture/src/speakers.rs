//! Who speaks to whom in a capture, and over what.

use crate::connection::Talk;
use crate::datagrams::Datagrams;

/// Two who speak to each other.
#[derive(Clone, Debug)]
pub(crate) enum Speakers {
    Tcp(Box<Talk>),
    Udp(Box<Datagrams>),
}
