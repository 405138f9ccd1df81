import { expect, test } from 'vitest';
import { describe, nextEvent, sceneAt, valueAt } from '../../src/path/scene.ts';
import { derive } from '../../src/path/trace.ts';
import { EventKind, eventsOf, Late, Needless, packetsOf, Retransmission } from './columns.ts';

const ACK = 1;
const SPAN = { from_s: 0, to_s: 1 };

/**
 * Four segments leave 10 ms apart and take 50 ms. The second is 40 ms late: it arrives at 100 ms, after the
 * third (70 ms) and the fourth (80 ms). It is resent at 90 ms without need.
 */
const TRACE = derive(
  packetsOf([
    { from: 0, left: 0, arrives: 0.05 },
    { from: 1000, left: 0.01, arrives: 0.1, flags: Late },
    { from: 2000, left: 0.02, arrives: 0.07 },
    { from: 3000, left: 0.03, arrives: 0.08 },
    { kind: ACK, from: 0, to: 1000, left: 0.05, arrives: 0.1 },
    { kind: ACK, from: 0, to: 1000, left: 0.07, arrives: 0.12 },
    { kind: ACK, from: 0, to: 1000, left: 0.08, arrives: 0.13 },
    { from: 1000, left: 0.09, arrives: 0.14, flags: Retransmission | Needless },
    { kind: ACK, from: 0, to: 4000, left: 0.1, arrives: 0.15 },
  ]),
  eventsOf([[EventKind.FastRetransmit, 0.09]]),
  SPAN,
  Float64Array.of(0, 10, 0.09, 5),
);

test('a late packet is on its way while those that overtook it wait', () => {
  const scene = sceneAt(TRACE, 0.085);
  expect(scene.data.map((mark) => [mark.packet.octet, mark.packet.kind])).toEqual([[1000, 'late']]);
  // It left at 10 ms and takes 90 ms: 75 / 90 of the way.
  expect(scene.data[0]?.along).toBeCloseTo(75 / 90, 9);
  expect(scene.held.map((packet) => packet.octet)).toEqual([2000, 3000]);
  expect(scene.cwnd).toBe(10);
  expect(scene.cut).toBeNull();
});

test('what waits is delivered as soon as the hole is filled', () => {
  expect(sceneAt(TRACE, 0.099).held.length).toBe(2);
  const scene = sceneAt(TRACE, 0.1);
  expect(scene.held).toEqual([]);
  expect(scene.counts.delivered).toBe(4);
});

test('an acknowledgement that covers nothing new is a duplicate', () => {
  expect(TRACE.acks.map((ack) => ack.duplicate)).toEqual([false, true, true, false]);
  const scene = sceneAt(TRACE, 0.095);
  expect(scene.acks.map((ack) => ack.duplicate)).toEqual([false, true, true]);
  expect(scene.acks[0]?.along).toBeCloseTo(0.9, 9);
});

test('a needless retransmission is one, is counted, and is not delivered again', () => {
  const scene = sceneAt(TRACE, 0.12);
  expect(scene.data.map((mark) => mark.packet.kind)).toEqual(['spurious']);
  expect(scene.counts).toEqual({ sent: 5, delivered: 4, late: 1, lost: 0, resent: 0, spurious: 1 });
  expect(sceneAt(TRACE, 0.145).held).toEqual([]);
});

test('a reduction of the window is shown for a moment', () => {
  expect(sceneAt(TRACE, 0.091).cut?.cause).toBe('loss');
  expect(sceneAt(TRACE, 0.091).cwnd).toBe(5);
  // The usual time on the path is 50 ms.
  expect(TRACE.transit).toBeCloseTo(0.05, 9);
  expect(sceneAt(TRACE, 0.141).cut).toBeNull();
});

test('a lost packet disappears on its way, and what is behind it waits for its retransmission', () => {
  const trace = derive(
    packetsOf([
      { from: 0, left: 0, arrives: null, end: 0.03 },
      { from: 1000, left: 0.01, arrives: 0.06 },
      { from: 0, left: 0.2, arrives: 0.25, flags: Retransmission },
    ]),
    eventsOf([]),
    SPAN,
  );
  expect(trace.packets.map((packet) => packet.kind)).toEqual(['lost', 'ordered', 'resent']);
  expect(sceneAt(trace, 0.02).data.length).toBe(2);
  expect(sceneAt(trace, 0.04).gone.length).toBe(1);
  expect(sceneAt(trace, 0.1).held.map((packet) => packet.octet)).toEqual([1000]);
  expect(sceneAt(trace, 0.25).held).toEqual([]);
});

test('data that came twice waits once, and as long as the hole before it is open', () => {
  const trace = derive(
    packetsOf([
      { from: 0, left: 0, arrives: null, end: 0.03 },
      { from: 1000, left: 0.01, arrives: 0.06 },
      { from: 1000, left: 0.02, arrives: 0.07, flags: Retransmission | Needless },
    ]),
    eventsOf([]),
    SPAN,
  );
  // The first segment is not resent within the span, so the second waits to its end.
  for (const time of [0.065, 0.08, 1]) {
    expect(sceneAt(trace, time).held.map((packet) => packet.left)).toEqual([0.01]);
  }
});

test('a packet is in the queue until its transmission, and with the resequencer until it is released', () => {
  const trace = derive(
    packetsOf([{ from: 0, left: 0, queued: 0.02, arrives: 0.07, reaches: 0.09 }]),
    eventsOf([]),
    SPAN,
  );
  expect(sceneAt(trace, 0.01).queued.length).toBe(1);
  expect(sceneAt(trace, 0.03).data[0]?.along).toBeCloseTo(0.2, 9);
  expect(sceneAt(trace, 0.08).gate.length).toBe(1);
  expect(sceneAt(trace, 0.08).held.length).toBe(0);
  expect(sceneAt(trace, 0.09).gate.length).toBe(0);
});

test('a step goes to what leaves or arrives next', () => {
  expect(nextEvent(TRACE, 0.03)).toBe(0.05);
  expect(nextEvent(TRACE, 0.05)).toBe(0.07);
  expect(nextEvent(TRACE, 0.05, true)).toBe(0.03);
  expect(nextEvent(TRACE, 0.2)).toBe(1);
  expect(nextEvent(TRACE, 0, true)).toBe(0);
});

test('a curve holds its value until the next point', () => {
  const curve = Float64Array.of(1, 10, 2, 20);
  expect(valueAt(curve, 0.9)).toBeNull();
  expect(valueAt(curve, 1)).toBe(10);
  expect(valueAt(curve, 1.99)).toBe(10);
  expect(valueAt(curve, 5)).toBe(20);
});

test('the scene has a sentence', () => {
  expect(describe('sack', sceneAt(TRACE, 0.085))).toBe(
    'sack at 0.085 s: 1 packet on the way, 1 of them late, 2 held by the receiver, 2 duplicate acknowledgements.',
  );
});
