/** The charts of a captured transfer. */

import { useMemo } from 'preact/hooks';
import type { CapturePlots } from '../engine/api.ts';
import { valueAt } from '../path/scene.ts';
import { type Line, Plot } from '../plots/Plot.tsx';
import { SequencePlot } from '../plots/SequencePlot.tsx';
import { KINDS, type Sequence } from '../plots/sequence.ts';
import { dark, inks } from '../state/theme.ts';
import { digits, octets } from '../units.ts';

export function CaptureCharts({ plots }: { plots: CapturePlots }) {
  const sequence = useMemo(
    () =>
      Object.fromEntries(
        KINDS.map((kind) => [
          kind,
          { time: plots.sequence[kind].time_s, place: plots.sequence[kind].octet },
        ]),
      ) as Sequence,
    [plots],
  );
  return (
    <>
      <SequencePlot
        title="Sequence over time"
        sequence={sequence}
        unit="octets"
        place={(value) => `at ${octets(Math.round(value))}`}
      />
      <div class="pair">
        <RoundTrips plots={plots} />
        {plots.lateness && <Lateness lateness={plots.lateness} />}
      </div>
    </>
  );
}

function RoundTrips({ plots }: { plots: CapturePlots }) {
  const { rtt } = plots;
  const lines = useMemo(() => {
    const line = (label: string, values: Float64Array, colour: string): Line => {
      const points = new Float64Array(values.length * 2);
      values.forEach((value, at) => {
        points[2 * at] = rtt.time_s[at] ?? 0;
        points[2 * at + 1] = value;
      });
      return { label, colour, points, step: false };
    };
    return [
      line('greatest', rtt.max_ms, inks.value.late),
      line('mean', rtt.mean_ms, inks.value.accent),
      line('least', rtt.min_ms, inks.value.muted),
    ];
  }, [rtt, dark.value]);
  if (rtt.time_s.length < 2) return null;
  const end = rtt.time_s.at(-1) ?? 1;
  const most = rtt.max_ms.reduce((a, b) => Math.max(a, b), 0);
  const least = rtt.min_ms.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const values = (time: number) =>
    lines.map((line) => `${line.label} ${digits(valueAt(line.points, time) ?? 0)}`).join(', ');
  return (
    <Plot
      title="Round-trip times"
      xLabel="time (s)"
      yLabel="ms"
      x={[rtt.time_s[0] ?? 0, end]}
      y={[0, most * 1.05]}
      lines={lines}
      read={(time) => `${time.toFixed(2)} s: ${values(time)} ms`}
      stops={[...rtt.time_s].map((x, at) => ({
        x,
        y: rtt.mean_ms[at] ?? 0,
        text: `${x.toFixed(2)} s: ${values(x)} ms`,
      }))}
      summary={`${digits(least)} to ${digits(most)} ms.`}
    />
  );
}

function Lateness({ lateness }: { lateness: NonNullable<CapturePlots['lateness']> }) {
  const most = lateness.packets.reduce((a, b) => Math.max(a, b), 1);
  return (
    <figure class="plot">
      <figcaption>
        <strong>How late packets were</strong>
      </figcaption>
      <table class="histogram">
        <thead>
          <tr>
            <th scope="col">from</th>
            <th scope="col">packets</th>
          </tr>
        </thead>
        <tbody>
          {[...lateness.from_ms].map((from, at) => {
            const packets = lateness.packets[at] ?? 0;
            return (
              <tr key={from}>
                <th scope="row">{digits(from)} ms</th>
                <td>
                  <i style={{ width: `${(packets / most) * 100}%` }} />
                  <span>{packets}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </figure>
  );
}
