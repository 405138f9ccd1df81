//! A certificate made for the run, and contexts that use and verify it.

use boring::asn1::Asn1Time;
use boring::bn::BigNum;
use boring::ec::{EcGroup, EcKey};
use boring::error::ErrorStack;
use boring::hash::MessageDigest;
use boring::nid::Nid;
use boring::pkey::PKey;
use boring::ssl::{SslContext, SslContextBuilder, SslMethod};
use boring::x509::extension::{BasicConstraints, SubjectAlternativeName};
use boring::x509::{X509, X509NameBuilder};

/// The server's name.
pub const HOST: &str = "stack.test";

/// 2020-01-01, and a hundred years later.
const VALID: [i64; 2] = [1_577_836_800, 4_733_510_400];

/// Contexts of the client and the server.
pub fn contexts() -> Result<[SslContextBuilder; 2], ErrorStack> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
    let mut name = X509NameBuilder::new()?;
    name.append_entry_by_text("CN", HOST)?;
    let name = name.build();
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    builder.set_serial_number(BigNum::from_u32(1)?.to_asn1_integer()?.as_ref())?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(&name)?;
    builder.set_pubkey(&key)?;
    builder.set_not_before(Asn1Time::from_unix(VALID[0])?.as_ref())?;
    builder.set_not_after(Asn1Time::from_unix(VALID[1])?.as_ref())?;
    builder.append_extension(BasicConstraints::new().critical().ca().build()?.as_ref())?;
    let names =
        SubjectAlternativeName::new().dns(HOST).build(&builder.x509v3_context(None, None))?;
    builder.append_extension(names.as_ref())?;
    builder.sign(&key, MessageDigest::sha256())?;
    let certificate = builder.build();

    let mut client = SslContext::builder(SslMethod::tls())?;
    client.cert_store_mut().add_cert(&certificate)?;
    let mut server = SslContext::builder(SslMethod::tls())?;
    server.set_certificate(&certificate)?;
    server.set_private_key(&key)?;
    Ok([client, server])
}
