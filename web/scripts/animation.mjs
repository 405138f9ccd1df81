// Records the README's animation from the page: npm run animation -- [FILE]
//
// The page must be built (npm run build). It opens in a headless Chromium, and its own "Save as SVG"
// makes the file: a path on which few packets are late, over which two senders send.

import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { preview } from 'vite';

const root = resolve(import.meta.dirname, '..');
const file = resolve(process.argv[2] ?? `${root}/../docs/path.svg`);
const MOST_BYTES = 500_000;
const HASH =
  '#/play?rate=4&rtt=100&queue=50&late=6&lateness=60&loss=0&every=0&extra=200&replay=0&duration=60&seeds=1' +
  '&distribution=constant&resequence=0&senders=unruffled,sack&shown=sack,unruffled';

const server = await preview({ root, preview: { port: 0, open: false } });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});
try {
  const context = await browser.newContext({ acceptDownloads: true, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`${server.resolvedUrls?.local[0]}${HASH}`);
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll('.bars li')];
    return rows.length === 2 && rows.every((row) => row.dataset.final === 'true');
  });
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as SVG' }).click(),
  ]);
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(await download.path(), file);
} finally {
  await browser.close();
  await server.close();
}
const { size } = statSync(file);
if (size > MOST_BYTES) {
  console.error(`${file}: ${size} bytes, more than ${MOST_BYTES}`);
  process.exit(1);
}
console.log(`${file}: ${size} bytes`);
