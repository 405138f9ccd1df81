/** The settings of the sliders as those of the engine, and back. */

import type { EngineSettings } from '../engine/api.ts';
import { DEFAULTS, type Settings, valid } from './settings.ts';

/** Returns the engine's settings of a path. */
export function toEngine(settings: Settings, senders: readonly string[]): EngineSettings {
  const result: EngineSettings = {
    name: 'playground',
    title: titleOf(settings),
    duration_s: settings.duration,
    seeds: settings.seeds,
    senders: [...senders],
    rate_bps: settings.rate * 1e6,
    rtt_ms: settings.rtt,
    queue_packets: settings.queue,
  };
  if (settings.late > 0) {
    result.late_share = fraction(settings.late);
    result.lateness = settings.distribution;
    result.late_ms = settings.lateness;
    if (settings.distribution === 'normal') result.late_deviation_ms = deviation(settings.lateness);
  }
  if (settings.every > 0) {
    result.alternate = { extra_ms: settings.extra, every: settings.every };
  }
  if (settings.loss > 0) result.loss_share = fraction(settings.loss);
  if (settings.replay > 0) result.replay_window = settings.replay;
  if (settings.resequence) result.resequence = true;
  return result;
}

/** Returns the settings of the sliders; what the engine's leave out is off. */
export function fromEngine(engine: EngineSettings): Settings {
  return valid({
    rate: (engine.rate_bps ?? DEFAULTS.rate * 1e6) / 1e6,
    rtt: engine.rtt_ms ?? DEFAULTS.rtt,
    queue: engine.queue_packets ?? Number.POSITIVE_INFINITY,
    late: (engine.late_share ?? 0) * 100,
    lateness: engine.late_ms ?? DEFAULTS.lateness,
    distribution: engine.lateness ?? DEFAULTS.distribution,
    loss: (engine.loss_share ?? 0) * 100,
    every: engine.alternate ? (engine.alternate.every ?? 2) : 0,
    extra: engine.alternate?.extra_ms ?? DEFAULTS.extra,
    replay: engine.replay_window ?? 0,
    resequence: engine.resequence !== undefined,
    duration: engine.duration_s ?? DEFAULTS.duration,
    seeds: engine.seeds ?? DEFAULTS.seeds,
  });
}

/** Whether the sliders express exactly what the engine's settings say. */
export function isExact(engine: EngineSettings): boolean {
  const again = toEngine(fromEngine(engine), engine.senders ?? []);
  const keys = [
    'duration_s',
    'seeds',
    'rate_bps',
    'rtt_ms',
    'queue_packets',
    'late_share',
    'lateness',
    'late_ms',
    'late_deviation_ms',
    'loss_share',
    'alternate',
    'replay_window',
    'resequence',
    'bytes',
  ] as const;
  return keys.every((key) => {
    if (key === 'late_deviation_ms' && engine.lateness !== 'normal') return true;
    return JSON.stringify(engine[key]) === JSON.stringify(again[key]);
  });
}

/** Returns a third of the mean, as in the built-in paths: N(200, 67) ms. */
export function deviation(mean: number): number {
  return mean < 10 ? Math.round((mean / 3) * 100) / 100 : Math.round(mean / 3);
}

/** Returns per cent as a share, without the digits that division adds. */
function fraction(percent: number): number {
  return Number((percent / 100).toFixed(6));
}

/** Returns what happens on the path, in a sentence without a full stop. */
export function titleOf(settings: Settings): string {
  const s = settings;
  const parts: string[] = [];
  if (s.late > 0) parts.push(`${s.late} % of the packets are late by ${s.lateness} ms`);
  if (s.every > 0) {
    const which = s.every === 2 ? 'every second packet' : `one packet in ${s.every}`;
    parts.push(`${which} takes ${s.extra} ms longer`);
  }
  if (parts.length === 0) parts.push('everything in order');
  const lost = s.loss > 0 ? `${s.loss} % are lost` : 'none is lost';
  const at = `${s.rate} Mb/s, ${s.rtt} ms`;
  return `${at}: ${parts.join(', ')}${s.loss > 0 || s.late > 0 || s.every > 0 ? `, ${lost}` : ''}`;
}
