/** axe-core finds nothing serious, and nothing is wider than the window: each page, both themes, three widths. */

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, open } from './chromium.ts';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const PAGES = {
  play: '',
  path: '#/play?path=bonded',
  lesson: '#/lessons/three',
  capture: '#/capture',
};
/** Where screenshots go, for a look at them. */
const shots = join(import.meta.dirname, 'shots');

let browser: Browser;
beforeAll(async () => {
  mkdirSync(shots, { recursive: true });
  browser = await launch();
});
afterAll(() => browser?.close());

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

for (const theme of ['light', 'dark'] as const) {
  for (const width of [360, 768, 1280]) {
    test(`${theme}, ${width} px`, async () => {
      for (const [name, hash] of Object.entries(PAGES)) {
        const { page, errors } = await open(browser, hash, { theme, width, reduced: true });
        await page.waitForTimeout(300);
        const root = await page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement;
          return { scrollWidth, clientWidth };
        });
        expect([name, root.scrollWidth]).toEqual([name, root.clientWidth]);
        await page.screenshot({ path: join(shots, `${name}-${theme}-${width}.png`) });
        await page.screenshot({
          path: join(shots, `${name}-${theme}-${width}-all.png`),
          fullPage: true,
        });
        await page.evaluate(axe);
        const violations = await page.evaluate(async () => {
          const { axe } = window as unknown as {
            axe: { run(): Promise<{ violations: Violation[] }> };
          };
          return (await axe.run()).violations;
        });
        const serious = violations
          .filter((one) => one.impact === 'serious' || one.impact === 'critical')
          .map(
            (one) =>
              `${name}: ${one.id}: ${one.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`,
          );
        expect(serious).toEqual([]);
        expect(errors).toEqual([]);
        await page.context().close();
      }
    });
  }
}
