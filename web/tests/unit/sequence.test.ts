import { expect, test } from 'vitest';
import { extent, nearest, sequenceOf, thinned } from '../../src/plots/sequence.ts';
import { EventKind, eventsOf, Late, packetsOf } from './columns.ts';

const SEQUENCE = sequenceOf(
  eventsOf([
    [EventKind.Sent, 0, 0, 1000, 0],
    [EventKind.Sent, 0.01, 1000, 2000, 1],
    [EventKind.SpuriousRetransmission, 0.09, 1000, 2000],
    [EventKind.Acknowledged, 0.1, 0, 1000],
    [EventKind.Sacked, 0.12, 2000, 3000],
    [EventKind.RetransmittedByTimeout, 1.2, 2000, 3000],
  ]),
  packetsOf([
    { from: 0, left: 0, arrives: 0.05 },
    { from: 1000, left: 0.01, arrives: 0.1, flags: Late },
  ]),
  1000,
);

test('events become dots in segments', () => {
  const pairs = (kind: keyof typeof SEQUENCE) =>
    [...SEQUENCE[kind].time].map((time, at) => [time, SEQUENCE[kind].place[at]]);
  expect(pairs('new')).toEqual([[0, 0]]);
  expect(pairs('late')).toEqual([[0.01, 1]]);
  expect(pairs('spurious')).toEqual([[0.09, 1]]);
  expect(pairs('resent')).toEqual([[1.2, 2]]);
  expect(pairs('acknowledged')).toEqual([[0.1, 1]]);
});

test('the extent is of all dots, or of those in a span of time', () => {
  expect(extent(SEQUENCE, 'time')).toEqual([0, 1.2]);
  expect(extent(SEQUENCE, 'place', [0, 0.5])).toEqual([0, 1]);
  expect(extent(SEQUENCE, 'place', [5, 6])).toEqual([0, 1]);
});

test('few dots are all drawn, and those outside of the view are not', () => {
  const view = { x: [0, 1] as [number, number], y: [0, 10] as [number, number] };
  const dots = { time: Float64Array.of(0.5, 2, 0.7), place: Float64Array.of(1, 2, 30) };
  expect(thinned(dots, view, 100)).toEqual([0]);
});

test('of many dots one stays in each cell, and a lone one is never lost', () => {
  const time = new Float64Array(10_001).map((_, at) => (at % 100) / 1000);
  const place = new Float64Array(10_001).map((_, at) => (at % 100) / 1000);
  time[10_000] = 0.95;
  place[10_000] = 0.05;
  const view = { x: [0, 1] as [number, number], y: [0, 1] as [number, number] };
  const kept = thinned({ time, place }, view, 100);
  expect(kept).toEqual([0, 10_000]);
});

test('the nearest dot within reach is read, the needless one first', () => {
  const distance = (time: number, place: number) => Math.hypot((time - 0.05) * 100, place - 1);
  expect(nearest(SEQUENCE, distance, 24)?.kind).toBe('spurious');
  expect(nearest(SEQUENCE, distance, 3)).toBeNull();
});
