/** The page's numbers are those of the command, to the last digit. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULTS, type Settings } from '../../src/state/settings.ts';
import { START, toHash } from '../../src/state/url.ts';
import { command, isThere, run } from '../command/command.ts';
import { goodputs, launch, open } from './chromium.ts';

const SETTINGS: [string, Partial<Settings>, string[]][] = [
  ['the page as it opens', {}, START.senders],
  ['in order', { late: 0, duration: 20 }, ['unruffled', 'sack']],
  [
    'every second late',
    { late: 0, every: 2, extra: 200, duration: 20 },
    ['rack', 'dcr-ack', 'rr-ta'],
  ],
  [
    'lost at random, three seeds',
    { late: 0, loss: 0.5, seeds: 3, duration: 20 },
    ['linux', 'reno'],
  ],
  [
    'late by a uniform time',
    { rate: 3, rtt: 40, late: 12.5, lateness: 15, distribution: 'uniform', duration: 30 },
    ['avg-dev', 'ba-inc', 'ncr-careful'],
  ],
  [
    'late by an exponential time, and lost',
    { rate: 35, late: 20, lateness: 8, distribution: 'exponential', loss: 0.1, duration: 10 },
    ['unruffled', 'quic', 'tcp-pr-sack'],
  ],
  [
    'late by a Pareto time',
    { rtt: 23, late: 3, lateness: 40, distribution: 'pareto', duration: 20, seeds: 2 },
    ['rr-fa', 'td-fr', 'unruffled'],
  ],
  [
    'a replay window',
    { rate: 50, rtt: 20, late: 0, every: 5, extra: 20, replay: 64, duration: 10 },
    ['linux', 'unruffled'],
  ],
  ['a resequencer', { late: 10, lateness: 30, resequence: true, duration: 20 }, ['sack', 'linux']],
  [
    'senders with added parts',
    { rtt: 60, queue: 200, late: 2, lateness: 100, distribution: 'constant', duration: 20 },
    ['rack+bbr', 'unruffled+bbr3', 'rr-ta+cubic'],
  ],
];

let browser: Browser;
let folder: string;
beforeAll(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'unruffled-web-'));
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

for (const [name, settings, senders] of SETTINGS) {
  test.skipIf(!isThere)(name, async () => {
    const hash = toHash({
      page: 'play',
      play: {
        source: { kind: 'sliders' },
        settings: { ...DEFAULTS, ...settings },
        senders,
        shown: [senders[0] as string, senders[1] as string],
      },
    });
    const { page, errors } = await open(browser, hash);
    const file = join(folder, 'scenario.toml');
    writeFileSync(file, await page.inputValue('.scenario textarea'));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Results as JSON' }).click(),
    ]);
    const saved = readFileSync(await download.path(), 'utf8');
    const printed = run(['compare', file, '--json', '--no-report']);
    expect(saved).toBe(printed);
    const bars = await goodputs(page);
    const { variants } = JSON.parse(printed);
    expect(variants.length).toBe(senders.length);
    for (const variant of variants) {
      expect([variant.variant, bars[variant.variant]]).toEqual([
        variant.variant,
        String(variant.goodput_bps.mean),
      ]);
    }
    expect(errors).toEqual([]);
    await page.context().close();
  });
}

test.skipIf(isThere)(`not compared: ${command} is not there`, () => {});
