//! Public captures, compared with tshark 4 (`tcp.analysis.*`, one packet at a time).
//!
//! Each difference is understood packet by packet; docs/internals/analyze.md lists them.

use std::path::{Path, PathBuf};

use unruffled_capture::{Analysis, Analyzer, Limits, Source, read};

/// Returns the folder of the captures, which is outside the tree because of their licences.
fn folder() -> Option<PathBuf> {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    tree.ancestors().map(|above| above.join("shared/captures")).find(|folder| folder.is_dir())
}

fn analysed(name: &str) -> Option<Analysis> {
    let Some(folder) = folder() else {
        println!("no public captures beside the tree: {name} is not compared");
        return None;
    };
    let mut analyzer = Analyzer::new(Limits::default());
    let damage =
        read(Source::open(&folder.join(name)).expect("a capture"), |frame| analyzer.frame(frame));
    assert_eq!(damage, Ok(None));
    Some(analyzer.finish())
}

/// Returns the numbers of late packets, retransmissions, spurious ones, DSACKs, copies and
/// retransmitted SYNs.
fn counts(analysis: &Analysis) -> [u64; 6] {
    let directions = analysis.connections.iter().flat_map(|connection| &connection.directions);
    let mut sums = [0; 6];
    for direction in directions {
        let resent = &direction.retransmissions;
        let counts = [
            direction.reordering_here.reordered,
            resent.total,
            resent.spurious,
            resent.dsacks,
            resent.duplicates,
            resent.syns,
        ];
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}

/// tshark: 8, 9 and 5 out of order, no retransmissions.
#[test]
fn captures_with_reordering_only_agree_with_tshark() {
    let captures = [
        ("monero.pcap", 8),
        ("rdp-proprietary-encryption.pcap", 9),
        ("suricata_update-pdf.pcap", 5),
    ];
    for (name, late) in captures {
        if let Some(analysis) = analysed(name) {
            assert_eq!(counts(&analysis)[..3], [late, 0, 0], "{name}");
        }
    }
}

/// tshark: 3 fast retransmissions and 4 "out of order", which follow those within 3 ms. At the sender,
/// nothing can be out of order. The DSACK reports a segment that was sent once.
#[test]
fn at_the_sender_everything_out_of_order_is_a_retransmission() {
    let Some(analysis) = analysed("tcptrace_dsack.dmp") else { return };
    assert_eq!(counts(&analysis), [0, 7, 0, 1, 0, 0]);
    assert_eq!(analysis.connections[0].directions[0].retransmissions.dsacks_unexplained, 1);
}

/// tshark: 41 retransmissions, 38 of them spurious, 9 out of order, 38 DSACKs. Packet 190 was joined
/// from two segments: it counts as two here, and so do their acknowledgements before it. Packet 165,
/// which tshark classifies as retransmitted, has an identification between those of 161 and 163: it is
/// late.
#[test]
fn a_joined_retransmission_counts_as_its_segments() {
    let Some(analysis) = analysed("weibo.pcap") else { return };
    assert_eq!(counts(&analysis), [10, 41, 39, 38, 0, 0]);
}

/// tshark: 15 DSACKs, and 9 out of order. Two DSACKs of 1kxun.pcap are copies that follow within 40 us
/// with the same identification (packets 395 and 505).
#[test]
fn dsacks_agree_with_tshark() {
    for (name, dsacks) in
        [("1kxun.pcap", 13), ("suricata_tls-subjectaltname.pcap", 15), ("teams.pcap", 2)]
    {
        if let Some(analysis) = analysed(name) {
            let counts = counts(&analysis);
            println!("{name}: {counts:?}");
            assert_eq!(counts[3], dsacks, "{name}");
        }
    }
    if let Some(analysis) = analysed("1kxun.pcap") {
        assert_eq!(counts(&analysis)[0], 9);
    }
}

/// tshark: 22 retransmissions, 11 out of order and 4 DSACKs, within the tunnel of a mobile network.
#[test]
fn packets_within_a_tunnel_are_analyzed() {
    let Some(analysis) = analysed("reasm_segv_anon.pcapng") else { return };
    let counts = counts(&analysis);
    println!("{counts:?}");
    assert_eq!(analysis.totals.tcp_packets, 82);
    assert_eq!((counts[0] + counts[1], counts[3]), (33, 4));
}
