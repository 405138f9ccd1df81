/** What the playground shows, and the calls that keep it up to date. */

import { batch, computed, effect, signal } from '@preact/signals';
import type { Facts, Preset, Progress, RecordRequest, Request } from '../engine/api.ts';
import { Cancelled, Client, type Running } from '../engine/client.ts';
import type { Catalogue, Compared, Recorded } from '../engine/protocol.ts';
import { toEngine } from './engine-settings.ts';
import type { Settings } from './settings.ts';
import { fromHash, type Play, type Route, START, shownOf, toHash } from './url.ts';

const first = fromHash(location.hash);

export const route = signal<Route>(first);
/** The last state of the playground; it is kept while a lesson is open. */
export const play = signal<Play>(first.page === 'play' ? first.play : START);
export const catalogue = signal<Catalogue | null>(null);
/** Why nothing can be simulated at all. */
export const broken = signal<string | null>(null);

export const progress = signal<Progress | null>(null);
export const compared = signal<Compared | null>(null);
/** One line about what is wrong in the scenario. */
export const problem = signal<string | null>(null);
export const facts = signal<Facts | null>(null);
/** The scenario that is shown. */
export const toml = signal('');
/** What is recorded of the two senders whose packets are drawn. */
export const recorded = signal<(Recorded | null)[]>([null, null]);
/** From when on packets are drawn, in seconds; `null`: chosen by the page. */
export const lookFrom = signal<number | null>(null);
/** Milliseconds from the last change to the first estimate of all senders. */
export const firstAnswer = signal<number | null>(null);

/** Comparisons and recordings run beside each other. */
const comparing = new Client();
const recording = new Client();

/** Starts the page: the list of senders and paths, and then whatever the address says. */
export function start() {
  comparing.call('catalogue', null).then(
    (value) => {
      catalogue.value = value;
    },
    (error: Error) => {
      broken.value = error.message;
    },
  );
  addEventListener('hashchange', () => {
    const next = fromHash(location.hash);
    batch(() => {
      route.value = next;
      if (next.page === 'play') play.value = next.play;
    });
  });
  effect(update);
  effect(() => {
    if (route.value.page === 'play') replaceHash(toHash({ page: 'play', play: play.value }));
  });
}

let writing = 0;
/** Writes the address, not at every movement of a slider: browsers limit how often. */
function replaceHash(hash: string) {
  clearTimeout(writing);
  writing = window.setTimeout(() => {
    if (route.value.page === 'play') history.replaceState(null, '', hash);
  }, 250);
}

/** Changes settings of the sliders. */
export function change(settings: Partial<Settings>) {
  const now = play.value;
  play.value = {
    ...now,
    source: { kind: 'sliders' },
    settings: { ...now.settings, ...settings },
  };
}

/** Chooses the senders that are compared. */
export function choose(senders: string[]) {
  if (senders.length === 0) return;
  const [left, right] = play.value.shown;
  play.value = { ...play.value, senders, shown: shownOf(left, right, senders) };
}

/** Chooses a sender to draw, in the first or the second lane. */
export function show(lane: 0 | 1, sender: string) {
  const now = play.value;
  const other = now.shown[1 - lane] as string;
  const pair = other === sender ? [now.shown[1], now.shown[0]] : [sender, other];
  const shown = (lane === 0 ? pair : other === sender ? pair : [other, sender]) as [string, string];
  play.value = { ...now, shown };
}

/** Opens a state of the playground, as a new entry of the history. */
export function open(next: Play) {
  batch(() => {
    play.value = next;
    route.value = { page: 'play', play: next };
    lookFrom.value = null;
  });
  history.pushState(null, '', toHash({ page: 'play', play: next }));
}

/** Returns what compares a state of the playground, or one line about why it cannot be. */
async function requestOf(state: Play, presets: readonly Preset[]): Promise<Request | string> {
  const { source, senders } = state;
  if (source.kind === 'toml') return { toml: source.text, senders };
  if (source.kind === 'path') {
    const preset = presets.find((one) => one.id === source.name);
    if (!preset) return `${source.name}: no such path`;
    return { toml: preset.toml, name: `${preset.id}.toml`, senders };
  }
  const text = await comparing.call('toml', toEngine(state.settings, senders));
  return text.ok ? { toml: text.value, senders } : text.error;
}

/** A comparison that runs or is over, and what it compares. */
interface Current {
  key: string;
  request: Request;
  facts: Facts;
}

let generation = 0;
let current: Current | null = null;
let comparison: Running<unknown> | null = null;
let recordings: Running<unknown>[] = [];

/** Runs anew whatever a change concerns. */
function update() {
  const list = catalogue.value;
  const state = play.value;
  const from = lookFrom.value;
  if (!list) return;
  const now = ++generation;
  const since = performance.now();
  const isCurrent = () => now === generation;
  for (const call of recordings) call.cancel();
  recordings = [];
  // Which two senders are drawn, and from when on, changes nothing of the comparison.
  const key = toHash({ page: 'play', play: { ...state, shown: ['', ''] } });
  if (current?.key === key) return record(current, state.shown, from, isCurrent);
  current = null;
  comparison?.cancel();
  batch(() => {
    firstAnswer.value = null;
    compared.value = null;
    const old = progress.peek();
    if (old) {
      progress.value = {
        ...old,
        done: false,
        estimates: old.estimates.map((one) => ({ ...one, final: false })),
      };
    }
  });
  (async () => {
    const request = await requestOf(state, list.presets);
    if (!isCurrent()) return;
    if (typeof request === 'string') return fail(request);
    const checked = await comparing.call('check', request);
    if (!isCurrent()) return;
    if (!checked.ok) return fail(checked.error);
    batch(() => {
      problem.value = null;
      facts.value = checked.value;
      toml.value = state.source.kind === 'toml' ? state.source.text : checked.value.toml;
    });
    current = { key, request, facts: checked.value };
    compare(current, since);
    record(current, state.shown, from, isCurrent);
  })().catch((error) => {
    if (isCurrent()) fail(error);
  });
}

function fail(error: unknown) {
  if (error instanceof Cancelled) return;
  batch(() => {
    problem.value = error instanceof Error ? error.message : String(error);
    progress.value = null;
    compared.value = null;
  });
}

function compare(mine: Current, since: number) {
  const isCurrent = () => current === mine;
  const running = comparing.start('compare', mine.request, (value) => {
    if (!isCurrent()) return;
    const complete = value.estimates.every((one) => one.goodput_bps !== null);
    if (complete) firstAnswer.value ??= performance.now() - since;
    progress.value = value;
  });
  comparison = running;
  running.result.then(
    (value) => {
      if (!isCurrent()) return;
      batch(() => {
        firstAnswer.value ??= performance.now() - since;
        progress.value = value.progress;
        compared.value = value;
      });
    },
    (error) => {
      if (isCurrent()) fail(error);
    },
  );
}

/** The packets that are drawn are of a span of so many at most. */
const MOST_PACKETS = 12_000;

/** Returns the span whose packets are drawn. */
export function spanOf(facts: Facts, rate: number | null, from: number | null): [number, number] {
  const whole = facts.duration_s;
  const perSecond = (rate ?? 1e8) / ((facts.mss + 40) * 8);
  const length = Math.min(4, whole, MOST_PACKETS / perSecond);
  const start = from ?? Math.min(10, Math.max(whole / 3, facts.warmup_s));
  const begin = Math.max(0, Math.min(start, whole - length));
  return [begin, begin + length];
}

function record(
  { request, facts: checked }: Current,
  shown: [string, string],
  from: number | null,
  isCurrent: () => boolean,
) {
  const rate = /^rate = "([\d.]+) ([kMG]?)bit\/s"/m.exec(checked.toml);
  const factor = { k: 1e3, M: 1e6, G: 1e9 }[rate?.[2] ?? ''] ?? 1;
  const bps = rate ? Number(rate[1]) * factor : null;
  const [from_s, to_s] = spanOf(checked, bps, from);
  const start = (call: RecordRequest, done: (value: Recorded) => void) => {
    const running = recording.start('record', call);
    recordings.push(running);
    running.result.then(
      (value) => {
        if (isCurrent()) done(value);
      },
      (error) => {
        if (isCurrent()) fail(error);
      },
    );
  };
  // The packets come first; the curves of the whole run take longer.
  const lanes = shown.map((sender, lane) => {
    const parts: { packets?: Recorded; curves?: Recorded } = {};
    const put = (part: Partial<typeof parts>) => {
      Object.assign(parts, part);
      const { packets, curves } = parts;
      if (!packets) return;
      const value = curves ? { ...packets, facts: curves.facts, curves: curves.curves } : packets;
      recorded.value = recorded.value.map((old, at) => (at === lane ? value : old));
    };
    return { call: { ...request, sender, seed: 1, from_s, to_s }, put };
  });
  for (const { call, put } of lanes)
    start({ ...call, until_s: to_s }, (packets) => put({ packets }));
  for (const { call, put } of lanes)
    start({ ...call, packets: false }, (curves) => put({ curves }));
}

/** The estimate or result of each sender, in the order of the choice. */
export const bars = computed(() => progress.value?.estimates ?? []);

/** Checks the name of a sender, parts included. */
export function checkSender(name: string) {
  return comparing.call('checkSender', name);
}

/** Returns the settings that give the path of a scenario, if the sliders can express it. */
export function settingsOf(text: string) {
  return comparing.call('settingsOf', text);
}
