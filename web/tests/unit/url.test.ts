import { expect, test } from 'vitest';
import { DEFAULTS, fromPosition, POSITIONS, RANGES, toPosition } from '../../src/state/settings.ts';
import { fromHash, type Play, type Route, START, shownOf, toHash } from '../../src/state/url.ts';

const FULL: Play = {
  source: { kind: 'sliders' },
  settings: {
    rate: 120,
    rtt: 37,
    queue: 400,
    late: 12.5,
    lateness: 80,
    distribution: 'pareto',
    loss: 0.3,
    every: 4,
    extra: 15,
    replay: 64,
    resequence: true,
    duration: 20,
    seeds: 3,
  },
  senders: ['rr-ta+cubic', 'unruffled', 'sack'],
  shown: ['unruffled', 'rr-ta+cubic'],
};

function round(route: Route): Route {
  return fromHash(toHash(route));
}

test('an address holds every setting', () => {
  expect(round({ page: 'play', play: FULL })).toEqual({ page: 'play', play: FULL });
  expect(round({ page: 'play', play: START })).toEqual({ page: 'play', play: START });
});

test('an address holds the name of a path, and a scenario with all its characters', () => {
  const path: Play = { ...START, source: { kind: 'path', name: 'paper/rr-3' } };
  expect(round({ page: 'play', play: path })).toEqual({ page: 'play', play: path });
  const text = 'name = "a & b"\n# 5 % of µ + "x=1"?\n[path]\nhops = ["w"]\n';
  const own: Play = { ...START, source: { kind: 'toml', text } };
  expect(round({ page: 'play', play: own })).toEqual({ page: 'play', play: own });
});

test('lessons and the capture have addresses', () => {
  expect(round({ page: 'lesson', lesson: 'three' })).toEqual({ page: 'lesson', lesson: 'three' });
  expect(round({ page: 'capture' })).toEqual({ page: 'capture' });
});

test('an address without settings, or with invalid ones, opens the playground', () => {
  expect(fromHash('')).toEqual({ page: 'play', play: START });
  const odd = fromHash(
    '#/play?rate=1e9&rtt=x&late=-4&every=1&distribution=cauchy&senders=%3Cb%3E,sack',
  );
  expect(odd.page === 'play' && odd.play.settings).toEqual({
    ...DEFAULTS,
    rate: RANGES.rate.high,
    late: 0,
    every: 2,
  });
  expect(odd.page === 'play' && odd.play.senders).toEqual(['sack']);
  expect(fromHash('#/lessons/%E0%A4%A')).toEqual({ page: 'lesson', lesson: '' });
});

test('the two senders that are drawn are among those that are compared', () => {
  expect(shownOf('sack', 'unruffled', ['unruffled', 'sack'])).toEqual(['sack', 'unruffled']);
  expect(shownOf('reno', 'unruffled', ['unruffled', 'rack'])).toEqual(['rack', 'unruffled']);
  expect(shownOf(undefined, undefined, ['rack'])).toEqual(['rack', 'rack']);
});

test('a slider returns to the value that it shows', () => {
  for (const range of Object.values(RANGES)) {
    for (const value of [range.low, range.high]) {
      expect(fromPosition(toPosition(value, range), range)).toBe(value);
    }
  }
  // 1 to 1000 Mb/s: the middle is their geometric mean, 31.6, with two digits.
  expect(fromPosition(POSITIONS / 2, RANGES.rate)).toBe(32);
  expect(toPosition(10, RANGES.rate)).toBeCloseTo(POSITIONS / 3, 9);
});

test('an address of a sweep’s report is read', () => {
  // The text of the test in crates/lab/src/report/playground.rs.
  const hash =
    '#/play?senders=sack,rack+cubic&shown=rack+cubic,sack' +
    '&toml=duration+%3D+%221+s%22%0A%23+a%2Bb+%C2%B5';
  const play: Play = {
    ...START,
    source: { kind: 'toml', text: 'duration = "1 s"\n# a+b µ' },
    senders: ['sack', 'rack+cubic'],
    shown: ['rack+cubic', 'sack'],
  };
  expect(fromHash(hash)).toEqual({ page: 'play', play });
});
