//! The keys of a scenario file, described for people. A test holds the list to the keys that are read.

mod link;

pub use link::LINK;

/// A key of a scenario file.
///
/// In [`name`](Self::name), `NAME` is a name of the user's, `IMPAIRMENT` any impairment of a link, and
/// `TIMES` a table that names a distribution of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The dotted key.
    pub name: &'static str,
    /// Its values: a unit with an example, or the choices.
    pub values: &'static str,
    /// What an absent key means.
    pub default: &'static str,
    /// The meaning, in one or more sentences.
    pub about: &'static str,
}

/// Keys that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// What the keys are for, in one or more sentences.
    pub about: &'static str,
    /// The keys.
    pub keys: &'static [Key],
}

const fn key(
    name: &'static str,
    values: &'static str,
    default: &'static str,
    about: &'static str,
) -> Key {
    Key { name, values, default, about }
}

/// All keys.
pub const SECTIONS: &[Section] = &[WHOLE, TCP, NETWORK, LINK, IMPAIRMENTS, TIMES, TRAFFIC, RECORD];

const WHOLE: Section = Section {
    title: "The whole",
    about: "What runs, and for how long.",
    keys: &[
        key("name", "text", "the file’s name", "Name, for people."),
        key("title", "text", "the name", "One line, for people."),
        key("source", "text", "none", "Paper, section, figure; for people."),
        key(
            "duration",
            "time, `\"1000 s\"`",
            "required",
            "Simulated time. A race takes `--duration` instead.",
        ),
        key("warmup", "time", "`\"0 s\"`", "Time at the beginning that is not measured."),
        key(
            "seeds",
            "1 to 10000",
            "5",
            "How many; they are 1, 2, 3 and so on. A race takes `--seeds` instead.",
        ),
        key("variants", "list, `[\"sack\", \"rr-ta\"]`", "required", "Senders to compare."),
        key(
            "variant.NAME.PARAMETER",
            "as the sender has it",
            "as published",
            "A parameter of the sender NAME. `unruffled variants NAME` lists them.",
        ),
        key(
            "flow.bytes",
            "size, `\"33 MB\"`",
            "for ever",
            "How much the one flow of a scenario without traffic sends.",
        ),
    ],
};

const TCP: Section = Section {
    title: "Both ends",
    about: "The settings of TCP at sender and receiver.",
    keys: &[
        key("tcp.mss", "1 B to 65495 B", "1460", "Octets of payload in a segment."),
        key("tcp.header", "up to 10000 B", "40", "Octets of header on the wire."),
        key(
            "tcp.sack_block",
            "up to 1000 B",
            "0",
            "Octets that each SACK block adds to a packet on the wire; 8 in ns-2.",
        ),
        key("tcp.window", "segments", "2000", "The receiver’s window."),
        key("tcp.initial_window", "1 to 1000 segments", "10", "The window at the start."),
        key("tcp.max_cwnd", "segments", "none", "A bound on the congestion window."),
        key("tcp.min_rto", "time", "`\"1 s\"`", "Shortest retransmission timeout."),
        key("tcp.max_rto", "time", "`\"60 s\"`", "Longest retransmission timeout."),
        key(
            "tcp.initial_rto",
            "time",
            "`\"1 s\"`",
            "The timeout before a round-trip time is measured. ns-2 until 2006: 6 s.",
        ),
        key(
            "tcp.max_doublings",
            "0 to 16",
            "16",
            "How often expiries in a row double the timeout at most. ns-2 until 2007: 6 times.",
        ),
        key(
            "tcp.min_rto_after_backoff",
            "`true`, `false`",
            "`false`",
            "Whether the minimum bounds the doubled timeout, in place of what is doubled (RFC 6298). ns-2 until March 2002.",
        ),
        key(
            "tcp.growth",
            "`when-used`, `always`",
            "`when-used`",
            "Which new acknowledgements let the window grow: those that come while it limits the sender (RFC 7661), or all up to the receiver’s window, as in ns-2.",
        ),
        key(
            "tcp.pacing",
            "`true`, `false`",
            "`false`",
            "Whether senders without a rate of their own (all but BBR) pace as Linux paces CUBIC: at twice the window in a round trip in the first half of slow start, at 1.2 times it later.",
        ),
        key(
            "tcp.delayed_ack",
            "`true` (100 ms), `false`, time",
            "`false`",
            "Whether, and for how long, acknowledgements are delayed.",
        ),
        key(
            "tcp.receiver.ack_every",
            "1 to 1000 segments",
            "2",
            "How many segments in order one delayed acknowledgement covers.",
        ),
        key(
            "tcp.receiver.duplicate_filter",
            "1 to 1000000 packets",
            "none",
            "How far behind the newest packet one is discarded, because it may be a duplicate. Retransmissions are packets of their own.",
        ),
        key(
            "tcp.receiver.islands",
            "1 to 65536",
            "none",
            "How many islands of data above a hole are kept. A segment that would begin one more is dropped without an answer.",
        ),
        key(
            "tcp.receiver.sack_blocks",
            "0 to 4",
            "4",
            "How many SACK blocks an acknowledgement has at most.",
        ),
        key(
            "tcp.receiver.dsack",
            "`true`, `false`",
            "`true`",
            "Whether duplicates are reported by DSACK.",
        ),
        key(
            "tcp.byte_counting",
            "1 or more segments",
            "1",
            "L of RFC 3465; 1 counts acknowledgements.",
        ),
        key(
            "tcp.duplicates",
            "`rfc6675`, `ns-2`",
            "`rfc6675`",
            "Of senders with SACK: what is SACKed above each hole, or the acknowledgements since the cumulative point last moved. ns-2 resends every hole below the highest SACK once the first is lost.",
        ),
        key(
            "tcp.pipe",
            "`rfc6675`, `counted`",
            "`rfc6675`",
            "How the pipe is counted; `counted` as ns-2 does.",
        ),
        key(
            "tcp.fast_recovery",
            "`rfc5681`, `ns-2`",
            "`rfc5681`",
            "Of senders without SACK. With `ns-2`, the round-trip time that follows a sixteenfold timeout also sets the estimators anew, for all senders.",
        ),
        key(
            "tcp.halving",
            "`flight`, `window`, `whole`",
            "`window` for Reno with ns-2’s fast recovery, else `flight`",
            "To what a fast retransmit lets the window of Reno’s congestion control fall. `flight`: half of what is in flight, at least 2 (RFC 5681). `window`: half of cwnd down to 1, as in ns-2 since January 2006. `whole`: whole segments of it, as until then, and after a timeout as well.",
        ),
        key("tcp.timestamps", "`true`, `false`", "`false`", "Whether both ends offer timestamps."),
        key(
            "tcp.paws",
            "`true`, `false`",
            "`false`",
            "With timestamps: whether a receiver discards segments with an older timestamp than it has seen (RFC 7323, section 5), as Linux does. Late originals that a retransmission overtook are among them.",
        ),
        key(
            "tcp.ecn",
            "`true`, `false`",
            "`false`",
            "Whether both ends use ECN (RFC 3168). In a race, our senders request it, and sending kernels have `net.ipv4.tcp_ecn = 1`.",
        ),
    ],
};

const NETWORK: Section = Section {
    title: "The network",
    about: "Nodes and how links join them. Links that are not part of the network are access links: a source that \
            names one has a copy of it for itself. Routes are static and the shortest by hops, as in ns-2.",
    keys: &[
        key(
            "topology.kind",
            "`chain`, `dumbbell`, `parking-lot`, `explicit`",
            "`chain`",
            "`chain`: the hops join r1, r2, r3 in a row. `dumbbell`: r1 and r2 are joined by one link, and every source has copies of its own of `link.source` before r1 and of `link.sink` behind r2. `parking-lot`: a row of links with hosts as in a dumbbell. `explicit`: every link with `from` and `to` joins the nodes of these names.",
        ),
        key(
            "topology.hops",
            "list of links",
            "`[\"bottleneck\"]`",
            "The links of a dumbbell (one) or a parking lot.",
        ),
        key("path.hops", "list of links", "required for a chain", "The links of a chain."),
        key("link.NAME.from", "node", "required if explicit", "The node at which the link begins."),
        key("link.NAME.to", "node", "required if explicit", "The node at which the link ends."),
        key(
            "link.NAME.one_way",
            "`true`, `false`",
            "`false`",
            "Whether an explicit link joins its nodes one way only.",
        ),
    ],
};

const IMPAIRMENTS: Section = Section {
    title: "Any impairment of a link",
    about: "Keys that each table of an impairment has: `delayed`, `early`, `replay`, `redrawn`, `overhead`, `loss`, \
            `burst`, `blackout`, `alternate`, `duplicate`, `resend`, `workers`.",
    keys: &[
        key(
            "link.NAME.IMPAIRMENT.packets",
            "`data`, `acks`, `both`",
            "`data`; `both` for `blackout`",
            "The packets that it is for: those from the end that sends data, those from the other end, or both.",
        ),
        key("link.NAME.IMPAIRMENT.from", "time", "`\"0 s\"`", "When it begins."),
        key("link.NAME.IMPAIRMENT.until", "time", "the end", "When it ends."),
    ],
};

const TIMES: Section = Section {
    title: "Distributions of times",
    about: "Keys of each table that draws times: `delayed`, `redrawn`, `overhead`, `burst`, `workers.jitter` of a link, \
            `pause` and `every` of traffic.",
    keys: &[
        key(
            "TIMES.distribution",
            "`constant`, `uniform`, `normal`, `exponential`, `pareto`, `empirical`",
            "`normal`",
            "The distribution.",
        ),
        key("TIMES.value", "time", "required", "The time of `constant`."),
        key("TIMES.low", "time", "required", "The least time of `uniform`."),
        key("TIMES.high", "time", "required", "The greatest time of `uniform`."),
        key("TIMES.mean", "time", "required", "The mean of `normal` or `exponential`."),
        key("TIMES.deviation", "time", "required", "The standard deviation of `normal`."),
        key("TIMES.scale", "time", "required", "The least time of `pareto`."),
        key("TIMES.shape", "number", "required", "The shape of `pareto`."),
        key(
            "TIMES.quantiles",
            "list of times",
            "required",
            "Of `empirical`: times in rising order, equally far apart in probability, with straight lines between them.",
        ),
    ],
};

const TRAFFIC: Section = Section {
    title: "Traffic",
    about: "Each `[[traffic]]` with a `name`, or each `[traffic.NAME]`, is a group of sources that do the same. \
            Without any, one flow crosses a chain.",
    keys: &[
        key("traffic.NAME.from", "node", "the first", "The node of the sources."),
        key("traffic.NAME.to", "node", "the last", "The node of the receivers."),
        key(
            "traffic.NAME.access",
            "access link, `none`",
            "`source`, if there is one",
            "The access link before the first node.",
        ),
        key(
            "traffic.NAME.egress",
            "access link, `none`",
            "`sink`, if there is one",
            "The access link behind the last node.",
        ),
        key("traffic.NAME.count", "1 to 1000000", "1", "How many sources."),
        key("traffic.NAME.start", "time", "`\"0 s\"`", "When the first starts."),
        key("traffic.NAME.gap", "time", "none", "Each starts so much after the one before."),
        key(
            "traffic.NAME.until",
            "time",
            "none",
            "In place of `gap`: all start at random from `start` to then.",
        ),
        key(
            "traffic.NAME.stop",
            "time after the last start",
            "never",
            "When the application stops sending, in the middle of a transfer too. What TCP has already (16 segments at most beyond the window) still goes out.",
        ),
        key(
            "traffic.NAME.sender",
            "sender, `$variant`",
            "`$variant`",
            "A sender of its own, or the one that is compared. A comparison needs a group of the latter.",
        ),
        key("traffic.NAME.window", "segments", "`tcp.window`", "The receiver’s window."),
        key(
            "traffic.NAME.app",
            "`bulk`, `web`, `on-off`, `requests`, `udp`",
            "`bulk`",
            "`bulk`: one transfer. `web`: a connection for each transfer, then a pause. `on-off`: the same on one connection. `requests`: transfers on one connection, one for each `every` after the request for the one before, delivered or not. `udp`: packets without TCP.",
        ),
        key("traffic.NAME.bytes", "size", "for ever", "The size of the transfer of `bulk`."),
        key(
            "traffic.NAME.size",
            "size",
            "required, or `segments`",
            "Of `web`, `on-off`, `requests`: the size of each transfer. Of `udp`: of each packet, `tcp.header` excluded.",
        ),
        key(
            "traffic.NAME.segments",
            "two numbers, `[10, 20]`",
            "none",
            "In place of `size`: segments at random from the first to the second.",
        ),
        key(
            "traffic.NAME.pause",
            "table of times",
            "required for `web`, `on-off`",
            "The pause after each transfer.",
        ),
        key(
            "traffic.NAME.every",
            "table of times, at least 1 us",
            "required for `requests`",
            "The time from a request to the next.",
        ),
        key(
            "traffic.NAME.interval",
            "time, at least 1 us",
            "required for `udp`",
            "The time from a packet to the next.",
        ),
        key(
            "traffic.NAME.ways",
            "list, `[\"s a d\", \"s b d\"]`",
            "the shortest way",
            "Node names: packets are spread over these ways.",
        ),
        key("traffic.NAME.weights", "a number for each way", "equal", "Shares of the ways."),
        key(
            "traffic.NAME.epsilon",
            "number from 0 on",
            "0",
            "In place of `weights`: a way that takes t seconds longer than the shortest has weight exp(−ε t).",
        ),
        key(
            "traffic.NAME.spread",
            "`round-robin`, `runs`, `random`",
            "`round-robin`",
            "`round-robin`: as evenly as the weights allow. `runs`: in rounds, in which a way takes as many packets in a row as its weight says; the first packet comes at a random place in the round.",
        ),
        key(
            "traffic.NAME.spread_acks",
            "`true`, `false`",
            "`false`",
            "Whether acknowledgements are spread as well; else they take the first way back.",
        ),
    ],
};

const RECORD: Section = Section {
    title: "What is kept",
    about: "Time series for experiments to draw.",
    keys: &[
        key(
            "record.series",
            "list of `queue`, `goodput`, `srtt`, `cwnd`, `sequence`, `delivery`",
            "none",
            "The quantities to keep over time.",
        ),
        key("record.interval", "time", "`\"1 s\"`", "The time between two points."),
        key(
            "record.deliveries",
            "`true`, `false`",
            "`false`",
            "Whether each segment is timed from its first transmission to its first arrival.",
        ),
    ],
};

#[cfg(test)]
mod tests;
