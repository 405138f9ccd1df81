/** The built-in paths and the papers' experiments, and what to look for on them. */

import type { Preset } from '../engine/api.ts';
import { fromEngine, isExact } from '../state/engine-settings.ts';
import { DEFAULTS, type Settings } from '../state/settings.ts';
import { catalogue, change, open, play, settingsOf } from '../state/store.ts';
import { START, shownOf } from '../state/url.ts';
import { WATCH } from '../texts/watch.ts';

const PAPERS: Record<string, string> = {
  'rr-tcp': 'RR-TCP (2003)',
  'avg-dev': 'AVG-DEV (2005)',
  'tcp-pr': 'TCP-PR (2003)',
  'tcp-dcr': 'TCP-DCR (2004)',
  'wb-rto': 'WB-RTO (2007)',
};

const QUICK: [string, Partial<Settings>][] = [
  ['In order', { late: 0, every: 0, loss: 0 }],
  ['A few late', { late: 5, lateness: 200, distribution: 'normal', every: 0, loss: 0 }],
  ['Every second late', { late: 0, every: 2, extra: 200, loss: 0 }],
  ['A little late', { late: 5, lateness: 10, distribution: 'exponential', every: 0, loss: 0 }],
  ['Lost, not late', { late: 0, every: 0, loss: 1 }],
];

const CLEAN: Partial<Settings> = { ...DEFAULTS };

export function Paths() {
  const presets = catalogue.value?.presets ?? [];
  const { source, settings } = play.value;
  const gallery = presets.filter((one) => one.kind === 'gallery');
  const papers = Object.keys(PAPERS).map(
    (paper) =>
      [paper, presets.filter((one) => one.kind === 'paper' && one.paper === paper)] as const,
  );
  const current = source.kind === 'path' ? source.name : '';
  const isQuick = (wanted: Partial<Settings>) =>
    source.kind === 'sliders' &&
    Object.entries({ ...CLEAN, ...wanted }).every(
      ([key, value]) => settings[key as keyof Settings] === value,
    );
  return (
    <fieldset class="paths">
      <legend class="hidden">Paths</legend>
      {QUICK.map(([name, wanted]) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-pressed={isQuick(wanted)}
          onClick={() => change({ ...CLEAN, ...wanted })}
        >
          {name}
        </button>
      ))}
      <label class="inline more">
        More paths
        <select
          value={current}
          onChange={(event) => {
            const preset = presets.find((one) => one.id === event.currentTarget.value);
            if (preset) openPreset(preset);
            else open({ ...play.value, source: { kind: 'sliders' } });
          }}
        >
          <option value="">your own, by the sliders</option>
          <optgroup label="Gallery">{gallery.map(option)}</optgroup>
          {papers.map(([paper, list]) =>
            list.length > 0 ? (
              <optgroup key={paper} label={PAPERS[paper] ?? paper}>
                {list.map(option)}
              </optgroup>
            ) : null,
          )}
        </select>
      </label>
    </fieldset>
  );
}

function option(preset: Preset) {
  const name = preset.id.replace(/^paper\//, '');
  return (
    <option key={preset.id} value={preset.id}>
      {name}: {preset.title}
    </option>
  );
}

/** Opens a path: by the sliders, if they express exactly what it says. */
export async function openPreset(preset: Preset) {
  const senders = preset.senders.length > 0 ? preset.senders : START.senders;
  const shown = shownOf('sack', 'unruffled', senders);
  const known = await settingsOf(preset.toml);
  const settings = known.ok && known.value && isExact(known.value) ? fromEngine(known.value) : null;
  open({
    source: { kind: 'path', name: preset.id },
    settings: settings ?? play.value.settings,
    senders,
    shown,
  });
}

/** Three sentences on what to look for. */
export function Watch() {
  const { source } = play.value;
  if (source.kind !== 'path') return null;
  const preset = catalogue.value?.presets.find((one) => one.id === source.name);
  const sentences = WATCH[source.name];
  if (!preset) return null;
  return (
    <section class="watch" aria-labelledby="watch-title">
      <h2 id="watch-title">{preset.title}</h2>
      <p class="source">{[preset.source, preset.x].filter(Boolean).join('; ')}</p>
      {sentences && (
        <ol>
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ol>
      )}
    </section>
  );
}
