//! Advice on replay windows: which program has a window of that size, and how its window is set
//! (docs/guide/tunnels.md).

use unruffled_capture::Tunnel;

/// A replay window that drops late packets, by its size in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayAdvice {
    /// The size of the window, in packets.
    pub window: u64,
    /// The tunnel, if the capture shows it.
    pub tunnel: Option<Tunnel>,
}

impl ReplayAdvice {
    /// Returns the tunnel that `unruffled resequence` can put in order before the window; none if no
    /// program with such a window has packets that it can read.
    pub(super) fn readable_tunnel(self) -> Option<Tunnel> {
        let by_size = match self.window {
            32 | 4096 => Some(Tunnel::Esp),
            64 => Some(Tunnel::OpenVpn),
            1024 | 8129 => Some(Tunnel::WireGuard),
            _ => None,
        };
        self.tunnel.or(by_size)
    }

    /// Returns the command that shows whether the window drops packets, or which program has it.
    pub(super) fn command(self) -> &'static str {
        match (self.tunnel, self.window) {
            (Some(Tunnel::Esp), _) | (None, 32 | 4096) => "cat /proc/net/xfrm_stat",
            (Some(Tunnel::OpenVpn), _) | (None, 64) => "sudo journalctl --grep 'bad packet ID'",
            (Some(Tunnel::WireGuard), _) | (None, 8129) => "ip -brief link show type wireguard",
            _ => "sudo ss -uapn",
        }
    }

    /// Returns what to change.
    pub(super) fn text(self) -> String {
        let Self { window, tunnel } = self;
        let setting = match (tunnel, window) {
            (Some(Tunnel::Esp), _) | (None, 32) => {
                "ESP has `replay-window 4096` of `ip xfrm state`, and strongSwan `charon.replay_window = 4096`. \
                 XfrmInStateSeqError, or XfrmInStateProtoError with ESN, counts what it drops."
            }
            (Some(Tunnel::OpenVpn), _) | (None, 64) => {
                "OpenVPN has `--replay-window 4096 60`, and logs what it drops as bad packet ID. OpenSSL and \
                 mbedTLS have no setting for DTLS."
            }
            (Some(Tunnel::WireGuard), _) | (None, 1024 | 8129) => {
                "WireGuard has no setting: boringtun drops from 1024 behind on, as Nebula up to 1.11 does, and \
                 Linux and wireguard-go from 8129, as Nebula 1.12 does from 8192. Use one with the larger window, or put its packets in order."
            }
            (None, 128) => {
                "tinc 1.0 has `ReplayWindow = 512` (4096 packets), and libsrtp `window_size = 4096`."
            }
            (None, 256) => "tinc 1.1 has `ReplayWindow = 512` (4096 packets).",
            _ => {
                "4096 is the largest window of ESP in Linux; OpenVPN takes up to 65536. Put the packets in order."
            }
        };
        format!(
            "where the tunnel ends, here or on a gateway before this host, make the replay window larger than \
             {window} packets. {setting} `attach` does not help, since the packets are lost."
        )
    }
}
