//! Settings of both ends, and a certificate.

use std::sync::Arc;
use std::time::Duration;

use quinn_proto::congestion::{CubicConfig, NewRenoConfig};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, EndpointConfig, MtuDiscoveryConfig, ServerConfig,
    TransportConfig, VarInt,
};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use stacks_driver::{About, Request};

use crate::host::{BBR, BbrConfig};

/// Name of the server.
pub(crate) const NAME: &str = "localhost";

/// Octets of the windows of flow control: 100 Mb/s over 300 ms need 4 million.
const WINDOW: u32 = 8 << 20;

/// What a user can set, by the names of `TransportConfig` and `AckFrequencyConfig`.
pub(crate) const SETTINGS: &[&str] = &[
    "packet_threshold",
    "time_threshold",
    "persistent_congestion_threshold",
    "reordering_threshold",
    "upper_bound",
];

/// The settings of an endpoint, and how it connects and accepts.
pub(crate) struct Configuration {
    pub(crate) endpoint: Arc<EndpointConfig>,
    pub(crate) client: ClientConfig,
    pub(crate) server: Arc<ServerConfig>,
}

impl Configuration {
    pub(crate) fn new(request: &Request, about: &About) -> Result<Self, String> {
        let transport = Arc::new(transport(request, about)?);
        // Ed25519 and a fixed serial number: the handshake has the same length in every run.
        let key = KeyPair::generate_for(&PKCS_ED25519).map_err(text)?;
        let mut parameters = CertificateParams::new([NAME.to_owned()]).map_err(text)?;
        parameters.serial_number = Some(SerialNumber::from(1));
        let certificate = parameters.self_signed(&key).map_err(text)?.der().clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).map_err(text)?;
        let client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(text)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let client = QuicClientConfig::try_from(client).map_err(text)?;
        let mut client = ClientConfig::new(Arc::new(client));
        client.transport_config(Arc::clone(&transport));
        let server = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(text)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .map_err(text)?;
        let server = QuicServerConfig::try_from(server).map_err(text)?;
        let mut server = ServerConfig::with_crypto(Arc::new(server));
        server.transport_config(transport);
        let endpoint = Arc::new(EndpointConfig::default());
        Ok(Self { endpoint, client, server: Arc::new(server) })
    }
}

fn transport(request: &Request, about: &About) -> Result<TransportConfig, String> {
    let mut transport = TransportConfig::default();
    let window = VarInt::from(WINDOW);
    transport.stream_receive_window(window).receive_window(window).send_window(WINDOW.into());
    // A transfer whose packets are all lost for long fails by the bench's rule.
    transport.max_idle_timeout(None);
    match request.control(about) {
        "newreno" => transport.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
        BBR => transport.congestion_controller_factory(Arc::new(BbrConfig::default())),
        _ => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
    };
    if let Some(packets) = request.bounded("packet_threshold", 3..=u32::MAX)? {
        transport.packet_threshold(packets);
    }
    if let Some(factor) = request.bounded("time_threshold", 1.0..=1000.0)? {
        transport.time_threshold(factor);
    }
    if let Some(periods) = request.bounded("persistent_congestion_threshold", 1..=1000)? {
        transport.persistent_congestion_threshold(periods);
    }
    if let Some(packets) = request.bounded("reordering_threshold", 0..=u32::MAX)? {
        let mut frequency = AckFrequencyConfig::default();
        frequency.reordering_threshold(packets.into());
        frequency.max_ack_delay(Some(Duration::from_millis(25)));
        transport.ack_frequency_config(Some(frequency));
    }
    if let Some(octets) = request.bounded("upper_bound", 1200..=65_527)? {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(octets);
        transport.mtu_discovery_config(Some(discovery));
    }
    Ok(transport)
}

/// An error in words.
pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
