//! What a machine may lack: where it does, a test with real packets cannot tell.

/// Whether the command says that something is missing, and not that something is wrong.
pub(crate) fn is_lack(said: &str) -> bool {
    let lacks =
        ["need root", "expected iproute2 to be installed", "expected the kernel to have TUN"];
    lacks.iter().any(|lack| said.contains(lack))
}
