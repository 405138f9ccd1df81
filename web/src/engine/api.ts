/** The interface of `crates/web`, the engine as WebAssembly. Its calls are synchronous; the worker makes them. */

import type * as exported from '../../../crates/web/web-api';
import type { EventKinds, PacketFlags, Settings } from '../../../crates/web/web-api';

export type * from '../../../crates/web/web-api';

/** Settings of a path; what is absent is left out of the path. */
export type EngineSettings = Settings;

export const EventKind: EventKinds = {
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
};

export const PacketFlag: PacketFlags = {
  Retransmission: 1,
  Needless: 2,
  Duplicated: 4,
  Late: 8,
  Held: 16,
  HeldByPath: 32,
  Marked: 64,
  Resent: 128,
};

/** What the package exports. */
export type Engine = typeof exported & {
  initSync(options: { module: WebAssembly.Module }): unknown;
};
