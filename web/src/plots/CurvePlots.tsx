/** Curves of the two senders that are drawn: the window, and a threshold or another curve. */

import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Recorded } from '../engine/protocol.ts';
import { valueAt } from '../path/scene.ts';
import { play, recorded } from '../state/store.ts';
import { dark } from '../state/theme.ts';
import { digits } from '../units.ts';
import { colourOf } from './look.ts';
import { type Line, Plot } from './Plot.tsx';

interface Choice {
  name: string;
  label: string;
  unit: string;
}

export function CurvePlots() {
  const runs = recorded.value;
  const wanted = useSignal('');
  const choices = choicesOf(runs);
  const second =
    choices.find((one) => one.name === wanted.value) ??
    ['dupthresh', 'patience', 'srtt'].flatMap((name) =>
      choices.filter((one) => one.name === name),
    )[0];
  return (
    <div class="pair">
      <CurvePlot choice={{ name: 'cwnd', label: 'Congestion window', unit: 'segments' }} />
      <div>
        {second && <CurvePlot choice={second} />}
        <label class="inline">
          Curve
          <select
            value={second?.name ?? ''}
            onChange={(event) => {
              wanted.value = event.currentTarget.value;
            }}
          >
            {choices
              .filter((one) => one.name !== 'cwnd')
              .map((one) => (
                <option key={one.name} value={one.name}>
                  {one.label}
                </option>
              ))}
          </select>
        </label>
      </div>
    </div>
  );
}

/** Returns the curves that one of the runs has. */
function choicesOf(runs: readonly (Recorded | null)[]): Choice[] {
  const result = new Map<string, Choice>();
  for (const run of runs) {
    for (const { name, label, unit, points } of run?.curves ?? []) {
      if (points.length > 0 && !result.has(name)) result.set(name, { name, label, unit });
    }
  }
  return [...result.values()];
}

function CurvePlot({ choice }: { choice: Choice }) {
  const runs = recorded.value;
  const { shown } = play.value;
  const lines = useMemo(
    () =>
      runs.flatMap((run, lane): Line[] => {
        const curve = run?.curves.find((one) => one.name === choice.name);
        if (!curve || curve.points.length === 0) return [];
        const sender = shown[lane] as string;
        const colour = colourOf(sender, dark.value);
        return [{ label: sender, colour, points: curve.points, step: curve.step }];
      }),
    [runs, shown, choice.name, dark.value],
  );
  const end = Math.max(...runs.map((run) => run?.facts.duration_s ?? 0), 1e-6);
  const most = Math.max(...lines.map((line) => greatest(line.points)), 0);
  const last = Math.max(...lines.map((line) => line.points.at(-2) ?? 0), 0);
  const value = (line: Line, time: number) => {
    const at = valueAt(line.points, time);
    return at === null ? '' : `${line.label} ${digits(at)}`;
  };
  return (
    <Plot
      title={choice.label}
      xLabel="time (s)"
      yLabel={choice.unit}
      x={[0, Math.min(end, Math.max(last, 1e-6))]}
      y={[0, most > 0 ? most * 1.05 : 1]}
      lines={lines}
      read={(time) =>
        `${time.toFixed(2)} s: ${lines
          .map((line) => value(line, time))
          .filter(Boolean)
          .join(', ')} ${choice.unit}`
      }
      stops={(lines[0] ? stops(lines[0].points) : []).map(([x, y]) => ({
        x,
        y,
        text: `${x.toFixed(2)} s: ${lines
          .map((line) => value(line, x))
          .filter(Boolean)
          .join(', ')} ${choice.unit}`,
      }))}
      summary={
        lines.length === 0
          ? 'None of the two senders has it.'
          : lines
              .map(
                (line) =>
                  `${line.label}: ${digits(mean(line.points))} ${choice.unit} on the mean, ${digits(greatest(line.points))} at most.`,
              )
              .join(' ')
      }
    />
  );
}

function stops(points: Float64Array): [number, number][] {
  const result: [number, number][] = [];
  const every = Math.max(1, Math.floor(points.length / 2 / 60));
  for (let i = 0; i + 1 < points.length; i += 2 * every) {
    result.push([points[i] ?? 0, points[i + 1] ?? 0]);
  }
  return result;
}

function greatest(points: Float64Array): number {
  let result = 0;
  for (let i = 1; i < points.length; i += 2) result = Math.max(result, points[i] ?? 0);
  return result;
}

/** Returns the mean over time of a curve whose values hold until the next. */
export function mean(points: Float64Array): number {
  let [sum, time] = [0, 0];
  for (let i = 0; i + 3 < points.length; i += 2) {
    const length = (points[i + 2] ?? 0) - (points[i] ?? 0);
    sum += length * (points[i + 1] ?? 0);
    time += length;
  }
  return time > 0 ? sum / time : (points[1] ?? 0);
}
