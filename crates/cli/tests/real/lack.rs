//! Detects machines that lack what tests with real packets need.

/// Returns whether the message of the command names something that the machine lacks, and not another error.
pub(crate) fn is_lack(message: &str) -> bool {
    let lacks =
        ["need root", "expected iproute2 to be installed", "expected the kernel to have TUN"];
    lacks.iter().any(|lack| message.contains(lack))
}
