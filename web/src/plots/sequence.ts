/** What a time–sequence plot shows: of each kind of event, times and positions in the stream. */

import {
  EventKind,
  type Events,
  PacketFlag,
  type Packets,
  type SequenceKind,
} from '../engine/api.ts';

export interface Dots {
  time: Float64Array;
  place: Float64Array;
}

export type Sequence = Record<SequenceKind, Dots>;

export const KINDS: readonly SequenceKind[] = ['new', 'late', 'resent', 'spurious', 'acknowledged'];

export const NAMES: Record<SequenceKind, string> = {
  new: 'new data',
  late: 'late: others overtook it',
  resent: 'retransmission',
  spurious: 'spurious retransmission',
  acknowledged: 'acknowledged up to',
};

/** Returns the sequence of a recording, in segments of the stream. */
export function sequenceOf(events: Events, packets: Packets, mss: number): Sequence {
  const lists: Record<SequenceKind, number[]> = {
    new: [],
    late: [],
    resent: [],
    spurious: [],
    acknowledged: [],
  };
  for (let i = 0; i < events.kind.length; i++) {
    const kind = kindOf(events, packets, i);
    if (!kind) continue;
    const octet = kind === 'acknowledged' ? events.to[i] : events.from[i];
    lists[kind].push(events.time_s[i] ?? 0, (octet ?? 0) / mss);
  }
  return Object.fromEntries(KINDS.map((kind) => [kind, split(lists[kind])])) as Sequence;
}

function kindOf(events: Events, packets: Packets, i: number): SequenceKind | null {
  switch (events.kind[i]) {
    case EventKind.Sent: {
      const flags = packets.flags[events.packet[i] ?? -1] ?? 0;
      return (flags & PacketFlag.Late) !== 0 ? 'late' : 'new';
    }
    case EventKind.Retransmitted:
    case EventKind.RetransmittedByTimeout:
    case EventKind.Probe:
      return 'resent';
    case EventKind.SpuriousRetransmission:
      return 'spurious';
    case EventKind.Acknowledged:
      return 'acknowledged';
    default:
      return null;
  }
}

function split(pairs: readonly number[]): Dots {
  const time = new Float64Array(pairs.length / 2);
  const place = new Float64Array(pairs.length / 2);
  for (let i = 0; i < time.length; i++) {
    time[i] = pairs[2 * i] ?? 0;
    place[i] = pairs[2 * i + 1] ?? 0;
  }
  return { time, place };
}

/** Returns the smallest and the greatest value of the lists, or of what is within a span of time. */
export function extent(
  sequence: Sequence,
  axis: 'time' | 'place',
  within: [number, number] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
): [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const kind of KINDS) {
    const { time } = sequence[kind];
    const values = sequence[kind][axis];
    for (let i = 0; i < values.length; i++) {
      const at = time[i] ?? 0;
      const value = values[i] ?? 0;
      if (at < within[0] || at > within[1]) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

/**
 * Returns the indices of the dots to draw: those within the view, and at most `most` of them. The first of
 * each cell of a grid stays, so that no cluster and no lone dot disappears.
 */
export function thinned(
  dots: Dots,
  view: { x: [number, number]; y: [number, number] },
  most: number,
): number[] {
  const inside: number[] = [];
  const { x, y } = view;
  for (let i = 0; i < dots.time.length; i++) {
    const t = dots.time[i] ?? 0;
    const p = dots.place[i] ?? 0;
    if (t >= x[0] && t <= x[1] && p >= y[0] && p <= y[1]) inside.push(i);
  }
  if (inside.length <= most) return inside;
  const side = Math.max(1, Math.floor(Math.sqrt(most)));
  const columns = side;
  const rows = side;
  const seen = new Set<number>();
  return inside.filter((i) => {
    const column = Math.min(
      columns - 1,
      Math.floor((((dots.time[i] ?? 0) - x[0]) / (x[1] - x[0])) * columns),
    );
    const row = Math.min(
      rows - 1,
      Math.floor((((dots.place[i] ?? 0) - y[0]) / (y[1] - y[0])) * rows),
    );
    const cell = row * columns + column;
    if (seen.has(cell)) return false;
    seen.add(cell);
    return true;
  });
}

/** Returns the dot that is nearest to a position, by distances in pixels. */
export function nearest(
  sequence: Sequence,
  distance: (time: number, place: number) => number,
  reach: number,
): { kind: SequenceKind; time: number; place: number } | null {
  let best: { kind: SequenceKind; time: number; place: number } | null = null;
  let least = reach;
  // Kinds that are drawn on top win.
  for (const kind of ['spurious', 'resent', 'late', 'new', 'acknowledged'] as const) {
    const { time, place } = sequence[kind];
    for (let i = 0; i < time.length; i++) {
      const far = distance(time[i] ?? 0, place[i] ?? 0);
      if (far < least) {
        least = far;
        best = { kind, time: time[i] ?? 0, place: place[i] ?? 0 };
      }
    }
  }
  return best;
}
