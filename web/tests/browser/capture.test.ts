/** A capture that is dropped on the page. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isThere, run } from '../command/command.ts';
import { finished, launch, open } from './chromium.ts';

let browser: Browser;
let folder: string;
let file: string;
beforeAll(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), 'unruffled-web-'));
  file = join(folder, 'slow.pcapng');
  if (!isThere) return;
  const words =
    'compare half-late --variants rack --seeds 1 --no-report --pcap slow.pcapng --duration';
  run([...words.split(' '), '8 s'], folder);
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Drops a file on the page, as a pointer does. */
async function drop(page: Page, name: string, bytes: Buffer) {
  const data = await page.evaluateHandle(
    ([file, base64]) => {
      const transfer = new DataTransfer();
      const content = Uint8Array.from(atob(base64 as string), (one) => one.charCodeAt(0));
      transfer.items.add(new File([content], file as string));
      return transfer;
    },
    [name, bytes.toString('base64')],
  );
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: data });
}

test.skipIf(!isThere)(
  'a capture gets the verdict of the command, its charts, and its path',
  async () => {
    const { page, errors } = await open(browser, '#/capture');
    await drop(page, 'slow.pcapng', readFileSync(file));
    await page.locator('.transfer').first().waitFor();
    await page.waitForFunction(
      () => !document.querySelector('.capture > .note')?.textContent?.trim(),
      null,
      {
        timeout: 60_000,
      },
    );
    const printed = JSON.parse(run(['analyze', file, '--json']));
    const cause = await page.locator('.transfer').first().getAttribute('data-cause');
    expect(cause).toBe(printed.verdicts[0].cause);
    expect(await page.locator('figure.plot').count()).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'Play this path' }).first().click();
    await page
      .getByRole('button', { name: 'Open it in the playground' })
      .click({ timeout: 60_000 });
    await finished(page);
    expect(await page.inputValue('.scenario textarea')).toContain('[link.');
    expect(errors).toEqual([]);
    await page.context().close();
  },
);

test('a file that is no capture gets one line', async () => {
  const { page, errors } = await open(browser, '#/capture');
  writeFileSync(join(folder, 'letter.txt'), 'Dear reader, this is a letter and no capture at all.');
  await page.setInputFiles('input[type=file]', join(folder, 'letter.txt'));
  const line = page.locator('.capture > .problem');
  await line.waitFor();
  expect(await line.innerText()).toMatch(/^letter\.txt: [^\n]+$/);
  expect(errors).toEqual([]);
  await page.context().close();
});
