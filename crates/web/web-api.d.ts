// The engine in a web worker. crates/web/src/bindings.rs implements it.
//
//   import init, * as engine from "./unruffled_web.js";   await init();
//
// All calls are synchronous, never throw for a user's mistake, and hold the worker while they run: call step(budgetMs) in
// a loop that yields to messages. To cancel, stop calling step() and call free(). The pricing of captures and the fitting
// of paths have no steps: end the worker to cancel them. The same input gives the same bytes.

/** An error is a value: one line, as the command prints it (without the leading "unruffled: "). */
export type Outcome<T> = { ok: true; value: T } | { ok: false; error: string };

// ---------------------------------------------------------------- senders and presets

/** The version of the engine, "0.1.0". */
export function version(): string;

/** All senders, and the parts that can be added by "+name": as `unruffled variants --json`. */
export function senders(): { variants: Sender[]; parts: Part[] };
export interface Sender {
  name: string;
  about: string;                       // one line
  source: string;                      // paper, RFC
  known_as: string | null;             // "a model of Linux today"; null for most
  parts: Record<string, string>;       // "loss detection": "…"
  parameters: Parameter[];
}
export interface Parameter {
  name: string; default: string; about: string; source: string;
  choices?: string[];                  // either choices …
  least?: string; greatest?: string;   // … or a range, in the notation of the file
}
export interface Part { name: string; about: string; source: string }
/** Checks a sender's name, "rr-ta+cubic" included; the error names the most similar. */
export function check_sender(name: string): Outcome<Sender>;

/** Every gallery path (`kind: "gallery"`), then each paper's experiments (`kind: "paper"`). */
export function presets(): Preset[];
export interface Preset {
  id: string;                          // "few-late", "rr-3" (gallery); "paper/rr-3", "paper/dcr-4" (experiments)
  kind: "gallery" | "paper";
  title: string;                       // one line
  source: string;                      // "RR-TCP, section 5.1.1, figure 3"; "" if none
  paper: string | null;                // "rr-tcp", "avg-dev", "tcp-pr", "tcp-dcr", "wb-rto"
  x: string | null;                    // papers: the point that the preset shows, "packets delayed (%) = 10"
  senders: string[];                   // senders to compare
  toml: string;                        // the scenario, to compare and to copy
}
// The three sentences on what to look for are the page's.

// ---------------------------------------------------------------- a scenario from sliders

/** All settings are optional: null or absent leaves the thing out. Numbers are SI or as named. */
export interface Settings {
  name?: string;                       // default "my-path"
  title?: string;
  duration_s?: number;                 // default 60
  seeds?: number;                      // default 1
  senders?: string[];                  // default ["unruffled", "linux", "sack"]
  rate_bps?: number;                   // default 10e6
  rtt_ms?: number;                     // of the empty path; default 50
  queue_packets?: number;              // absent: unlimited
  late_share?: number;                 // 0 … 1 of the data packets; 0 or absent: none
  lateness?: "constant" | "uniform" | "normal" | "exponential" | "pareto";   // default "normal"
  late_ms?: number;                    // mean (constant: the value; uniform: 0 … 2·mean); default 25
  late_deviation_ms?: number;          // normal only; default late_ms/3
  loss_share?: number;                 // 0 … 1
  alternate?: { extra_ms: number; every?: number };  // one packet in `every` (default 2) over a path that is longer by extra_ms
  replay_window?: number;              // packets; what is further behind is dropped
  resequence?: { max_hold_ms?: number } | true;    // the resequencer at the far end; true: its defaults
  bytes?: number;                      // a transfer of so many octets instead of an endless one
}
/** The scenario as TOML, as a person would write it. Errors name the setting. */
export function scenario_toml(settings: Settings): Outcome<string>;
/** The defaults and bounds of each slider, so that the page need not repeat them. */
export function settings_bounds(): Record<string, { least: number; greatest: number; default: number; unit: string; logarithmic: boolean }>;
/** Settings that give the same path as this TOML; null where the sliders cannot express it. */
export function settings_of(toml: string): Outcome<Settings | null>;

// ---------------------------------------------------------------- compare

/** What `unruffled compare FILE --variants … --seeds … --duration … --set …` is given. */
export interface Request {
  toml: string;                        // or the name of a gallery path, or SEED-NUMBER of a random one
  name?: string;                       // what errors call the file; default "scenario.toml"
  senders?: string[];                  // default: the scenario's
  seeds?: number;                      // default: the scenario's
  duration?: string;                   // "60 s"; default: the scenario's
  set?: string[];                      // "delayed.fraction=30%"
}
/** Facts of a scenario without running it: one line of error if something is wrong in it. */
export function check(request: Request): Outcome<Facts>;
export interface Facts {
  name: string; title: string; source: string;
  duration_s: number; warmup_s: number; seeds: number; senders: string[];
  mss: number; flows: number; runs: number;      // runs that a comparison makes
  facts: [string, string][];                     // "path", "ends" … in words, as in the report's head
  toml: string;                                  // with every override applied
}

/** A comparison in steps. */
export class Comparison {
  constructor(request: Request);       // never throws; look at error()
  error(): string | undefined;         // the line of the command
  /** Works for about budgetMs and returns where it stands. All senders advance together in virtual time (first seed
   *  first), so the first step already has an estimate of each. Then `done` with all seeds. */
  step(budgetMs: number): Progress;
  /** Once done: exactly what `unruffled compare --json` prints; before: undefined. */
  json(): string | undefined;
  /** Once done: JSON.parse(json()). */
  result(): CompareResult | undefined;
  /** Once done: exactly what `unruffled compare --csv` prints. */
  csv(): string | undefined;
  /** Once done: each column of the command's table in words: {heads, lines}[] (senders; groups; links). */
  tables(): Table[] | undefined;
  free(): void;
}
export interface Table { heads: string[]; lines: string[][] }
export interface Progress {
  done: boolean;
  error?: string;                      // a run that failed (too many packets): one line; done is true
  fraction: number;                    // 0 … 1 of the virtual time of all runs
  runs: number; runs_done: number;
  time_s: number;                      // virtual time that the first seed has reached for every sender
  estimates: Estimate[];               // one per sender, in the order of the request
}
export interface Estimate {
  sender: string;
  goodput_bps: number | null;          // over the seeds and the time so far; null before anything is measured
  share: number | null;                // of the undisturbed path; null until the reference is known
  final: boolean;                      // all seeds are over: the number of `variants[i].goodput_bps` in the JSON
}
export interface CompareResult {       // names and meaning: docs/… JSON fields of compare; not all are listed here
  scenario: string;
  undisturbed_bps: number;
  reference: { name: string; about: string; limit: string };
  rows: Record<string, number | string | null>[];        // one per sender and seed
  variants: Record<string, any>[];     // {variant, share, goodput_bps: {mean, ci95}, …}
  [more: string]: unknown;
}

// ---------------------------------------------------------------- one run in detail

/** Runs one sender with one seed and records it. Curves over the whole run; events and packets within [from_s, to_s). */
export interface RecordRequest extends Request {
  sender: string;
  seed?: number;                       // default 1
  from_s?: number; to_s?: number;      // window of events and packets; default: the first 5 s (at most the run)
  until_s?: number;                    // stop the run here; default: the end of the run (curves need it), never before to_s
  points?: number;                     // most points per curve; default 1500
  packets?: boolean;                   // default true; false: no packets on the path (faster)
}
export class Recording {
  constructor(request: RecordRequest);
  error(): string | undefined;
  step(budgetMs: number): { done: boolean; error?: string; fraction: number; time_s: number };
  /** Names, units and lengths of the curves: cwnd, ssthresh, dupthresh, patience (reordering window of senders
   *  that work in time), srtt, flight, goodput, queue of each link, then the sender's own variables ("var:fa_ratio"). */
  curves(): Curve[];
  /** Interleaved [t0, v0, t1, v1, …], seconds and the curve's unit. */
  curve(name: string): Float64Array;
  /** Time–sequence events within the window, as columns of equal length. */
  events(): Events;
  /** Packets on the path within the window (any packet that is on it for a part of the window). */
  packets(): Packets;
  /** The row of the run as in compare's rows, once done and not cut by until_s. */
  row(): Record<string, number | string | null> | undefined;
  facts(): RunFacts;
  free(): void;
}
export interface Curve { name: string; label: string; unit: string; step: boolean }
export interface RunFacts {
  mss: number; sender: string; seed: number;
  duration_s: number; from_s: number; to_s: number;
  links: { name: string; rate_bps: number | null; delay_s: number }[];    // directions, indices of Packets.link
  truncated: boolean;                  // more than 200 000 events or 100 000 packets in the window: the rest is left out
}
export interface Events {
  time_s: Float64Array;
  from: Float64Array;                  // first octet of the stream (as number; exact below 2^53)
  to: Float64Array;                    // octet after the last
  kind: Uint8Array;                    // one of EventKinds
  packet: Int32Array;                  // index into packets() of the packet sent or arrived; −1 if none
}
/** The values of Events.kind. */
export interface EventKinds {
  Sent: 0;                            // first transmission
  Retransmitted: 1;                   // fast retransmit or recovery
  RetransmittedByTimeout: 2;
  Probe: 3;                           // tail loss probe
  SpuriousRetransmission: 4;          // a retransmission that proved needless (at the time of its sending)
  Acknowledged: 5;                    // cumulative: `to` is SND.UNA after it, `from` before it
  Sacked: 6;                          // range newly reported by a SACK block
  Dsacked: 7;                         // duplicate reported by a DSACK
  Arrived: 8;                         // at the receiver, new
  ArrivedDuplicate: 9;                // at the receiver, nothing new
  Reordered: 10;                      // hole closed by a late arrival: `from` = reordering length in segments, `to` = delay in s
  FastRetransmit: 11;                 // loss detection began a recovery
  Recovered: 12;
  Timeout: 13;
  SpuriousReduction: 14;              // every retransmission under a reduction proved needless
  EcnReduction: 15;
}
export interface Packets {             // columns of equal length, in the order of sending
  kind: Uint8Array;                    // 0 data, 1 acknowledgement, 2 other (SYN, FIN, RST, datagram)
  to_receiver: Uint8Array;             // 1: travels from the sender to the receiver
  from: Float64Array; to: Float64Array;// octets of the stream (acknowledgement: to = what it acknowledges)
  left_at: Float64Array;               // seconds: left the sending end
  queue_until: Float64Array;           // its transmission began (queue of the first link that has one); NaN if dropped there
  departed_at: Float64Array;           // its last bit left that link
  arrives_at: Float64Array;            // reached the far end of the path's last link; NaN if dropped
  delivered_at: Float64Array;          // reached the receiving end: later than arrives_at if held; NaN if dropped
  end_at: Float64Array;                // delivered, or the time of the drop
  fate: Uint8Array;                    // 0 delivered, 1 dropped by a queue, 2 lost, 3 dropped by the replay window, 4 by a limit on ranges, 5 by reassembly, 6 still on the path at the end
  flags: Uint8Array;                   // PacketFlags ored
  copy: Uint8Array;                    // 0 first transmission, 1 retransmission, 2 second …
  acked_at: Float64Array;              // data: when an acknowledgement that covers or SACKs it reached the sender; NaN if never
  answers: Int32Array;                 // acknowledgement: index of the data packet that caused it; −1
  link: Uint16Array;                   // the link (index into facts().links) that decides: the path it took among several
  sack_first: Uint32Array;             // index of its first SACK block in `sacks`; blocks of packet i: sack_first[i] … sack_first[i+1]
  sacks: Float64Array;                 // [from, to, from, to, …] octets
}
/** The bits of Packets.flags. */
export interface PacketFlags {
  Retransmission: 1;
  Needless: 2;                        // retransmission whose data had arrived, or did arrive by an earlier copy
  Duplicated: 4;                      // the path delivered it twice
  Late: 8;                            // overtaken: arrives after a packet that left later
  Held: 16;                           // held by the resequencer
  HeldByPath: 32;                     // kept back by the path for later packets (lateness in packets)
  Marked: 64;                         // CE
  Resent: 128;                        // damaged and sent again by the link
}

// ---------------------------------------------------------------- captures

/** Reads a capture (pcap, pcapng, snoop, erf; gzip, bzip2, xz, zstd, lz4). Bytes stay in memory once; what is kept of
 *  them is bounded. */
export class Capture {
  constructor(name: string, bytes: Uint8Array);
  error(): string | undefined;         // "NAME: not a capture: …"
  /** Reads for about budgetMs. */
  step(budgetMs: number): { done: boolean; error?: string; fraction: number };
  /** After reading: what `unruffled analyze --json` prints, without the cost of reordering (null) until price(). */
  json(): string;
  result(): CaptureResult;
  /** Simulates the cost of reordering for the largest transfers, as the command does. Takes seconds; json() then equals
   *  the command's. */
  price(): void;
  /** The text of `unruffled analyze` for `width` columns. */
  text(width: number): string;
  /** The transfers in words: what the report shows. */
  transfers(): CaptureTransfer[];
  /** Data of the charts of transfer `number` (from 1): as typed arrays. */
  plots(number: number): CapturePlots | undefined;
  /** "Play this path": the path of a transfer as a scenario. Takes seconds. sender: default as the command's. */
  scenario(number: number, sender?: string): Outcome<CapturePath>;
  free(): void;
}
export interface CaptureTransfer {
  number: number; from: string; to: string; place: string;
  cause: string; verdict: string;      // one sentence
  cost: string | null; remedy: string | null;
  payload_bytes: number; segments: number; goodput_bps: number; duration_s: number;
  late_share: number; loss_share: number; playable: boolean;
}
export interface CaptureResult { capture: string; damage: string | null; verdicts: any[]; plan: any[]; [more: string]: unknown }
export type SequenceKind = "new" | "late" | "resent" | "spurious" | "acknowledged";
export interface CapturePlots {
  // dots: seconds since the connection's first packet, octets of the stream
  sequence: Record<SequenceKind, { time_s: Float64Array; octet: Float64Array; total: number }>;
  rtt: { time_s: Float64Array; min_ms: Float64Array; mean_ms: Float64Array; max_ms: Float64Array };
  lateness: { from_ms: Float64Array; packets: Float64Array } | null;   // histogram; the last bar is open
}
export interface CapturePath {
  toml: string; sender: string; notes: string[];                       // the lines that the command prints
  observed_bps: number; delivers_bps: number;
  other: { toml: string; note: string; delivers_bps: number } | null;  // the other reading of the losses
}
