import { expect, test } from 'vitest';
import { animatedSvg } from '../../src/path/svg.ts';
import { derive } from '../../src/path/trace.ts';
import { EventKind, eventsOf, Late, packetsOf } from './columns.ts';

const TRACE = derive(
  packetsOf([
    { from: 0, left: 0, arrives: 0.05 },
    { from: 1000, left: 0.01, arrives: 0.1, flags: Late },
    { from: 2000, left: 0.02, arrives: 0.07 },
    { kind: 1, from: 0, to: 1000, left: 0.05, arrives: 0.1 },
    { from: 3000, left: 0.9, arrives: 0.95 },
  ]),
  eventsOf([[EventKind.FastRetransmit, 0.08]]),
  { from_s: 0, to_s: 1 },
);

const lane = (sender: string, goodput: number) => ({
  sender,
  goodput,
  colours: ['#111111', '#eeeeee'] as [string, string],
  trace: TRACE,
});

test('the file has what is sent within its span, both goodputs, and the cut', () => {
  const svg = animatedSvg(
    '5 % <late>',
    [lane('sack', 517_000), lane('unruffled', 9.28e6)],
    0,
    0.2,
    9.71e6,
  );
  const uses = (shape: string) => svg.split(`<use href="#${shape}" class="${shape} `).length - 1;
  // Two of the three packets in order leave within 0.2 s, in each of two lanes.
  expect([uses('o'), uses('l'), uses('a'), uses('n')]).toEqual([4, 2, 2, 0]);
  expect(svg).toContain('>0.52 Mb/s<');
  expect(svg).toContain('>9.28 Mb/s<');
  expect(svg.split('>slows down<').length - 1).toBe(2);
  expect(svg).toContain('5 % &lt;late>');
});

test('a packet begins its way when it leaves, and takes its share of the whole', () => {
  const svg = animatedSvg('x', [lane('sack', 1)], 0, 0.2, 1);
  // The usual crossing, 50 ms, takes 3 s on the screen, so that 0.2 s take 12 s. The third packet leaves at
  // 20 ms, after a tenth, in a cycle that began 12 s ago; its 50 ms are a quarter of the whole.
  expect(svg).toContain('<use href="#o" class="o f50" style="animation-delay:-10.8s"/>');
  expect(svg).toMatch(/@keyframes f50\{0%\{[^}]+\}25%\{/);
});

test('it stands still for those who ask for less motion', () => {
  const svg = animatedSvg('x', [lane('sack', 1)], 0, 0.2, 1);
  expect(svg).toContain('@media (prefers-reduced-motion:reduce)');
});
