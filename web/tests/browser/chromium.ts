/** A headless Chromium for the tests. */

import { type Browser, chromium, type Page } from 'playwright-core';
import { inject } from 'vitest';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: FLAGS,
  });
}

export interface Opened {
  page: Page;
  /** Errors of the console and of scripts. */
  errors: string[];
}

export interface How {
  width?: number;
  height?: number;
  theme?: 'light' | 'dark';
  reduced?: boolean;
}

/** Opens the page at an address and waits for the results. */
export async function open(browser: Browser, hash = '', how: How = {}): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width: how.width ?? 1280, height: how.height ?? 900 },
    colorScheme: how.theme ?? 'light',
    reducedMotion: how.reduced ? 'reduce' : 'no-preference',
    acceptDownloads: true,
  });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(inject('url') + hash);
  if (!hash.startsWith('#/capture')) await finished(page);
  return { page, errors };
}

/** Waits until all senders have their final numbers. */
export async function finished(page: Page) {
  await page.waitForFunction(
    () => {
      const rows = [...document.querySelectorAll<HTMLElement>('.bars li')];
      return rows.length > 0 && rows.every((row) => row.dataset.final === 'true');
    },
    null,
    { timeout: 60_000 },
  );
}

/** Returns the goodput of each sender as the page has it, digit by digit. */
export function goodputs(page: Page): Promise<Record<string, string>> {
  return page.$$eval('.bars li', (rows) =>
    Object.fromEntries(
      rows.map((row) => [
        (row as HTMLElement).dataset.sender ?? '',
        (row as HTMLElement).dataset.goodput ?? '',
      ]),
    ),
  );
}
