/** The address after `#`: which page, and all that the playground shows. */

import {
  DEFAULT_SENDERS,
  DEFAULTS,
  DISTRIBUTIONS,
  type Distribution,
  type NumericSetting,
  RANGES,
  type Settings,
  valid,
} from './settings.ts';

/** What the playground runs: the sliders, a built-in path, or a scenario file of the reader's. */
export type Source =
  | { kind: 'sliders' }
  | { kind: 'path'; name: string }
  | { kind: 'toml'; text: string };

/** What the playground shows. */
export interface Play {
  source: Source;
  settings: Settings;
  senders: string[];
  /** The two senders whose packets are drawn. */
  shown: [string, string];
}

export type Route =
  | { page: 'play'; play: Play }
  | { page: 'lesson'; lesson: string }
  | { page: 'capture' };

/** The playground as it opens. */
export const START: Play = {
  source: { kind: 'sliders' },
  settings: DEFAULTS,
  senders: DEFAULT_SENDERS,
  shown: ['sack', 'unruffled'],
};

const NUMERIC = Object.keys(RANGES) as NumericSetting[];
/** More would take minutes. */
const MOST_SENDERS = 40;

/** Returns the address of a route. It names every setting, so that it stays the same if a default changes. */
export function toHash(route: Route): string {
  if (route.page === 'capture') return '#/capture';
  if (route.page === 'lesson') return `#/lessons/${encodeURIComponent(route.lesson)}`;
  const { source, settings, senders, shown } = route.play;
  const parts = new URLSearchParams();
  if (source.kind === 'path') parts.set('path', source.name);
  if (source.kind === 'toml') parts.set('toml', source.text);
  if (source.kind === 'sliders') {
    for (const key of NUMERIC) parts.set(key, String(settings[key]));
    parts.set('distribution', settings.distribution);
    parts.set('resequence', settings.resequence ? '1' : '0');
  }
  // Names of senders stay readable; all else is escaped as usual, a plus of a scenario among it.
  const names = [`senders=${senders.join(',')}`, `shown=${shown.join(',')}`];
  return `#/play?${[...names, ...(parts.size > 0 ? [parts.toString()] : [])].join('&')}`;
}

/** Returns the route of an address. What is missing or out of range is as in `START`. */
export function fromHash(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  if (path === '/capture') return { page: 'capture' };
  const lesson = /^\/lessons(?:\/(.*))?$/.exec(path);
  if (lesson) return { page: 'lesson', lesson: decoded(lesson[1] ?? '') };
  // A plus is part of a sender's name here, not a space.
  const parts = new URLSearchParams(
    query.replace(/(^|&)(senders|shown)=([^&]*)/g, (whole) => whole.replaceAll('+', '%2B')),
  );
  const settings: Settings = { ...DEFAULTS };
  for (const key of NUMERIC) {
    const text = parts.get(key);
    if (text !== null && text.trim() !== '') settings[key] = Number(text);
  }
  const distribution = parts.get('distribution');
  if (DISTRIBUTIONS.includes(distribution as Distribution)) {
    settings.distribution = distribution as Distribution;
  }
  settings.resequence = parts.get('resequence') === '1';
  const toml = parts.get('toml');
  const name = parts.get('path');
  const source: Source = toml
    ? { kind: 'toml', text: toml }
    : name
      ? { kind: 'path', name }
      : { kind: 'sliders' };
  const senders = names(parts.get('senders'), MOST_SENDERS);
  const chosen = senders.length > 0 ? senders : START.senders;
  const [first, second] = names(parts.get('shown'), 2);
  return {
    page: 'play',
    play: {
      source,
      settings: valid(settings),
      senders: chosen,
      shown: shownOf(first, second, chosen),
    },
  };
}

/** Returns two of the senders to draw: those that are named, if they are among them. */
export function shownOf(
  first: string | undefined,
  second: string | undefined,
  senders: readonly string[],
): [string, string] {
  const has = (name: string | undefined): name is string =>
    name !== undefined && senders.includes(name);
  const last = senders.at(-1) ?? 'sack';
  const left = has(first) ? first : senders.includes('sack') && second !== 'sack' ? 'sack' : last;
  const others = senders.filter((name) => name !== left);
  const right = has(second) && second !== left ? second : (others[0] ?? left);
  return [left, right];
}

function names(text: string | null, most: number): string[] {
  const list = (text ?? '').split(',').filter((name) => /^[a-z0-9+-]{1,60}$/.test(name));
  return [...new Set(list)].slice(0, most);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
