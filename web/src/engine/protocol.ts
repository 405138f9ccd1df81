/** Messages between the page and a worker. */

import type {
  CapturePath,
  CapturePlots,
  CaptureResult,
  CaptureTransfer,
  CompareResult,
  Curve,
  EngineSettings,
  Events,
  Facts,
  Outcome,
  Packets,
  Part,
  Preset,
  Progress,
  RecordRequest,
  Request,
  RunFacts,
  Sender,
  Table,
} from './api.ts';

export interface Catalogue {
  version: string;
  senders: Sender[];
  parts: Part[];
  presets: Preset[];
}

/** A comparison that is over. */
export interface Compared {
  progress: Progress;
  json: string;
  csv: string;
  result: CompareResult;
  tables: Table[];
}

export interface Recorded {
  facts: RunFacts;
  curves: (Curve & { points: Float64Array })[];
  events: Events;
  packets: Packets;
}

export interface CaptureRead {
  result: CaptureResult;
  text: string;
  transfers: CaptureTransfer[];
}

/** Of each call: what is sent, what is reported on the way, and what comes back. */
export interface Calls {
  catalogue: { sent: null; progress: never; result: Catalogue };
  checkSender: { sent: string; progress: never; result: Outcome<Sender> };
  toml: { sent: EngineSettings; progress: never; result: Outcome<string> };
  settingsOf: { sent: string; progress: never; result: Outcome<EngineSettings | null> };
  check: { sent: Request; progress: never; result: Outcome<Facts> };
  compare: { sent: Request; progress: Progress; result: Compared };
  record: { sent: RecordRequest; progress: number; result: Recorded };
  capture: {
    sent: { name: string; bytes: Uint8Array };
    progress: number;
    result: CaptureRead;
  };
  price: { sent: number; progress: never; result: CaptureRead };
  capturePlots: { sent: number; progress: never; result: CapturePlots | null };
  capturePath: { sent: number; progress: never; result: Outcome<CapturePath> };
}

export type Name = keyof Calls;

export type ToWorker =
  | { kind: 'start'; module: WebAssembly.Module }
  | { kind: 'call'; id: number; name: Name; sent: unknown }
  | { kind: 'cancel'; id: number };

export type FromWorker =
  | { kind: 'progress'; id: number; value: unknown }
  | { kind: 'result'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: string };
