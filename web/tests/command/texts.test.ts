/** What the texts say of paths and senders is what the command finds. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Settings } from '../../src/state/settings.ts';
import { LESSONS } from '../../src/texts/lessons.ts';
import { isThere, run, shares } from './command.ts';

type Shares = Record<string, number>;

/** A share of a sender, which must be there. */
const of = (result: Shares, name: string): number => {
  const share = result[name];
  if (share === undefined) throw new Error(`${name}: no such sender in the result`);
  return share;
};

function within(result: Shares, name: string, low: number, high: number) {
  expect([name, of(result, name)]).toSatisfy(([, share]) => share >= low && share <= high);
}

/** The paths, how they are shortened, and what is said of them: shares in per cent, low and high. */
const PATHS: [string, string[], Record<string, [number, number]>][] = [
  ['in-order', [], { unruffled: [95, 100], sack: [94, 100], 'rr-ta': [94, 100] }],
  [
    'few-late',
    ['--seeds', '3'],
    { sack: [3, 7], linux: [7, 13], unruffled: [90, 100], 'tcp-pr-sack': [90, 100] },
  ],
  ['half-late', ['--seeds', '1'], { rack: [1, 3], sack: [1, 3], unruffled: [90, 100] }],
  [
    'rr-3',
    ['--seeds', '1', '--duration', '200s'],
    { unruffled: [78, 83], rack: [78, 83], 'rr-fa': [40, 65], sack: [11, 15] },
  ],
  [
    'dcr-4',
    ['--seeds', '1', '--duration', '300s'],
    { sack: [4, 8], 'rr-fa': [20, 40], unruffled: [90, 100] },
  ],
  [
    'ad-10',
    ['--seeds', '1'],
    {
      rack: [1, 10],
      sack: [1, 10],
      'dcr-timer': [1, 10],
      'rr-ta': [95, 100],
      unruffled: [95, 100],
    },
  ],
  ['pr-10', ['--seeds', '1'], { sack: [1, 4], 'rr-ta': [55, 75] }],
  ['spray', ['--seeds', '1'], { sack: [15, 25], 'tcp-pr-sack': [0, 5] }],
  [
    'bonded',
    ['--seeds', '1'],
    { sack: [1, 3], unruffled: [95, 100], rack: [95, 100], 'linux-reordering': [95, 100] },
  ],
  ['satellite', ['--seeds', '1'], { unruffled: [66, 70], sack: [66, 70], rack: [66, 70] }],
  ['radio', ['--seeds', '1'], { sack: [1, 3], 'rr-ta': [25, 40] }],
  ['wi-fi', ['--seeds', '1'], { sack: [5, 8], unruffled: [78, 90] }],
  ['switch', ['--seeds', '1'], { sack: [0, 1], unruffled: [94, 100], rack: [94, 100] }],
  [
    'vpn',
    ['--seeds', '1'],
    { sack: [0, 1], 'rr-ta': [1, 10], unruffled: [95, 100], rack: [75, 85] },
  ],
  ['route', ['--seeds', '1'], { sack: [95, 100] }],
  ['gateway', ['--seeds', '1'], { sack: [95, 100], unruffled: [95, 100] }],
  [
    'gateway',
    ['--seeds', '1', '--set', 'gateway.resequence=false', '--variants', 'sack'],
    { sack: [1, 5] },
  ],
  [
    'mobile-bond',
    ['--seeds', '3'],
    { linux: [5, 51], unruffled: [95, 100], 'tcp-pr-sack': [93, 100] },
  ],
  ['ecmp', ['--seeds', '1'], { unruffled: [20, 34], linux: [20, 34], sack: [1, 3] }],
  [
    'ecmp',
    ['--seeds', '1', '--set', 'tunnel-end.replay_window=4096'],
    { unruffled: [95, 100], sack: [1, 3] },
  ],
  [
    'two-workers',
    ['--seeds', '1'],
    { sack: [0, 1], 'rr-ta': [15, 25], linux: [95, 100], unruffled: [85, 94] },
  ],
  ['handovers', ['--seeds', '1'], { sack: [87, 90], rack: [87, 90], linux: [97, 100] }],
  ['fabric', ['--seeds', '1'], { sack: [35, 45], unruffled: [98, 100], 'tcp-pr-sack': [0, 5] }],
  ['gigabit-bond', ['--seeds', '1'], { sack: [5, 15], linux: [98, 100], rack: [98, 100] }],
  ['dcr-t20', [], { sack: [98, 100], 'dcr-ack': [98, 100] }],
  ['dcr-t20', ['--set', 'delayed.deviation=3ms'], { sack: [20, 60], 'dcr-ack': [98, 100] }],
];

describe.skipIf(!isThere)('the gallery', () => {
  for (const [path, words, claims] of PATHS) {
    test([path, ...words].join(' '), () => {
      const result = shares([path, ...words]);
      for (const [name, [low, high]] of Object.entries(claims)) within(result, name, low, high);
    });
  }

  test('burst: rr-ta is between sack and rack', () => {
    const result = shares(['burst']);
    expect(of(result, 'rr-ta')).toBeGreaterThan(of(result, 'sack'));
    expect(of(result, 'rr-ta')).toBeLessThan(of(result, 'rack'));
  });
});

describe.skipIf(!isThere)('the lessons', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'unruffled-web-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function file(text: string): string {
    const name = join(folder, 'lesson.toml');
    writeFileSync(name, text);
    return name;
  }

  function settingsOf(id: string): Settings {
    const lesson = LESSONS.find((one) => one.id === id);
    if (lesson?.play.source.kind !== 'sliders') throw new Error(`${id}: no sliders`);
    return lesson.play.settings;
  }

  /** A path of one link, as the sliders make it. */
  function path(settings: Settings, more: string): string {
    return file(
      `duration = "${settings.duration} s"\nseeds = 2\nvariants = ["sack"]\n` +
        '[tcp]\nwindow = 2000\ninitial_window = 10\nmin_rto = "200 ms"\ndelayed_ack = "40 ms"\n' +
        'byte_counting = 2\n[path]\nhops = ["b"]\n[link.b]\n' +
        `rate = "${settings.rate} Mbit/s"\ndelay = "${settings.rtt / 2} ms"\nqueue = ${settings.queue}\n${more}`,
    );
  }

  const late = (settings: Settings, ms: number) =>
    `[link.b.delayed]\nfraction = "${settings.late} %"\ndistribution = "constant"\nvalue = "${ms} ms"\npackets = "data"\n`;

  test('why three: a lateness of 6 ms makes sack slow, and one of 2 ms does not', () => {
    const settings = settingsOf('three');
    const senders = ['--variants', 'sack,rack'];
    const six = shares([path(settings, late(settings, settings.lateness)), ...senders]);
    within(six, 'sack', 5, 20);
    within(six, 'rack', 90, 100);
    within(shares([path(settings, late(settings, 2)), ...senders]), 'sack', 90, 100);
  });

  test('what RACK changed: it keeps its speed at 20 ms, and not at 200 ms', () => {
    const settings = settingsOf('rack');
    const senders = ['--variants', 'sack,rack'];
    const near = shares([path(settings, late(settings, settings.lateness)), ...senders]);
    within(near, 'rack', 85, 100);
    within(near, 'sack', 5, 20);
    within(shares([path(settings, late(settings, 200)), ...senders]), 'rack', 5, 40);
  });

  test('timestamps: each sender is faster without PAWS', () => {
    const source = LESSONS.find((one) => one.id === 'timestamps')?.play.source;
    if (source?.kind !== 'toml') throw new Error('no scenario');
    const name = file(source.text);
    const on = shares([name, '--seeds', '3']);
    const off = shares([name, '--seeds', '3', '--set', 'tcp.paws=false']);
    for (const sender of ['unruffled', 'tcp-pr-sack', 'linux-reordering']) {
      expect([sender, of(on, sender)]).toSatisfy(([, share]) => share < 0.8 * of(off, sender));
    }
  });

  test('waiting: with half a per cent lost, dcr-timer and unruffled deliver no less than sack', () => {
    const settings = settingsOf('waiting');
    const more = `[link.b.loss]\nfraction = "${settings.loss} %"\npackets = "data"\n`;
    const result = shares([
      path(settings, more),
      '--seeds',
      '5',
      '--variants',
      'sack,dcr-timer,unruffled',
    ]);
    for (const name of ['dcr-timer', 'unruffled']) {
      expect(of(result, name)).toBeGreaterThan(0.95 * of(result, 'sack'));
    }
  });

  test('BBR: enough where few are late, a tenth or less where every second is, unless late is told from lost', () => {
    const senders = ['--variants', 'rack+bbr,linux+bbr,unruffled+bbr', '--seeds', '3'];
    within(shares(['few-late', ...senders]), 'rack+bbr', 80, 100);
    const half = shares(['half-late', ...senders]);
    within(half, 'rack+bbr', 0, 5);
    within(half, 'linux+bbr', 0, 20);
    within(half, 'unruffled+bbr', 90, 100);
  });

  test('one flow of BBR takes 74 % of a link from five of CUBIC', () => {
    const scenario = join(
      import.meta.dirname,
      '../../../docs/measurements/2026-11-28-bbr-traps/beside-cubic.toml',
    );
    const text = run([
      'compare',
      scenario,
      '--json',
      '--no-report',
      '--seeds',
      '2',
      '--variants',
      'rack+bbr',
      '--set',
      'bottleneck.queue=83',
    ]);
    const goodput = JSON.parse(text).variants[0].goodput_bps.mean;
    // The link carries 48.7 Mb/s of payload.
    expect(goodput / 48.7e6).toBeCloseTo(0.74, 1);
  });
});
