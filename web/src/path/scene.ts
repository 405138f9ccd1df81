/** What is seen of a trace at one instant. */

import type { Cut, Kind, Packet, Trace } from './trace.ts';

/** A packet of data on its way: 0 is the sender, 1 the receiver. */
export interface Mark {
  along: number;
  packet: Packet;
}

/** An acknowledgement on its way: 0 is the receiver, 1 the sender. */
export interface AckMark {
  along: number;
  duplicate: boolean;
}

export interface Counts {
  sent: number;
  delivered: number;
  late: number;
  lost: number;
  resent: number;
  spurious: number;
}

export interface Scene {
  time: number;
  /** In the queue of the path. */
  queued: Packet[];
  data: Mark[];
  acks: AckMark[];
  /** At the path's far end, where a resequencer holds them. */
  gate: Packet[];
  /** At the receiver, where they wait for data before them. */
  held: Packet[];
  /** Just lost, and how long ago as a share of the time for which that is shown. */
  gone: Mark[];
  cwnd: number | null;
  /** A reduction of the window a moment ago. */
  cut: Cut | null;
  /** Since the span began. */
  counts: Counts;
}

/** Returns what is seen at `time`. */
export function sceneAt(trace: Trace, time: number): Scene {
  const scene: Scene = {
    time,
    queued: [],
    data: [],
    acks: [],
    gate: [],
    held: [],
    gone: [],
    cwnd: valueAt(trace.cwnd, time),
    cut: null,
    counts: { sent: 0, delivered: 0, late: 0, lost: 0, resent: 0, spurious: 0 },
  };
  const moment = trace.transit * 0.5;
  for (const packet of trace.packets) {
    if (packet.left > time) break;
    if (packet.left >= trace.from) count(scene.counts, packet, time);
    place(scene, packet, time, trace.transit, moment);
  }
  for (const ack of trace.acks) {
    if (ack.left > time) break;
    if (ack.arrives <= time) continue;
    scene.acks.push({
      along: (time - ack.left) / (ack.arrives - ack.left),
      duplicate: ack.duplicate,
    });
  }
  for (const cut of trace.cuts) {
    if (cut.time <= time && time - cut.time < trace.transit) scene.cut = cut;
  }
  return scene;
}

function place(scene: Scene, packet: Packet, time: number, transit: number, moment: number) {
  if (packet.lost !== null) {
    if (time < packet.starts && packet.starts <= packet.lost) scene.queued.push(packet);
    else if (time < packet.lost) {
      // Where it is lost is not known; half of the path is as good as any place.
      const whole = Math.max(packet.lost - packet.starts, 1e-9);
      scene.data.push({ along: (0.5 * (time - packet.starts)) / whole, packet });
    } else if (time - packet.lost < moment) {
      const at = packet.lost > packet.starts + transit * 0.01 ? 0.5 : 0.03;
      scene.gone.push({ along: at, packet });
    }
    return;
  }
  if (packet.arrives === null) return;
  if (time < packet.starts) scene.queued.push(packet);
  else if (time < packet.arrives) {
    const along = (time - packet.starts) / (packet.arrives - packet.starts);
    scene.data.push({ along, packet });
  } else if (packet.reaches !== null && time < packet.reaches) scene.gate.push(packet);
  else if (packet.first && (packet.delivered === null || time < packet.delivered)) {
    scene.held.push(packet);
  }
}

function count(counts: Counts, packet: Packet, time: number) {
  counts.sent++;
  if (packet.kind === 'late') counts.late++;
  if (packet.kind === 'lost') counts.lost++;
  if (packet.kind === 'resent') counts.resent++;
  if (packet.kind === 'spurious') counts.spurious++;
  if (packet.first && packet.delivered !== null && packet.delivered <= time) counts.delivered++;
}

/** Returns the last value at or before `time` of a curve: time, value, time, value. */
export function valueAt(curve: Float64Array, time: number): number | null {
  let low = 0;
  let high = curve.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((curve[2 * middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low > 0 ? (curve[2 * low - 1] ?? null) : null;
}

/** Returns the next time after `time` at which something leaves or arrives, or the one before it. */
export function nextEvent(trace: Trace, time: number, backwards = false): number {
  const tolerance = 1e-9;
  let best = backwards ? trace.from : trace.to;
  const consider = (at: number | null) => {
    if (at === null || at < trace.from || at > trace.to) return;
    if (backwards ? at < time - tolerance && at > best : at > time + tolerance && at < best) {
      best = at;
    }
  };
  for (const packet of trace.packets) {
    consider(packet.left);
    consider(packet.arrives);
  }
  for (const ack of trace.acks) consider(ack.arrives);
  return best;
}

/** Returns a sentence on the scene for those who do not see it. */
export function describe(name: string, scene: Scene): string {
  const of = (kind: Kind) => scene.data.filter((mark) => mark.packet.kind === kind).length;
  const parts: string[] = [];
  const add = (number: number, one: string, many: string) => {
    if (number > 0) parts.push(`${number} ${number === 1 ? one : many}`);
  };
  add(scene.data.length, 'packet on the way', 'packets on the way');
  if (parts.length === 0) parts.push('no packet on the way');
  add(of('late'), 'of them late', 'of them late');
  add(of('spurious'), 'of them resent without need', 'of them resent without need');
  add(scene.queued.length, 'in the queue', 'in the queue');
  add(scene.gate.length, 'held by the resequencer', 'held by the resequencer');
  add(scene.held.length, 'held by the receiver', 'held by the receiver');
  const duplicates = scene.acks.filter((ack) => ack.duplicate).length;
  add(duplicates, 'duplicate acknowledgement', 'duplicate acknowledgements');
  const cut = scene.cut ? ' The sender has just reduced its window.' : '';
  return `${name} at ${scene.time.toFixed(3)} s: ${parts.join(', ')}.${cut}`;
}
