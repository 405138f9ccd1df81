/** The settings of the sliders: one path, and the senders that are compared on it. */

/** How the extra time of late packets is distributed; each has the mean of the slider. */
export const DISTRIBUTIONS = ['normal', 'constant', 'uniform', 'exponential', 'pareto'] as const;
export type Distribution = (typeof DISTRIBUTIONS)[number];

export interface Settings {
  /** Rate of the bottleneck, Mb/s. */
  rate: number;
  /** Round-trip time of the empty path, ms. */
  rtt: number;
  /** Room of the queue, packets. */
  queue: number;
  /** Share of the packets that take extra time, per cent. */
  late: number;
  /** Mean of the extra time, ms. */
  lateness: number;
  distribution: Distribution;
  /** Share of the packets that are lost at random, per cent. */
  loss: number;
  /** One packet in so many takes a longer path; 0: none. */
  every: number;
  /** By how much that path is longer, ms. */
  extra: number;
  /** The far end drops packets so many behind the newest; 0: none. */
  replay: number;
  /** Whether a resequencer at the far end restores the order. */
  resequence: boolean;
  /** Simulated time, s. */
  duration: number;
  /** How many seeds. */
  seeds: number;
}

/** `few-late` of the built-in paths. */
export const DEFAULTS: Settings = {
  rate: 10,
  rtt: 100,
  queue: 50,
  late: 5,
  lateness: 200,
  distribution: 'normal',
  loss: 0,
  every: 0,
  extra: 200,
  replay: 0,
  resequence: false,
  duration: 60,
  seeds: 1,
};

/** The senders that are compared unless others are chosen. */
export const DEFAULT_SENDERS = ['unruffled', 'linux', 'rack', 'rr-ta', 'tcp-pr-sack', 'sack'];

/** The range of a numeric setting, and how its slider moves. */
export interface Range {
  low: number;
  high: number;
  /** Positions of the slider are multiples of it, on a linear scale. */
  step: number;
  /** Whether equal distances on the slider are equal factors. */
  logarithmic?: boolean;
}

export type NumericSetting = Exclude<keyof Settings, 'distribution' | 'resequence'>;

export const RANGES: Record<NumericSetting, Range> = {
  rate: { low: 1, high: 1000, step: 1, logarithmic: true },
  rtt: { low: 1, high: 1000, step: 1, logarithmic: true },
  queue: { low: 4, high: 4000, step: 1, logarithmic: true },
  late: { low: 0, high: 60, step: 0.5 },
  lateness: { low: 1, high: 1000, step: 1, logarithmic: true },
  loss: { low: 0, high: 5, step: 0.1 },
  every: { low: 0, high: 10, step: 1 },
  extra: { low: 1, high: 1000, step: 1, logarithmic: true },
  replay: { low: 0, high: 8192, step: 1 },
  duration: { low: 1, high: 120, step: 1 },
  seeds: { low: 1, high: 20, step: 1 },
};

/** The number of positions of a logarithmic slider. */
export const POSITIONS = 200;

/** Returns the value within the range that is nearest, with at most one decimal of the step. */
export function clamp(value: number, range: Range): number {
  const whole = Math.round(value / range.step) * range.step;
  const rounded = Number(whole.toFixed(4));
  return Math.min(range.high, Math.max(range.low, rounded));
}

/** Returns the position of a slider for a value. */
export function toPosition(value: number, range: Range): number {
  if (!range.logarithmic) return value;
  return (Math.log(value / range.low) / Math.log(range.high / range.low)) * POSITIONS;
}

/** Returns the value at a position: two significant digits on a logarithmic scale. */
export function fromPosition(position: number, range: Range): number {
  if (!range.logarithmic) return clamp(position, range);
  const value = range.low * (range.high / range.low) ** (position / POSITIONS);
  return clamp(Number(value.toPrecision(2)), range);
}

/** Returns settings in which every value is in its range. */
export function valid(settings: Settings): Settings {
  const result = { ...settings };
  for (const key of Object.keys(RANGES) as NumericSetting[]) {
    const value = settings[key];
    result[key] = Number.isFinite(value) ? clamp(value, RANGES[key]) : DEFAULTS[key];
  }
  if (result.every === 1) result.every = 2;
  if (!DISTRIBUTIONS.includes(result.distribution)) result.distribution = DEFAULTS.distribution;
  return result;
}
