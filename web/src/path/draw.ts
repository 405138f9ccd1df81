/** A lane of the path on a canvas: the sender on the left, the receiver on the right. */

import type { Scene } from './scene.ts';
import type { Kind, Packet } from './trace.ts';

/** Colours by role. */
export interface Inks {
  paper: string;
  text: string;
  muted: string;
  grid: string;
  shade: string;
  alert: string;
  accent: string;
  late: string;
  /** The inside of late packets, which have an outline. */
  amber: string;
  good: string;
}

/** Where things are in a lane, in CSS pixels. */
export interface Frame {
  width: number;
  height: number;
  /** The width of the boxes at both ends. */
  box: number;
  /** Heights of the data and of the acknowledgements, and how far a detour rises. */
  data: number;
  acks: number;
  rise: number;
}

/** Returns the layout of a lane. */
export function frameOf(width: number, height: number): Frame {
  const box = width < 520 ? 66 : 96;
  return { width, height, box, data: height * 0.6, acks: height * 0.86, rise: height * 0.44 };
}

/** The size of a packet: smaller where many are on the way. */
export function sizeOf(frame: Frame, many: number): number {
  const room = (frame.width - 2 * frame.box) / Math.max(many, 1);
  return Math.min(10, Math.max(3, room * 0.72));
}

/** Returns the point of a packet on its way. Late packets take a detour. */
export function pointOf(frame: Frame, along: number, packet: Packet): [number, number] {
  const x = frame.box + 14 + along * (frame.width - 2 * frame.box - 20);
  const detour = packet.kind === 'late' ? Math.sin(Math.PI * Math.min(along, 1)) : 0;
  // Neighbours on the detour stand at different heights, so that they stay apart.
  const spread = 0.72 + 0.28 * (((packet.octet / 1000) * 0.618) % 1);
  return [x, frame.data - frame.rise * detour * spread];
}

/** Draws one packet as the shape of its kind. */
export function drawPacket(
  context: CanvasRenderingContext2D,
  kind: Kind,
  x: number,
  y: number,
  size: number,
  inks: Inks,
) {
  const half = size / 2;
  context.lineWidth = Math.max(1.2, size * 0.18);
  switch (kind) {
    case 'ordered':
      context.fillStyle = inks.accent;
      context.fillRect(x - half, y - half, size, size);
      break;
    case 'late':
      context.fillStyle = inks.amber;
      context.strokeStyle = inks.text;
      context.beginPath();
      context.arc(x, y, half * 1.15, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      break;
    case 'resent':
      context.fillStyle = inks.text;
      context.beginPath();
      context.moveTo(x, y - half * 1.3);
      context.lineTo(x + half * 1.25, y + half);
      context.lineTo(x - half * 1.25, y + half);
      context.fill();
      break;
    case 'spurious':
      context.fillStyle = inks.alert;
      context.beginPath();
      context.moveTo(x, y - half * 1.5);
      context.lineTo(x + half * 1.5, y);
      context.lineTo(x, y + half * 1.5);
      context.lineTo(x - half * 1.5, y);
      context.fill();
      break;
    case 'lost':
      context.strokeStyle = inks.alert;
      context.beginPath();
      context.moveTo(x - half, y - half);
      context.lineTo(x + half, y + half);
      context.moveTo(x + half, y - half);
      context.lineTo(x - half, y + half);
      context.stroke();
  }
}

/** Draws an acknowledgement: a bar, or a ring if it is a duplicate. */
export function drawAck(
  context: CanvasRenderingContext2D,
  duplicate: boolean,
  x: number,
  y: number,
  inks: Inks,
) {
  context.lineWidth = 1.6;
  context.beginPath();
  if (duplicate) {
    context.strokeStyle = inks.late;
    context.arc(x, y, 3.2, 0, 2 * Math.PI);
  } else {
    context.strokeStyle = inks.muted;
    context.moveTo(x, y - 4);
    context.lineTo(x, y + 4);
  }
  context.stroke();
}

/** Draws a lane. */
export function drawLane(
  context: CanvasRenderingContext2D,
  frame: Frame,
  scene: Scene,
  inks: Inks,
  colour: string,
) {
  const { width, height, box } = frame;
  context.clearRect(0, 0, width, height);
  drawRoad(context, frame, inks);
  const size = sizeOf(frame, scene.data.length);
  for (const ack of scene.acks) {
    const x = width - box - 6 - ack.along * (width - 2 * box - 12);
    drawAck(context, ack.duplicate, x, frame.acks, inks);
  }
  drawQueue(context, frame, scene, inks);
  // What matters is on top.
  const order: Kind[] = ['ordered', 'late', 'resent', 'lost', 'spurious'];
  for (const kind of order) {
    for (const { along, packet } of scene.data) {
      if (packet.kind !== kind) continue;
      const shape = kind === 'lost' ? 'ordered' : kind;
      const [x, y] = pointOf(frame, along, packet);
      drawPacket(context, shape, x, y, size, inks);
    }
  }
  for (const { along, packet } of scene.gone) {
    const [x, y] = pointOf(frame, along, packet);
    drawPacket(context, 'lost', x, y, Math.max(size, 9), inks);
  }
  drawSender(context, frame, scene, inks, colour);
  drawReceiver(context, frame, scene, inks);
}

function drawRoad(context: CanvasRenderingContext2D, frame: Frame, inks: Inks) {
  const { width, box } = frame;
  context.strokeStyle = inks.grid;
  context.lineWidth = 14;
  context.lineCap = 'round';
  context.beginPath();
  context.moveTo(box + 8, frame.data);
  context.lineTo(width - box - 8, frame.data);
  context.stroke();
  context.lineWidth = 1;
  context.lineCap = 'butt';
  context.setLineDash([3, 4]);
  context.beginPath();
  context.moveTo(box, frame.acks);
  context.lineTo(width - box, frame.acks);
  context.stroke();
  context.setLineDash([]);
  if (width < 620) return;
  label(context, 'late packets take a detour', width - box - 190, 16, inks.muted);
  label(context, 'acknowledgements return', width - box - 190, frame.acks + 17, inks.muted);
}

/** The queue: packets above each other where the path begins. */
function drawQueue(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, inks: Inks) {
  const shown = Math.min(scene.queued.length, 14);
  for (let i = 0; i < shown; i++) {
    context.fillStyle = scene.queued[i]?.kind === 'spurious' ? inks.alert : inks.accent;
    context.fillRect(frame.box + 4, frame.data - 2 - i * 4, 8, 3);
  }
  if (scene.queued.length > 1) {
    label(context, `queue ${scene.queued.length}`, frame.box + 2, frame.data + 18, inks.muted);
  }
}

function drawSender(
  context: CanvasRenderingContext2D,
  frame: Frame,
  scene: Scene,
  inks: Inks,
  colour: string,
) {
  const { box, height } = frame;
  panel(context, 0, height * 0.36, box - 6, height * 0.6, inks, colour);
  const left = 10;
  label(context, 'sender', left, height * 0.36 + 18, inks.muted);
  if (scene.cwnd !== null) {
    label(context, `${Math.floor(scene.cwnd)}`, left, height * 0.36 + 42, inks.text, 20, 650);
    label(context, box < 90 ? 'window' : 'window,', left, height * 0.36 + 59, inks.muted);
    if (box >= 90) label(context, 'packets', left, height * 0.36 + 74, inks.muted);
  }
  if (scene.cut) {
    const text = scene.cut.cause === 'timeout' ? 'timeout' : 'slows down';
    label(context, text, 2, height * 0.36 - 8, inks.alert, 13, 650);
  }
}

function drawReceiver(context: CanvasRenderingContext2D, frame: Frame, scene: Scene, inks: Inks) {
  const { box, width, height } = frame;
  const x = width - box + 6;
  panel(context, x, height * 0.36, box - 6, height * 0.6, inks, inks.muted);
  label(context, 'receiver', x + 9, height * 0.36 + 18, inks.muted);
  const waiting = scene.held.length + scene.gate.length;
  const columns = Math.max(3, Math.floor((box - 22) / 8));
  const rows = 4;
  for (let i = 0; i < Math.min(waiting, columns * rows); i++) {
    const cx = x + 9 + (i % columns) * 8;
    const cy = height * 0.36 + 27 + Math.floor(i / columns) * 8;
    context.strokeStyle = inks.accent;
    context.lineWidth = 1.3;
    context.strokeRect(cx + 0.5, cy + 0.5, 5, 5);
  }
  const text = waiting === 0 ? 'in order' : `${waiting} wait`;
  label(context, text, x + 9, height * 0.36 + 74, waiting > 0 ? inks.text : inks.muted);
}

function panel(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  inks: Inks,
  colour: string,
) {
  context.fillStyle = inks.shade;
  context.beginPath();
  context.roundRect(x + 1, y, width - 2, height, 7);
  context.fill();
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(x + 1, y, 3, height, 2);
  context.fill();
}

function label(
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  colour: string,
  size = 12,
  weight = 400,
) {
  context.font = `${weight} ${size}px system-ui, "Liberation Sans", sans-serif`;
  context.fillStyle = colour;
  context.fillText(text, x, y);
}
