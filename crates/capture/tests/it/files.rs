//! Capture files: formats, compression and damage.

use std::io::{Cursor, Read, Write};
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::{DataLink, Endianness, TsResolution};
use unruffled_capture::{
    Analysis, Analyzer, Damage, Error, Frame, InputError, Interface, Limits, Link, Source,
    Transport, decode, read,
};
use unruffled_units::Instant;

const PACKETS: u64 = 50;

/// Returns the first 60 octets of a packet with a segment of 100 octets.
fn packet(number: u64) -> Vec<u8> {
    let mut octets = Vec::new();
    etherparse::PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
        .tcp(4000, 80, number as u32 * 100, 1000)
        .ack(1)
        .write(&mut octets, &[0; 100])
        .expect("writing to memory succeeds");
    octets.truncate(60);
    octets
}

fn at(number: u64) -> Duration {
    Duration::new(1_700_000_000, number as u32 * 1_000_000 + 5000)
}

fn pcap(ts_resolution: TsResolution, endianness: Endianness) -> Vec<u8> {
    let header = PcapHeader {
        ts_resolution,
        endianness,
        datalink: DataLink::ETHERNET,
        ..PcapHeader::default()
    };
    let mut writer =
        PcapWriter::with_header(Vec::new(), header).expect("writing to memory succeeds");
    for number in 0..PACKETS {
        writer
            .write_packet(&PcapPacket::new_owned(at(number), 154, packet(number)))
            .expect("writing to memory succeeds");
    }
    writer.into_writer()
}

fn pcapng(endianness: Endianness) -> Vec<u8> {
    pcapng_of(endianness, vec![InterfaceDescriptionOption::IfTsResol(9)])
}

/// Returns a writer that has begun a section with one interface.
fn pcapng_head(
    endianness: Endianness,
    options: Vec<InterfaceDescriptionOption<'static>>,
) -> PcapNgWriter<Vec<u8>> {
    let mut writer =
        PcapNgWriter::with_endianness(Vec::new(), endianness).expect("writing to memory succeeds");
    let interface =
        InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 60, options };
    writer.write_pcapng_block(interface).expect("writing to memory succeeds");
    writer
}

fn pcapng_of(endianness: Endianness, options: Vec<InterfaceDescriptionOption<'static>>) -> Vec<u8> {
    let mut writer = pcapng_head(endianness, options);
    for number in 0..PACKETS {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: at(number),
            original_len: 154,
            data: packet(number).into(),
            options: Vec::new(),
        };
        writer.write_pcapng_block(block).expect("writing to memory succeeds");
    }
    writer.into_inner()
}

/// Returns the same capture with obsolete Packet Blocks.
fn pcapng_with_obsolete_blocks(endianness: Endianness) -> Vec<u8> {
    let options = vec![InterfaceDescriptionOption::IfTsResol(9)];
    let mut octets = pcapng_head(endianness, options).into_inner();
    let big = endianness.is_big();
    let short = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let long = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    for number in 0..PACKETS {
        let data = packet(number);
        let ticks = at(number).as_nanos() as u64;
        // A comment of four octets, and the end of the options.
        let options = [&short(1)[..], &short(4), b"late", &long(0)].concat();
        let length = (12 + 20 + data.len() + options.len()) as u32;
        for value in [2, length] {
            octets.extend(long(value));
        }
        // Interface 0; the number of packets dropped before is not known.
        octets.extend([short(0), short(u16::MAX)].concat());
        for value in [(ticks >> 32) as u32, ticks as u32, data.len() as u32, 154] {
            octets.extend(long(value));
        }
        octets.extend(data);
        octets.extend(options);
        octets.extend(long(length));
    }
    octets
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(octets).expect("writing to memory succeeds");
    encoder.finish().expect("writing to memory succeeds")
}

/// Returns the octets, compressed in each way that is read, two of them in two streams.
fn compressed(octets: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    let bzip2 = |octets: &[u8]| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(octets).expect("writing to memory succeeds");
        encoder.finish().expect("writing to memory succeeds")
    };
    let lz4 = |octets: &[u8]| {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(octets).expect("writing to memory succeeds");
        encoder.finish().expect("writing to memory succeeds")
    };
    let xz = |octets: &[u8]| {
        let options = lzma_rust2::XzOptions::with_preset(1);
        let mut encoder =
            lzma_rust2::XzWriter::new(Vec::new(), options).expect("the options are valid");
        encoder.write_all(octets).expect("writing to memory succeeds");
        encoder.finish().expect("writing to memory succeeds")
    };
    let zstd = |octets: &[u8]| compress_to_vec(octets, CompressionLevel::Fastest);
    let (one, other) = octets.split_at(octets.len() / 3);
    // A frame that decoders skip.
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0], &b"any"[..]].concat();
    vec![
        ("gzip", gzip(octets)),
        ("gzip twice", [gzip(one), gzip(other)].concat()),
        ("zstd", zstd(octets)),
        ("zstd twice", [skippable, zstd(one), zstd(other)].concat()),
        ("lz4", lz4(octets)),
        ("lz4 twice", [lz4(one), lz4(other)].concat()),
        ("xz", xz(octets)),
        ("xz twice", [xz(one), xz(other)].concat()),
        ("bzip2", bzip2(octets)),
        ("bzip2 twice", [bzip2(one), bzip2(other)].concat()),
        ("xz in zstd", zstd(&xz(octets))),
    ]
}

/// Returns the capture in a variant of pcap: its magic number, what follows the file header, and what
/// follows the header of each packet.
fn pcap_variant(magic: u32, big: bool, header: &[u8], packet_header: &[u8]) -> Vec<u8> {
    let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let version = if big { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
    let mut octets = [word(magic), version, word(0), word(0), word(60), word(1)].concat();
    octets.extend(header);
    // The variant with microseconds is the one with a longer header of each packet.
    let unit = if packet_header.is_empty() { 1 } else { 1000 };
    for number in 0..PACKETS {
        let data = packet(number);
        let time = at(number);
        let head = [time.as_secs() as u32, time.subsec_nanos() / unit, data.len() as u32, 154];
        octets.extend(head.map(word).concat());
        octets.extend(packet_header);
        octets.extend(data);
    }
    octets
}

/// Returns the same capture as snoop writes it.
fn snoop() -> Vec<u8> {
    let mut octets = [&b"snoop\0\0\0"[..], &[0, 0, 0, 2, 0, 0, 0, 4]].concat();
    for number in 0..PACKETS {
        let data = packet(number);
        let time = at(number);
        // The record is padded to a multiple of eight octets, and four packets were dropped before.
        let length = (24 + data.len() as u32).next_multiple_of(8);
        let micros = time.subsec_micros();
        let head = [154, data.len() as u32, length, 4, time.as_secs() as u32, micros];
        octets.extend(head.map(u32::to_be_bytes).concat());
        octets.extend(&data);
        octets.resize(octets.len() + length as usize - 24 - data.len(), 0);
    }
    octets
}

/// Returns the same capture in ERF, with a record of padding and extension headers in every other record.
fn erf() -> Vec<u8> {
    let mut octets = Vec::new();
    for number in 0..PACKETS {
        let data = packet(number);
        let time = at(number);
        let fraction = ((u64::from(time.subsec_nanos()) << 32) / 1_000_000_000) + 1;
        let extended = number % 2 == 1;
        let extension = if extended { [[0x80; 8], [0; 8]].concat() } else { Vec::new() };
        let length = (18 + extension.len() + data.len()).next_multiple_of(8);
        octets.extend((time.as_secs() << 32 | fraction).to_le_bytes());
        octets.extend([if extended { 0x82 } else { 2 }, 4]);
        octets.extend((length as u16).to_be_bytes());
        octets.extend([0, 0, 0, 154]);
        octets.extend(&extension);
        octets.extend([0, 0]);
        octets.extend(&data);
        octets.resize(octets.len() + length - 18 - extension.len() - data.len(), 0);
        if number == 7 {
            octets.extend([[0; 8], [48, 0, 0, 24, 0, 0, 0, 0], [0; 8]].concat());
        }
    }
    octets
}

/// A reader that returns one octet at a time, like a slow pipe.
struct OneByOne(Cursor<Vec<u8>>);

impl Read for OneByOne {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let one = buffer.len().min(1);
        self.0.read(&mut buffer[..one])
    }
}

fn analysed(octets: &[u8]) -> Result<(Analysis, Option<Error>), Error> {
    let input = OneByOne(Cursor::new(octets.to_vec()));
    let source = Source::new(Box::new(input), None)?;
    let mut analyzer = Analyzer::new(Limits::default());
    let damage = read(source, |frame| analyzer.frame(frame))?;
    Ok((analyzer.finish(), damage))
}

#[test]
fn every_format_yields_the_same_analysis() {
    let big = Endianness::Big;
    let little = Endianness::Little;
    let expected = analysed(&pcap(TsResolution::NanoSecond, little)).unwrap();
    assert_eq!(expected.1, None);
    let direction = &expected.0.connections[0].directions[0];
    assert_eq!(
        (direction.traffic.segments, direction.traffic.stream_bytes),
        (PACKETS, PACKETS * 100)
    );
    assert_eq!(expected.0.totals.duration_s, 0.049);
    for octets in [
        pcap(TsResolution::MicroSecond, little),
        pcap(TsResolution::NanoSecond, big),
        pcapng(little),
        pcapng(big),
        pcapng_with_obsolete_blocks(little),
        pcapng_with_obsolete_blocks(big),
        pcap_variant(0xa1b2_cd34, false, &[], &[1, 0, 0, 0, 8, 0, 0, 0]),
        pcap_variant(0xa1b2_cd34, true, &[], &[0, 0, 0, 1, 0, 8, 0, 0]),
        pcap_variant(0x1c00_01ac, false, &[0; 4], &[]),
        pcap_variant(0x1c00_01ab, true, &[0; 4], &[]),
        snoop(),
    ] {
        assert_eq!(analysed(&octets).unwrap(), expected);
        for (how, compressed) in compressed(&octets) {
            assert_eq!(analysed(&compressed).unwrap(), expected, "{how}");
        }
    }
}

/// Times in ERF are binary fractions. Padding and bytes behind a frame that was cut off count as captured.
#[test]
fn erf_yields_the_same_packets() {
    let (found, damage) = analysed(&erf()).unwrap();
    let (expected, _) = analysed(&pcap(TsResolution::NanoSecond, Endianness::Little)).unwrap();
    assert_eq!(damage, None);
    assert_eq!(found.totals.frames, PACKETS);
    assert_eq!(found.totals.bytes, expected.totals.bytes);
    let traffic = |found: &Analysis| found.connections[0].directions[0].traffic;
    assert_eq!(traffic(&found).stream_bytes, traffic(&expected).stream_bytes);
    assert!((found.totals.duration_s - expected.totals.duration_s).abs() < 1e-8);
}

#[test]
fn a_capture_in_any_compression_that_is_cut_off_is_read_to_its_end() {
    let whole = pcap(TsResolution::MicroSecond, Endianness::Little);
    // Compressors write blocks of up to 900 kB.
    let whole = [&whole[..24], &whole[24..].repeat(1000)].concat();
    for (how, octets) in compressed(&whole) {
        for parts in [2, 3, 5] {
            let cut = octets.len() * (parts - 1) / parts;
            match analysed(&octets[..cut]) {
                Ok((analysis, damage)) => {
                    assert!(damage.is_some() && analysis.totals.frames < 1000 * PACKETS, "{how}");
                }
                Err(error) => assert!(matches!(error, Error::Unreadable(_)), "{how}: {error}"),
            }
        }
    }
}

/// An input that fails once, and yields octets without end when it is read again.
struct FailsOnce {
    whole: Cursor<Vec<u8>>,
    has_failed: bool,
}

impl Read for FailsOnce {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.whole.read(buffer)? {
            0 if !self.has_failed => {
                self.has_failed = true;
                Err(std::io::Error::other("fails once"))
            }
            0 => {
                buffer.fill(0);
                Ok(buffer.len())
            }
            read => Ok(read),
        }
    }
}

/// What is compressed hardly shrinks when it is compressed again, so what expands much would do so again.
#[test]
fn a_compressed_file_within_another_does_not_expand_much() {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    let zeros = gzip(&vec![0; 20 << 20]);
    assert!(zeros.len() > 16 * 1024);
    let nested = compress_to_vec(&zeros[..], CompressionLevel::Fastest);
    assert!(nested.len() < 512, "{}", nested.len());
    let Err(error) = analysed(&nested) else { panic!("it is read") };
    assert!(error.to_string().contains("compressed more than once"), "{error}");
}

#[test]
fn an_input_is_not_read_after_an_error() {
    let whole = Cursor::new(pcap(TsResolution::MicroSecond, Endianness::Little));
    let input = FailsOnce { whole, has_failed: false };
    let source = Source::new(Box::new(input), None).unwrap();
    let mut frames = 0;
    let end = read(source, |_| frames += 1).unwrap();
    let text = end.map(|error| error.to_string()).unwrap_or_default();
    assert!(text.ends_with("bytes: fails once"), "{text}");
    assert_eq!(frames, PACKETS);
}

#[test]
fn damage_in_any_format_and_compression_is_reported() {
    let files = [pcapng(Endianness::Big), snoop(), erf()];
    let all = files.iter().flat_map(|file| {
        compressed(file).into_iter().map(|(_, octets)| octets).chain([file.clone()])
    });
    for octets in all {
        for place in (0..octets.len()).step_by(octets.len() / 50) {
            let mut damaged = octets.clone();
            damaged[place] ^= 0x55;
            let _ = analysed(&damaged);
            let _ = analysed(&octets[..place]);
        }
    }
}

#[test]
fn the_time_offset_is_read_in_the_byte_order_of_the_section() {
    use InterfaceDescriptionOption::{IfTsOffset, IfTsResol};
    for endianness in [Endianness::Little, Endianness::Big] {
        let octets = pcapng_of(endianness, vec![IfTsResol(9), IfTsOffset(3600)]);
        let source = Source::new(Box::new(Cursor::new(octets)), None).unwrap();
        let mut times = Vec::new();
        assert_eq!(read(source, |frame| times.push(frame.at)), Ok(None));
        let later = |number| at(number) + Duration::from_secs(3600);
        let expected = (0..PACKETS).map(|n| Instant::from_nanos(later(n).as_nanos() as u64));
        assert_eq!(times, expected.collect::<Vec<_>>(), "{endianness:?}");
    }
}

#[test]
fn a_capture_that_is_cut_off_is_read_to_its_end() {
    let whole = pcap(TsResolution::MicroSecond, Endianness::Little);
    // A header of 24 octets, and 16 before each packet of 60.
    let (analysis, damage) = analysed(&whole[..24 + 76 * 20 + 30]).unwrap();
    assert_eq!(analysis.totals.frames, 20);
    assert_eq!(damage, Some(Error::CutOff { packets: 20, bytes: 24 + 76 * 20 }));
    let compressed = gzip(&[&whole[..24], &whole[24..].repeat(200)].concat());
    let (analysis, damage) = analysed(&compressed[..compressed.len() / 2]).unwrap();
    assert!((1000..9000).contains(&analysis.totals.frames), "{}", analysis.totals.frames);
    let text = damage.unwrap().to_string();
    assert!(text.ends_with("bytes: incomplete deflate stream"), "{text}");
}

#[test]
fn a_compressed_capture_that_is_cut_off_is_read_to_its_end() {
    let little = Endianness::Little;
    for whole in [pcap(TsResolution::MicroSecond, little), pcapng(little)] {
        let compressed = gzip(&whole);
        let (analysis, damage) = analysed(&compressed[..compressed.len() / 2]).unwrap();
        assert!((1..PACKETS).contains(&analysis.totals.frames), "{}", analysis.totals.frames);
        let text = damage.unwrap().to_string();
        assert!(text.ends_with("bytes: incomplete deflate stream"), "{text}");
    }
    let header = gzip(&pcapng(little))[..12].to_vec();
    assert!(matches!(analysed(&header), Err(Error::Unreadable(_))));
}

#[test]
fn a_damaged_capture_is_read_up_to_the_damage() {
    let mut octets = pcap(TsResolution::MicroSecond, Endianness::Little);
    octets[24 + 76 * 20 + 8..][..4].copy_from_slice(&[0xff; 4]);
    let (analysis, damage) = analysed(&octets).unwrap();
    assert_eq!(analysis.totals.frames, 20);
    let text = damage.unwrap().to_string();
    assert_eq!(text, "damaged after 20 packets, 1544 bytes: a block longer than 16 MiB");
    octets[24 + 76 + 8..][..4].copy_from_slice(&[0xff; 4]);
    let (_, damage) = analysed(&octets).unwrap();
    let text = damage.unwrap().to_string();
    assert_eq!(text, "damaged after 1 packet, 100 bytes: a block longer than 16 MiB");
}

#[test]
fn files_that_are_not_captures_are_rejected() {
    assert_eq!(analysed(b""), Err(Error::Empty));
    assert_eq!(analysed(&gzip(b"")), Err(Error::Empty));
    assert_eq!(analysed(b"name = \"rr-3\"\nduration = \"10 s\"\n"), Err(Error::NoCapture));
    assert_eq!(analysed(&gzip(b"no capture at all, but compressed")), Err(Error::NoCapture));
    assert_eq!(analysed(&[0xd4, 0xc3, 0xb2]), Err(Error::NoCapture));
    assert_eq!(analysed(&[0; 4096]), Err(Error::NoCapture));
    assert_eq!(analysed(&snoop()[..12]), Err(Error::NoCapture));
    assert_eq!(analysed(&erf()[..40]), Err(Error::NoCapture));
    // Compressed more often than any capture.
    let often = gzip(&gzip(&gzip(&gzip(&pcapng(Endianness::Little)))));
    assert_eq!(analysed(&often), Err(Error::NoCapture));
}

#[test]
fn damage_in_an_obsolete_packet_block_is_reported() {
    let whole = pcapng_with_obsolete_blocks(Endianness::Little);
    // An Ethernet frame cut off after 60 octets has no padding.
    let last = whole.len() - (12 + 20 + 60 + 12);
    for (at, octet, what) in
        [(8, 7, "a packet of an unknown interface"), (20, 73, "a packet longer than its block")]
    {
        let mut octets = whole.clone();
        octets[last + at] = octet;
        let (analysis, damage) = analysed(&octets).unwrap();
        assert_eq!(analysis.totals.frames, PACKETS - 1);
        let text = damage.unwrap().to_string();
        assert_eq!(text, format!("damaged after 49 packets, {last} bytes: {what}"));
    }
}

/// The first 64 octets of an Ethernet frame hold ten octets of TCP options.
#[test]
fn a_short_snap_length_cuts_off_options() {
    use etherparse::TcpOptionElement::{Noop, Timestamp};
    let mut octets = Vec::new();
    etherparse::PacketBuilder::ethernet2([2; 6], [4; 6])
        .ipv4([192, 0, 2, 1], [192, 0, 2, 2], 64)
        .tcp(4000, 80, 100, 1000)
        .ack(1)
        .options(&[Noop, Noop, Timestamp(1, 2)])
        .expect("the options fit")
        .write(&mut octets, &[])
        .expect("writing to memory succeeds");
    for (captured, cut) in [(64, true), (octets.len(), false)] {
        let length = octets.len() as u32;
        let data = &octets[..captured];
        let frame = Frame {
            interface: Interface::default(),
            at: Instant::ZERO,
            link: Link::ETHERNET,
            length,
            data,
        };
        let Transport::Tcp(segment) = decode(&frame).unwrap().transport else { panic!("TCP") };
        assert_eq!((segment.cut, segment.timestamps.is_some()), (cut, !cut));
    }
}

/// The error itself is one line; callers that need the kind find it through `source`.
#[test]
fn errors_have_a_source() {
    use std::error::Error as _;
    let missing = Source::open(std::path::Path::new("missing.pcap")).err().unwrap();
    let source = missing.source().and_then(|source| source.downcast_ref::<InputError>()).unwrap();
    assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(missing.to_string(), format!("cannot be read: {source}"));
    let folder = Source::open(std::path::Path::new(env!("CARGO_MANIFEST_DIR"))).err().unwrap();
    assert_eq!(folder.to_string(), "cannot be read: a folder: expected a file");

    let mut octets = pcap(TsResolution::MicroSecond, Endianness::Little);
    octets[24 + 8..][..4].copy_from_slice(&[0xff; 4]);
    let (_, error) = analysed(&octets).unwrap();
    let error = error.unwrap();
    let damage = error.source().and_then(|source| source.downcast_ref::<Damage>());
    assert_eq!(damage, Some(&Damage::LongBlock));
}
