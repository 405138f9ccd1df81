import { expect, test } from 'vitest';
import { colourOf } from '../../src/plots/look.ts';
import { percent, rate } from '../../src/units.ts';

test('a sender has the colour of the reports', () => {
  expect(colourOf('unruffled', false)).toBe('#0072b2');
  expect(colourOf('sack', true)).toBe('#d24eaf');
});

test('a part mixes its colour in, 45 to 55', () => {
  // sack 0xcb3fb5 and cubic 0x0a0c10: (203·55 + 10·45 + 50) / 100 = 116, and so on.
  expect(colourOf('sack+cubic', false)).toBe('#74286b');
});

test('numbers have three digits and a unit', () => {
  expect(rate(9_283_000)).toBe('9.28 Mb/s');
  expect(rate(517_000)).toBe('0.52 Mb/s');
  expect(rate(94_600_000_000)).toBe('94.6 Gb/s');
  expect(percent(0.0536)).toBe('5.4 %');
  expect(percent(0.956)).toBe('96 %');
});
