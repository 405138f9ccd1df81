/** What a reader does on the page. */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { fromHash, START } from '../../src/state/url.ts';
import { LESSONS } from '../../src/texts/lessons.ts';
import { WATCH } from '../../src/texts/watch.ts';
import { finished, goodputs, launch, open } from './chromium.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser?.close());

test('the page is less than 2 MB, comes from its folder alone, and reports no error', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors: string[] = [];
  const addresses: string[] = [];
  let bytes = 0;
  page.on('console', (message) => {
    if (message.type() !== 'log') errors.push(message.text());
  });
  page.on('response', async (response) => {
    if (!response.url().startsWith('http')) return;
    addresses.push(response.url());
    bytes += (await response.body()).length + 500;
  });
  await page.goto(inject('url'));
  await finished(page);
  for (const hash of ['#/lessons/three', '#/capture']) {
    await page.goto(inject('url') + hash);
    await page.waitForTimeout(300);
  }
  expect(errors).toEqual([]);
  expect(addresses.filter((one) => !one.startsWith(inject('url')))).toEqual([]);
  expect(addresses.length).toBeGreaterThan(2);
  expect(bytes).toBeLessThan(2_000_000);
  await context.close();
});

test('the browser forbids the page and its workers to open a connection', async () => {
  const { page } = await open(browser);
  const refused = await page.evaluate(async () => {
    const tries = [
      () => fetch('./index.html'),
      () => fetch('https://192.0.2.1/', { method: 'POST', body: 'x', mode: 'no-cors' }),
    ];
    const results = await Promise.allSettled(tries.map((one) => one()));
    const source =
      'fetch("http://192.0.2.1/").then(() => postMessage("open"), () => postMessage("refused"))';
    const worker = new Worker(URL.createObjectURL(new Blob([source])));
    const inWorker = await new Promise((done) => {
      worker.onmessage = ({ data }) => done(data);
    });
    return [...results.map((one) => one.status), inWorker, navigator.sendBeacon('./x', 'x')];
  });
  expect(refused.slice(0, 3)).toEqual(['rejected', 'rejected', 'refused']);
  await page.context().close();
});

test('a slider changes the bars within 100 ms, and the address', async () => {
  const { page, errors } = await open(browser);
  const before = await goodputs(page);
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    await page.locator('#setting-late').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.querySelector<HTMLElement>('.bars')?.dataset.answer);
    await finished(page);
    times.push(Number(await page.getAttribute('.bars', 'data-answer')));
  }
  const after = await goodputs(page);
  expect(Number(after.sack)).not.toBe(Number(before.sack));
  times.sort((a, b) => a - b);
  expect(times[2]).toBeLessThan(100);
  await page.waitForTimeout(400);
  const route = fromHash(new URL(page.url()).hash);
  expect(route.page === 'play' && route.play.settings.late).toBe(7.5);
  expect(errors).toEqual([]);
  await page.context().close();
});

test('a change cancels what is under way', async () => {
  const { page, errors } = await open(browser);
  await page.locator('#setting-rate').fill('200');
  for (let i = 0; i < 12; i++) {
    await page.locator('#setting-rate').press('ArrowLeft');
  }
  await page.getByRole('button', { name: 'In order' }).click();
  await finished(page);
  const bars = await goodputs(page);
  // In order at 10 Mb/s: all but nothing is lost to the start.
  expect(Number(bars.unruffled)).toBeGreaterThan(9.4e6);
  expect(Number(bars.unruffled)).toBeLessThan(10e6);
  expect(errors).toEqual([]);
  await page.context().close();
});

test('a wrong scenario gets one line, and a right one runs', async () => {
  const { page } = await open(browser);
  const text = await page.inputValue('.scenario textarea');
  await page.fill('.scenario textarea', text.replace('queue = 50', 'queue = "many"'));
  await page.getByRole('button', { name: 'Run this text' }).click();
  const line = page.locator('.finding.problem');
  await line.waitFor();
  expect(await line.innerText()).toContain('queue');
  await page.fill('.scenario textarea', text.replace('queue = 50', 'queue = 60'));
  await page.getByRole('button', { name: 'Run this text' }).click();
  await finished(page);
  expect(await line.count()).toBe(0);
  await page.reload();
  await finished(page);
  expect(await page.inputValue('.scenario textarea')).toContain('queue = 60');
  await page.context().close();
});

test('the pointer reads values off the plots, and dragging zooms', async () => {
  const { page, errors } = await open(browser);
  for (const name of ['Congestion window', 'Segments of sack']) {
    // A plot is made anew when more of its recording arrives; then this begins again on the new one.
    await vi.waitFor(() => readAndZoom(page, name), { timeout: 20_000, interval: 200 });
  }
  expect(errors).toEqual([]);
  await page.context().close();
});

async function readAndZoom(page: Page, name: string) {
  const figure = page.locator('figure.plot', { hasText: name }).first();
  const over = figure.locator('.u-over');
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  if (!box) throw new Error('no plot');
  let text = '';
  for (let share = 0.1; share < 0.95 && text.trim() === ''; share += 0.05) {
    await page.mouse.move(box.x + box.width * share, box.y + box.height * (1 - share));
    text = await figure.locator('.readout').innerText();
  }
  expect(text).toMatch(/\d/);
  const label = () =>
    figure.locator('canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  const whole = await label();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.4);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.8, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(100);
  expect(await label()).not.toBe(whole);
  await figure.getByRole('button', { name: /Show all/ }).click();
}

test('keys work: skip link, play and step, steps through a plot, theme', async () => {
  const { page, errors } = await open(browser);
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Skip');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
  await page.getByRole('button', { name: 'Pause' }).focus();
  await page.keyboard.press('Enter');
  // Two events may lie closer together than the last digit that the clock shows.
  const clock = () => page.locator('.clock').getAttribute('data-at');
  const at = await clock();
  await page.getByRole('button', { name: 'One step on' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(clock).not.toBe(at);
  const said = await page.locator('.path [role=status]').innerText();
  expect(said).toMatch(/sack at [\d.]+ s: \d+ packets? on the way/);
  const chart = page.getByRole('application', { name: /Segments of sack/ });
  await chart.focus();
  await page.keyboard.press('n');
  await page.keyboard.press('n');
  const read = page.locator('figure.plot', { has: chart }).locator('.readout');
  expect(await read.innerText()).toMatch(/segment \d+/);
  await page.getByLabel('Colours').selectOption('dark');
  expect(await page.getAttribute('html', 'data-theme')).toBe('dark');
  expect(errors).toEqual([]);
  await page.context().close();
});

test('with reduced motion nothing moves until play is pressed', async () => {
  const { page } = await open(browser, '', { reduced: true });
  const at = await page.locator('.clock').innerText();
  await page.waitForTimeout(400);
  expect(await page.locator('.clock').innerText()).toBe(at);
  await page.getByRole('button', { name: 'Play' }).click();
  await page.waitForTimeout(400);
  expect(await page.locator('.clock').innerText()).not.toBe(at);
  await page.context().close();
});

test('every lesson opens and simulates', async () => {
  const { page, errors } = await open(browser, `#/lessons/${LESSONS[0]?.id}`);
  for (const lesson of LESSONS) {
    await page.locator('.lesson nav').getByRole('link', { name: lesson.title }).click();
    await page.waitForFunction(
      (senders) =>
        [...document.querySelectorAll<HTMLElement>('.bars li')]
          .map((row) => row.dataset.sender)
          .join() === senders,
      lesson.play.senders.join(),
    );
    await finished(page);
    expect(await page.locator('h1').innerText()).toBe(lesson.title);
  }
  expect(errors).toEqual([]);
  await page.context().close();
});

test('a sender with other parts is added by its name; an unknown one gets one line', async () => {
  const { page } = await open(browser);
  await page.locator('.senders summary').click();
  const field = page.getByLabel('Add one with other parts');
  await field.fill('rr-at');
  await page.keyboard.press('Enter');
  await page.locator('.add .problem', { hasText: 'rr-ta' }).waitFor();
  await field.fill('rr-ta+cubic');
  await page.keyboard.press('Enter');
  await page.locator('.bars li[data-sender="rr-ta+cubic"]').waitFor();
  await finished(page);
  const route = fromHash(new URL(page.url()).hash);
  await page.waitForTimeout(400);
  expect(route.page).toBe('play');
  expect(Object.keys(await goodputs(page)).length).toBe(START.senders.length + 1);
  await page.context().close();
});

test('every built-in path and every experiment has its three sentences', async () => {
  const { page, errors } = await open(browser, '#/play?path=bonded&senders=sack,rack,unruffled');
  const names = await page.$$eval('.more option', (options) =>
    options.map((option) => (option as HTMLOptionElement).value).filter((value) => value !== ''),
  );
  expect(names.length).toBeGreaterThan(60);
  expect(names.filter((name) => !(name in WATCH))).toEqual([]);
  expect(Object.keys(WATCH).filter((name) => !names.includes(name))).toEqual([]);
  expect(await page.locator('.watch li').allInnerTexts()).toEqual([...(WATCH.bonded ?? [])]);
  expect(errors).toEqual([]);
  await page.context().close();
});
