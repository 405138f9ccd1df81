//! BoringSSL's generator, the same in every run (`../Makefile`).
#![allow(unsafe_code)]

/// Octets by which the seed moves the generator on.
const STRIDE: usize = 64;

/// Keeps the processor's own generator out of it, before the first draw.
pub fn without_processor() {
    // SAFETY: called before there is a second thread.
    unsafe { std::env::set_var("OPENSSL_ia32cap", "~0x4000000000000000") };
}

/// Moves the generator on, to where `seed` says.
pub fn seed(seed: u64) -> Result<(), String> {
    let mut octets = [0; STRIDE];
    for _ in 0..seed % 4096 {
        boring::rand::rand_bytes(&mut octets).map_err(|error| error.to_string())?;
    }
    Ok(())
}
