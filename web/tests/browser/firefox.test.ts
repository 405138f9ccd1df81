/** The page in Firefox, as Debian has it, over WebDriver BiDi. Skipped where Firefox is not installed. */

import { existsSync } from 'node:fs';
import puppeteer from 'puppeteer-core';
import { expect, inject, test } from 'vitest';

const firefox = process.env.FIREFOX ?? '/usr/bin/firefox-esr';

test.skipIf(!existsSync(firefox))('the page simulates in Firefox, without an error', async () => {
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: firefox,
    headless: true,
  });
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(inject('url'));
    await page.waitForFunction(
      () => {
        const rows = [...document.querySelectorAll<HTMLElement>('.bars li')];
        return rows.length > 0 && rows.every((row) => row.dataset.final === 'true');
      },
      { timeout: 60_000 },
    );
    const bars = await page.$$eval('.bars li', (rows) =>
      rows.map(
        (row) =>
          [row.getAttribute('data-sender'), Number(row.getAttribute('data-goodput'))] as const,
      ),
    );
    const of = (name: string) => bars.find(([sender]) => sender === name)?.[1] ?? 0;
    expect(of('unruffled')).toBeGreaterThan(9e6);
    expect(of('sack')).toBeLessThan(1e6);
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
});
