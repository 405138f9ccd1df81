//! A key and a certificate for it, the same ones in every run.

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519, SerialNumber};

/// The server's name.
pub const HOST: &str = "stack.test";

/// What stands before the 32 octets of an Ed25519 key in PKCS #8 (RFC 8410, section 7).
const PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// A certificate and its key, in DER.
pub fn certificate() -> Result<(Vec<u8>, Vec<u8>), rcgen::Error> {
    let key: Vec<u8> = PKCS8.into_iter().chain(0..32).collect();
    let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key.as_slice().into(), &PKCS_ED25519)?;
    let mut params = CertificateParams::new(vec![HOST.to_owned()])?;
    params.serial_number = Some(SerialNumber::from(1));
    let certificate = params.self_signed(&pair)?;
    Ok((certificate.der().to_vec(), key))
}
