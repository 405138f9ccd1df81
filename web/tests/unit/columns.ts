/** Recordings by hand. */

import { EventKind, type Events, PacketFlag, type Packets } from '../../src/engine/api.ts';

export interface Row {
  kind?: number;
  from: number;
  to?: number;
  left: number;
  /** `null`: lost, at `end`. */
  arrives: number | null;
  reaches?: number;
  end?: number;
  queued?: number;
  flags?: number;
}

export const { Retransmission, Needless, Late } = PacketFlag;

export function packetsOf(rows: readonly Row[]): Packets {
  const numbers = (of: (row: Row) => number) => Float64Array.from(rows, of);
  const bytes = (of: (row: Row) => number) => Uint8Array.from(rows, of);
  return {
    kind: bytes((row) => row.kind ?? 0),
    to_receiver: bytes((row) => ((row.kind ?? 0) === 0 ? 1 : 0)),
    from: numbers((row) => row.from),
    to: numbers((row) => row.to ?? row.from + 1000),
    left_at: numbers((row) => row.left),
    queue_until: numbers((row) => row.queued ?? row.left),
    departed_at: numbers((row) => row.queued ?? row.left),
    arrives_at: numbers((row) => row.arrives ?? Number.NaN),
    delivered_at: numbers((row) => row.reaches ?? row.arrives ?? Number.NaN),
    end_at: numbers((row) => row.end ?? row.reaches ?? row.arrives ?? Number.NaN),
    fate: bytes((row) => (row.arrives === null ? 2 : 0)),
    flags: bytes((row) => row.flags ?? 0),
    copy: bytes(() => 0),
    acked_at: numbers(() => Number.NaN),
    answers: Int32Array.from(rows, () => -1),
    link: new Uint16Array(rows.length),
    sack_first: new Uint32Array(rows.length + 1),
    sacks: new Float64Array(),
  };
}

export function eventsOf(
  rows: readonly [kind: number, time: number, from?: number, to?: number, packet?: number][],
): Events {
  return {
    kind: Uint8Array.from(rows, ([kind]) => kind),
    time_s: Float64Array.from(rows, ([, time]) => time),
    from: Float64Array.from(rows, ([, , from]) => from ?? 0),
    to: Float64Array.from(rows, ([, , , to]) => to ?? 0),
    packet: Int32Array.from(rows, ([, , , , packet]) => packet ?? -1),
  };
}

export { EventKind };
