//! One end: an endpoint and its connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
pub(crate) use quinn_proto::congestion::Bbr3Config as BbrConfig;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Event, ServerConfig,
};

use crate::configuration::text;

/// Name of the stack's BBR.
pub(crate) const BBR: &str = "bbr3";

/// An endpoint with at most one connection.
pub(crate) struct Host {
    pub(crate) endpoint: Endpoint,
    pub(crate) connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
    /// Answers of the endpoint itself.
    answers: Vec<Vec<u8>>,
}

/// Address of the client and of the server.
pub(crate) fn address(host: u8) -> SocketAddr {
    (Ipv4Addr::new(10, 0, 0, host), 4433).into()
}

impl Host {
    pub(crate) fn new(
        configuration: Arc<EndpointConfig>,
        server: Option<Arc<ServerConfig>>,
        peer: SocketAddr,
        seed: u64,
    ) -> Self {
        let mut octets = [0; 32];
        octets[..8].copy_from_slice(&seed.to_le_bytes());
        octets[8] = u8::from(server.is_some());
        let mut configuration = EndpointConfig::clone(&configuration);
        configuration.rng_seed(Some(octets));
        let endpoint = Endpoint::new(Arc::new(configuration), server, true);
        Self { endpoint, connection: None, peer, answers: Vec::new() }
    }

    /// Hands over a datagram.
    pub(crate) fn arrive(&mut self, now: Instant, data: &[u8]) -> Result<(), String> {
        let mut answer = Vec::new();
        let data = BytesMut::from(data);
        match self.endpoint.handle(now, self.peer.into(), None, data, &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                self.connection = Some(accepted.map_err(|error| text(error.cause))?);
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.answers.push(answer[..transmit.size].to_vec());
            }
            None => {}
        }
        Ok(())
    }

    /// Handles timers that are due, and passes events between endpoint and connection.
    pub(crate) fn settle(&mut self, now: Instant) -> Result<(), String> {
        let Some((handle, connection)) = &mut self.connection else { return Ok(()) };
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            if let Event::ConnectionLost { reason } = event {
                return Err(format!("the connection was lost: {reason}"));
            }
        }
        Ok(())
    }

    /// Returns the next datagram.
    pub(crate) fn leave(&mut self, now: Instant) -> Option<Vec<u8>> {
        if let Some(answer) = self.answers.pop() {
            return Some(answer);
        }
        let (_, connection) = self.connection.as_mut()?;
        let mut data = Vec::new();
        let transmit = connection.poll_transmit(now, NonZeroUsize::MIN, &mut data)?;
        data.truncate(transmit.size);
        Some(data)
    }

    /// Returns the time of the next timer.
    pub(crate) fn due(&mut self) -> Option<Instant> {
        self.connection.as_mut()?.1.poll_timeout()
    }

    /// Returns the number of frames handled, of the kinds that a client sends.
    pub(crate) fn frames(&mut self) -> u64 {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        let frames = connection.stats().frame_rx;
        frames.stream + frames.acks + frames.ping + frames.crypto
    }

    /// Returns the number of packets declared lost.
    pub(crate) fn lost(&mut self) -> u64 {
        let Some((_, connection)) = &mut self.connection else { return 0 };
        connection.stats().lost_packets
    }

    /// Returns the number of these of which the stack learnt that they had arrived.
    pub(crate) fn spurious(&mut self) -> Option<u64> {
        None
    }
}
