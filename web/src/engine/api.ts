/** The interface of `crates/web`, the engine as WebAssembly. Its calls are synchronous; the worker makes them. */

/** An error is one line, as the command prints it. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; error: string };

export interface Sender {
  name: string;
  about: string;
  source: string;
  known_as: string | null;
  parts: Record<string, string>;
}

export interface Part {
  name: string;
  about: string;
  source: string;
}

export interface Preset {
  id: string;
  kind: 'gallery' | 'paper';
  title: string;
  source: string;
  paper: string | null;
  x: string | null;
  senders: string[];
  toml: string;
}

/** Settings of a path; what is absent is left out of the path. */
export interface EngineSettings {
  name?: string;
  title?: string;
  duration_s?: number;
  seeds?: number;
  senders?: string[];
  rate_bps?: number;
  rtt_ms?: number;
  queue_packets?: number;
  late_share?: number;
  lateness?: 'constant' | 'uniform' | 'normal' | 'exponential' | 'pareto';
  late_ms?: number;
  late_deviation_ms?: number;
  loss_share?: number;
  alternate?: { extra_ms: number; every?: number };
  replay_window?: number;
  resequence?: { max_hold_ms?: number } | true;
  bytes?: number;
}

export interface Request {
  toml: string;
  name?: string;
  senders?: string[];
  seeds?: number;
  duration?: string;
  set?: string[];
}

export interface Facts {
  name: string;
  title: string;
  source: string;
  duration_s: number;
  warmup_s: number;
  seeds: number;
  senders: string[];
  mss: number;
  flows: number;
  runs: number;
  facts: [string, string][];
  toml: string;
}

export interface Estimate {
  sender: string;
  goodput_bps: number | null;
  share: number | null;
  final: boolean;
}

export interface Progress {
  done: boolean;
  error?: string;
  fraction: number;
  runs: number;
  runs_done: number;
  time_s: number;
  estimates: Estimate[];
}

export interface Table {
  heads: string[];
  lines: string[][];
}

export interface CompareResult {
  scenario: string;
  undisturbed_bps: number;
  reference: { name: string; about: string; limit: string };
  rows: Record<string, number | string | null>[];
  variants: Record<string, unknown>[];
}

export interface Comparison {
  error(): string | undefined;
  step(budgetMs: number): Progress;
  json(): string | undefined;
  result(): CompareResult | undefined;
  csv(): string | undefined;
  tables(): Table[] | undefined;
  free(): void;
}

export interface RecordRequest extends Request {
  sender: string;
  seed?: number;
  from_s?: number;
  to_s?: number;
  until_s?: number;
  points?: number;
  packets?: boolean;
}

export interface Curve {
  name: string;
  label: string;
  unit: string;
  step: boolean;
}

export interface RunFacts {
  mss: number;
  sender: string;
  seed: number;
  duration_s: number;
  from_s: number;
  to_s: number;
  links: { name: string; rate_bps: number | null; delay_s: number }[];
  truncated: boolean;
}

/** Columns of equal length. */
export interface Events {
  time_s: Float64Array;
  from: Float64Array;
  to: Float64Array;
  kind: Uint8Array;
  packet: Int32Array;
}

export const EventKind = {
  Sent: 0,
  Retransmitted: 1,
  RetransmittedByTimeout: 2,
  Probe: 3,
  SpuriousRetransmission: 4,
  Acknowledged: 5,
  Sacked: 6,
  Dsacked: 7,
  Arrived: 8,
  ArrivedDuplicate: 9,
  Reordered: 10,
  FastRetransmit: 11,
  Recovered: 12,
  Timeout: 13,
  SpuriousReduction: 14,
  EcnReduction: 15,
} as const;

/** Columns of equal length, in the order of sending. */
export interface Packets {
  kind: Uint8Array;
  /** 1: from the sender to the receiver. */
  to_receiver: Uint8Array;
  from: Float64Array;
  to: Float64Array;
  left_at: Float64Array;
  queue_until: Float64Array;
  departed_at: Float64Array;
  arrives_at: Float64Array;
  delivered_at: Float64Array;
  end_at: Float64Array;
  fate: Uint8Array;
  flags: Uint8Array;
  copy: Uint8Array;
  acked_at: Float64Array;
  answers: Int32Array;
  link: Uint16Array;
  sack_first: Uint32Array;
  sacks: Float64Array;
}

export const PacketFlag = {
  Retransmission: 1,
  Needless: 2,
  Duplicated: 4,
  Late: 8,
  Held: 16,
  HeldByPath: 32,
  Marked: 64,
  Resent: 128,
} as const;

export interface Recording {
  error(): string | undefined;
  step(budgetMs: number): { done: boolean; error?: string; fraction: number; time_s: number };
  curves(): Curve[];
  curve(name: string): Float64Array;
  events(): Events;
  packets(): Packets;
  facts(): RunFacts;
  free(): void;
}

export interface CaptureTransfer {
  number: number;
  from: string;
  to: string;
  place: string;
  cause: string;
  verdict: string;
  cost: string | null;
  remedy: string | null;
  payload_bytes: number;
  segments: number;
  goodput_bps: number;
  duration_s: number;
  late_share: number;
  loss_share: number;
  playable: boolean;
}

export interface CaptureResult {
  capture: string;
  damage: string | null;
}

export type SequenceKind = 'new' | 'late' | 'resent' | 'spurious' | 'acknowledged';

export interface CapturePlots {
  sequence: Record<SequenceKind, { time_s: Float64Array; octet: Float64Array; total: number }>;
  rtt: {
    time_s: Float64Array;
    min_ms: Float64Array;
    mean_ms: Float64Array;
    max_ms: Float64Array;
  };
  lateness: { from_ms: Float64Array; packets: Float64Array } | null;
}

export interface CapturePath {
  toml: string;
  sender: string;
  notes: string[];
  observed_bps: number;
  delivers_bps: number;
  other: { toml: string; note: string; delivers_bps: number } | null;
}

export interface Capture {
  error(): string | undefined;
  step(budgetMs: number): { done: boolean; error?: string; fraction: number };
  json(): string;
  result(): CaptureResult;
  price(): void;
  text(width: number): string;
  transfers(): CaptureTransfer[];
  plots(number: number): CapturePlots | undefined;
  scenario(number: number, sender?: string): Outcome<CapturePath>;
  free(): void;
}

/** What the package exports. */
export interface Engine {
  initSync(options: { module: WebAssembly.Module }): unknown;
  version(): string;
  senders(): { variants: Sender[]; parts: Part[] };
  check_sender(name: string): Outcome<Sender>;
  presets(): Preset[];
  scenario_toml(settings: EngineSettings): Outcome<string>;
  settings_of(toml: string): Outcome<EngineSettings | null>;
  check(request: Request): Outcome<Facts>;
  Comparison: new (request: Request) => Comparison;
  Recording: new (request: RecordRequest) => Recording;
  Capture: new (name: string, bytes: Uint8Array) => Capture;
}
