/** What happens to the packets of one sender in a span of time, and what follows from it. Times are in seconds. */

import { EventKind, type Events, PacketFlag, type Packets, type RunFacts } from '../engine/api.ts';

/** The ways in which a packet of data is drawn. */
export type Kind = 'ordered' | 'late' | 'lost' | 'resent' | 'spurious';

export interface Packet {
  kind: Kind;
  /** The first octet of its data, which a retransmission shares with its original. */
  octet: number;
  left: number;
  /** When it leaves the queue of the path. */
  starts: number;
  /** When it is at the path's far end; `null` if it is lost on the way. */
  arrives: number | null;
  /** When it reaches the receiver: later than `arrives` if a resequencer holds it. */
  reaches: number | null;
  /** When it is lost. */
  lost: number | null;
  /** When its data and all data before have reached the receiver; `null` if that is not within the span. */
  delivered: number | null;
  /** Whether it is what first brings its data. */
  first: boolean;
}

export interface Ack {
  left: number;
  arrives: number;
  /** Whether it covers no data in order that those before it did not. */
  duplicate: boolean;
}

export interface Cut {
  time: number;
  cause: 'loss' | 'timeout' | 'mark';
}

export interface Trace {
  from: number;
  to: number;
  /** In the order in which they are sent. */
  packets: Packet[];
  acks: Ack[];
  /** Reductions of the window. */
  cuts: Cut[];
  /** The congestion window in segments: time, value, time, value. */
  cwnd: Float64Array;
  /** The median time from leaving the sender to the path's far end. */
  transit: number;
}

const DATA = 0;
const ACK = 1;

/** Returns what is drawn of a recording. */
export function derive(
  packets: Packets,
  events: Events,
  facts: Pick<RunFacts, 'from_s' | 'to_s'>,
  cwnd: Float64Array = new Float64Array(),
): Trace {
  const firsts = firstArrivals(packets);
  const delivered = deliveries(packets, firsts);
  const data: Packet[] = [];
  const acks: Ack[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < packets.kind.length; i++) {
    const left = packets.left_at[i] ?? 0;
    const isForward = packets.to_receiver[i] === 1;
    if (packets.kind[i] === DATA && isForward) {
      const octet = packets.from[i] ?? 0;
      const reaches = finite(packets.delivered_at[i]);
      const arrives = finite(packets.arrives_at[i]);
      const isLost = isDropped(packets.fate[i] ?? 0);
      data.push({
        kind: kindOf(packets, i),
        octet,
        left,
        starts: finite(packets.departed_at[i]) ?? finite(packets.queue_until[i]) ?? left,
        arrives: isLost ? null : arrives,
        reaches: isLost ? null : reaches,
        lost: isLost ? (packets.end_at[i] ?? left) : null,
        delivered: delivered.get(octet) ?? null,
        first: reaches !== null && firsts.get(octet) === reaches,
      });
    } else if (packets.kind[i] === ACK && !isForward) {
      const cumulative = packets.to[i] ?? 0;
      const duplicate = cumulative <= highest;
      highest = Math.max(highest, cumulative);
      const arrives = finite(packets.delivered_at[i]);
      if (arrives !== null) acks.push({ left, arrives, duplicate });
    }
  }
  return {
    from: facts.from_s,
    to: facts.to_s,
    packets: data,
    acks,
    cuts: cutsOf(events),
    cwnd,
    transit: medianTransit(data),
  };
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** Whether a fate is one of those in which the data does not arrive. */
function isDropped(fate: number): boolean {
  return fate >= 1 && fate <= 5;
}

function kindOf(packets: Packets, i: number): Kind {
  const flags = packets.flags[i] ?? 0;
  if (isDropped(packets.fate[i] ?? 0)) return 'lost';
  if ((flags & PacketFlag.Retransmission) !== 0) {
    return (flags & PacketFlag.Needless) !== 0 ? 'spurious' : 'resent';
  }
  return (flags & PacketFlag.Late) !== 0 ? 'late' : 'ordered';
}

/** Returns when each piece of data first reaches the receiver. */
function firstArrivals(packets: Packets): Map<number, number> {
  const result = new Map<number, number>();
  for (let i = 0; i < packets.kind.length; i++) {
    const reaches = finite(packets.delivered_at[i]);
    if (packets.kind[i] !== DATA || packets.to_receiver[i] !== 1 || reaches === null) continue;
    const octet = packets.from[i] ?? 0;
    const known = result.get(octet);
    if (known === undefined || reaches < known) result.set(octet, reaches);
  }
  return result;
}

/** Returns when each piece of data has arrived together with all before it. */
function deliveries(packets: Packets, firsts: Map<number, number>): Map<number, number> {
  const octets = new Set<number>();
  for (let i = 0; i < packets.kind.length; i++) {
    if (packets.kind[i] === DATA && packets.to_receiver[i] === 1) octets.add(packets.from[i] ?? 0);
  }
  const result = new Map<number, number>();
  let latest = Number.NEGATIVE_INFINITY;
  for (const octet of [...octets].sort((a, b) => a - b)) {
    const reaches = firsts.get(octet);
    if (reaches === undefined) break;
    latest = Math.max(latest, reaches);
    result.set(octet, latest);
  }
  return result;
}

function cutsOf(events: Events): Cut[] {
  const cuts: Cut[] = [];
  for (let i = 0; i < events.kind.length; i++) {
    const time = events.time_s[i] ?? 0;
    if (events.kind[i] === EventKind.FastRetransmit) cuts.push({ time, cause: 'loss' });
    if (events.kind[i] === EventKind.Timeout) cuts.push({ time, cause: 'timeout' });
    if (events.kind[i] === EventKind.EcnReduction) cuts.push({ time, cause: 'mark' });
  }
  return cuts;
}

function medianTransit(packets: readonly Packet[]): number {
  const times: number[] = [];
  for (const packet of packets) {
    if (packet.arrives !== null) times.push(packet.arrives - packet.left);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1] ?? 0.05;
}
