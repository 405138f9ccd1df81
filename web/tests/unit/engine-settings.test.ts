import { expect, test } from 'vitest';
import {
  deviation,
  fromEngine,
  isExact,
  titleOf,
  toEngine,
} from '../../src/state/engine-settings.ts';
import { DEFAULTS } from '../../src/state/settings.ts';

test('what is off is left out', () => {
  const clean = { ...DEFAULTS, late: 0 };
  expect(toEngine(clean, ['sack'])).toEqual({
    name: 'playground',
    title: '10 Mb/s, 100 ms: everything in order',
    duration_s: 60,
    seeds: 1,
    senders: ['sack'],
    rate_bps: 10_000_000,
    rtt_ms: 100,
    queue_packets: 50,
  });
});

test('shares are of 1, without the digits of a division', () => {
  // 0.3 / 100 is 0.003; in binary arithmetic 0.0030000000000000005 without rounding for some values.
  const engine = toEngine({ ...DEFAULTS, late: 14.5, loss: 0.7 }, ['sack']);
  expect(engine.late_share).toBe(0.145);
  expect(engine.loss_share).toBe(0.007);
});

test('the deviation is a third of the mean, as in few-late', () => {
  expect(deviation(200)).toBe(67);
  expect(deviation(5)).toBe(1.67);
});

test('the settings of the engine become those of the sliders and again the same', () => {
  const settings = { ...DEFAULTS, every: 3, extra: 40, replay: 64, resequence: true, loss: 0.5 };
  const engine = toEngine(settings, ['sack']);
  expect(fromEngine(engine)).toEqual(settings);
  expect(isExact(engine)).toBe(true);
});

test('what the sliders cannot express is not exact', () => {
  const engine = toEngine(DEFAULTS, ['sack']);
  expect(isExact({ ...engine, rate_bps: 3_846_150 })).toBe(false);
  expect(isExact({ ...engine, late_deviation_ms: 5 })).toBe(false);
  expect(isExact({ ...engine, bytes: 1000 })).toBe(false);
  const { queue_packets, ...unlimited } = engine;
  expect(queue_packets).toBe(50);
  expect(isExact(unlimited)).toBe(false);
});

test('the title says what happens on the path', () => {
  expect(titleOf(DEFAULTS)).toBe(
    '10 Mb/s, 100 ms: 5 % of the packets are late by 200 ms, none is lost',
  );
  expect(titleOf({ ...DEFAULTS, late: 0, every: 2, extra: 40, loss: 0.5 })).toBe(
    '10 Mb/s, 100 ms: every second packet takes 40 ms longer, 0.5 % are lost',
  );
});
