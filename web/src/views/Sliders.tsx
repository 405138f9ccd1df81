/** The settings of the path. */

import {
  clamp,
  DISTRIBUTIONS,
  type Distribution,
  fromPosition,
  type NumericSetting,
  POSITIONS,
  RANGES,
  toPosition,
} from '../state/settings.ts';
import { change, play } from '../state/store.ts';

const REPLAY: [number, string][] = [
  [0, 'none'],
  [4, '4 packets'],
  [32, '32 packets'],
  [64, '64 packets (OpenVPN)'],
  [128, '128 packets'],
  [1024, '1024 packets'],
  [8192, '8192 packets'],
];

const DISTRIBUTION_NAMES: Record<Distribution, string> = {
  normal: 'normal, N(mean, mean/3)',
  constant: 'always the same',
  uniform: 'uniform, 0 to twice the mean',
  exponential: 'exponential',
  pareto: 'Pareto, a long tail',
};

export function Sliders() {
  const { settings } = play.value;
  const isReplayListed = REPLAY.some(([value]) => value === settings.replay);
  return (
    <form
      class="sliders"
      onSubmit={(event) => event.preventDefault()}
      aria-label="Settings of the path"
    >
      <fieldset>
        <legend>The path</legend>
        <Slider name="rate" label="Rate" unit="Mb/s" />
        <Slider name="rtt" label="Round-trip time" unit="ms" />
        <Slider name="queue" label="Queue" unit="packets" />
      </fieldset>
      <fieldset>
        <legend>What is late</legend>
        <Slider name="late" label="Share of the packets that is late" unit="%" />
        <Slider
          name="lateness"
          label="Late by, on the mean"
          unit="ms"
          disabled={settings.late === 0}
        />
        <label class="field">
          <span>Distribution of the lateness</span>
          <select
            value={settings.distribution}
            disabled={settings.late === 0}
            onChange={(event) =>
              change({ distribution: event.currentTarget.value as Distribution })
            }
          >
            {DISTRIBUTIONS.map((one) => (
              <option key={one} value={one}>
                {DISTRIBUTION_NAMES[one]}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Packets that take a longer path</span>
          <select
            value={String(settings.every)}
            onChange={(event) => change({ every: Number(event.currentTarget.value) })}
          >
            <option value="0">none</option>
            {[2, 3, 4, 5, 6, 7, 8, 9, 10].map((every) => (
              <option key={every} value={String(every)}>
                {every === 2 ? 'every second' : `one in ${every}`}
              </option>
            ))}
          </select>
        </label>
        <Slider
          name="extra"
          label="The longer path takes"
          unit="ms more"
          disabled={settings.every === 0}
        />
      </fieldset>
      <fieldset>
        <legend>What is lost</legend>
        <Slider name="loss" label="Share of the packets that is lost" unit="%" />
        <label class="field">
          <span>Replay window of a tunnel</span>
          <select
            value={String(settings.replay)}
            onChange={(event) => change({ replay: Number(event.currentTarget.value) })}
          >
            {!isReplayListed && (
              <option value={String(settings.replay)}>{settings.replay} packets</option>
            )}
            {REPLAY.map(([value, text]) => (
              <option key={value} value={String(value)}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </fieldset>
      <fieldset>
        <legend>At the far end</legend>
        <label class="check">
          <input
            type="checkbox"
            checked={settings.resequence}
            onChange={(event) => change({ resequence: event.currentTarget.checked })}
          />
          A resequencer restores the order
        </label>
      </fieldset>
      <fieldset>
        <legend>The simulation</legend>
        <Slider name="duration" label="Simulated time" unit="s" />
        <Slider name="seeds" label="Runs with other random numbers" unit="" />
      </fieldset>
    </form>
  );
}

function Slider(props: { name: NumericSetting; label: string; unit: string; disabled?: boolean }) {
  const { name, label, unit } = props;
  const range = RANGES[name];
  const value = play.value.settings[name];
  const id = `setting-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <span class="entry">
        <input
          type="number"
          min={range.low}
          max={range.high}
          step={range.step}
          value={value}
          disabled={props.disabled ?? false}
          aria-label={`${label}${unit ? `, ${unit}` : ''}`}
          onChange={(event) => {
            const entered = event.currentTarget.valueAsNumber;
            if (Number.isFinite(entered)) change({ [name]: clamp(entered, range) });
            else event.currentTarget.value = String(value);
          }}
        />
        <span class="unit">{unit}</span>
      </span>
      <input
        id={id}
        type="range"
        min={range.logarithmic ? 0 : range.low}
        max={range.logarithmic ? POSITIONS : range.high}
        step={range.logarithmic ? 1 : range.step}
        value={toPosition(value, range)}
        disabled={props.disabled ?? false}
        aria-valuetext={`${value} ${unit}`.trim()}
        onInput={(event) =>
          change({ [name]: fromPosition(Number(event.currentTarget.value), range) })
        }
      />
    </div>
  );
}
