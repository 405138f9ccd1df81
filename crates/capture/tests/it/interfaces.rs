//! Captures on several interfaces.

use std::borrow::Cow;

use pcap_file::DataLink;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use unruffled_capture::{Analysis, Analyzer, Limits, Source, read};

/// Octets of the headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// Returns an RTP packet from 192.0.2.1 to 192.0.2.2, with that sequence number and identification.
fn rtp(number: u16, id: u16) -> Vec<u8> {
    let payload = [&[0x80, 96][..], &number.to_be_bytes(), &[0; 4], &[7; 4], &[1; 160]].concat();
    let length = (HEADERS + payload.len()) as u16;
    let id = id.to_be_bytes();
    let [high, low] = length.to_be_bytes();
    let mut packet = vec![0x45, 0, high, low, id[0], id[1], 0, 0, 64, 17, 0, 0];
    packet.extend([192, 0, 2, 1, 192, 0, 2, 2, 0x40, 0, 0x50, 0]);
    packet.extend((length - 20).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(payload);
    packet
}

/// Analyses a capture of packets: interface, time in microseconds, octets.
fn analysed(names: &[&str], packets: &[(u32, u64, Vec<u8>)]) -> Analysis {
    let mut writer = PcapNgWriter::new(Vec::new()).expect("a vector");
    for name in names {
        let name = InterfaceDescriptionOption::IfName(Cow::Borrowed(*name));
        let options = vec![name, InterfaceDescriptionOption::IfTsResol(9)];
        let interface = InterfaceDescriptionBlock { linktype: DataLink::IPV4, snaplen: 0, options };
        writer.write_pcapng_block(interface).expect("a vector");
    }
    for (interface, us, octets) in packets {
        let block = EnhancedPacketBlock {
            interface_id: *interface,
            timestamp: std::time::Duration::from_nanos(us * 1000),
            original_len: octets.len() as u32,
            data: Cow::Borrowed(octets),
            options: Vec::new(),
        };
        writer.write_pcapng_block(block).expect("a vector");
    }
    let source = Source::new(Box::new(std::io::Cursor::new(writer.into_inner())), None);
    let mut analyzer = Analyzer::new(Limits::default());
    let damage = read(source.expect("a capture"), |frame| analyzer.frame(frame));
    assert_eq!(damage, Ok(None));
    analyzer.finish()
}

/// A stream of 200 packets, 20 ms apart, of which every tenth is late by 30 ms and number 77 is sent twice. A
/// bridge passes each on after 5 ms.
#[test]
fn a_datagram_on_both_interfaces_of_a_bridge_counts_once() {
    let mut sent: Vec<(u64, Vec<u8>)> = (0..200_u16)
        .map(|n| {
            let late = if n % 10 == 9 { 30_000 } else { 0 };
            let jitter = u64::from(n) * 37 % 1009;
            (1_000_000 + u64::from(n) * 20_000 + late + jitter, rtp(n, n + 1))
        })
        .collect();
    sent.push((1_000_000 + 77 * 20_000 + 3_000, rtp(77, 5000)));
    let at = |interface: u32, delay: u64| {
        sent.iter().map(move |(us, octets)| (interface, us + delay, octets.clone()))
    };
    let mut both: Vec<_> = at(0, 0).chain(at(1, 5_000)).collect();
    both.sort();
    both.sort_by_key(|&(_, us, _)| us);
    let mut one: Vec<_> = at(0, 0).collect();
    one.sort_by_key(|&(_, us, _)| us);
    let both = analysed(&["eth0", "br0"], &both);
    let one = analysed(&["eth0"], &one);
    assert_eq!(one.numbered.len(), 1);
    assert_eq!((one.numbered[0].packets, one.numbered[0].duplicates), (201, 1));
    assert_eq!(both.numbered, one.numbered);
    assert_eq!(both.udp, one.udp);
    let interfaces = &both.totals.interfaces;
    let found: Vec<_> = interfaces.iter().map(|i| (&i.name[..], i.frames, i.copies)).collect();
    assert_eq!(found, [("eth0", 201, 0), ("br0", 201, 201)]);
}

/// The same packet twice on one interface was sent twice, or duplicated by the network.
#[test]
fn a_datagram_that_one_interface_shows_twice_counts_twice() {
    let packets: Vec<_> = (0..100_u16)
        .flat_map(|n| {
            let at = 1_000_000 + u64::from(n) * 20_000 + u64::from(n) * 37 % 1009;
            [(0, at, rtp(n, n + 1)), (0, at + 100, rtp(n, n + 1)), (1, at + 10_000, rtp(n, n + 1))]
        })
        .collect();
    let found = analysed(&["eth0", "br0"], &packets);
    let one: Vec<_> = packets.iter().filter(|packet| packet.0 == 0).cloned().collect();
    let one = analysed(&["eth0"], &one);
    assert!(one.numbered[0].duplicates > 80, "the first packets show what is numbered");
    assert_eq!(found.numbered, one.numbered);
    assert_eq!(found.udp[0].datagrams, [200, 0]);
    assert_eq!(found.totals.interfaces[1].copies, 100);
}

/// What is remembered of a packet is bounded, so that no capture makes the analysis slow.
#[test]
fn a_datagram_counts_again_at_every_257th_interface() {
    let names = vec!["eth"; 600];
    let packets: Vec<_> = (0..600).map(|n| (n, 1_000_000, rtp(1, 2))).collect();
    let found = analysed(&names, &packets);
    assert_eq!(found.udp[0].datagrams, [3, 0]);
}
