/** A time–sequence plot: what was sent, what of it was late or resent, and what was acknowledged. */

import { useMemo } from 'preact/hooks';
import type uPlot from 'uplot';
import type { SequenceKind } from '../engine/api.ts';
import { drawPacket } from '../path/draw.ts';
import type { Kind } from '../path/trace.ts';
import { dark, inks } from '../state/theme.ts';
import { Plot, type Stop } from './Plot.tsx';
import { extent, KINDS, NAMES, nearest, type Sequence, thinned } from './sequence.ts';

/** More dots than these are thinned. */
const MOST_DOTS = 6000;
const SHAPES: Record<Exclude<SequenceKind, 'acknowledged'>, Kind> = {
  new: 'ordered',
  late: 'late',
  resent: 'resent',
  spurious: 'spurious',
};

export function SequencePlot(props: {
  title: string;
  sequence: Sequence;
  /** The unit of the place, "segment". */
  unit: string;
  place: (value: number) => string;
}) {
  const { sequence, unit } = props;
  const x = useMemo(() => extent(sequence, 'time'), [sequence]);
  const y = useMemo(() => extent(sequence, 'place'), [sequence]);
  const paint = useMemo(() => (plot: uPlot) => draw(plot, sequence), [sequence, dark.value]);
  const stops = useMemo(() => stopsOf(sequence, props.place), [sequence]);
  const text = (kind: SequenceKind, time: number, place: number) =>
    `${NAMES[kind]} ${props.place(place)}, ${time.toFixed(4)} s`;
  const count = (kind: SequenceKind) => sequence[kind].time.length;
  const summary =
    `${x[0].toFixed(2)} to ${x[1].toFixed(2)} s: ${count('new') + count('late')} segments sent, ` +
    `${count('late')} of them late; ${count('resent') + count('spurious')} retransmissions, ` +
    `${count('spurious')} of them spurious.`;
  return (
    <div>
      <Plot
        title={props.title}
        xLabel="time (s)"
        yLabel={unit}
        x={x}
        y={y}
        paint={paint}
        follow={(from, to) => extent(sequence, 'place', [from, to])}
        read={(_time, _place, plot) => {
          const { left = 0, top = 0 } = plot.cursor;
          const found = nearest(
            sequence,
            (time, place) =>
              Math.hypot(plot.valToPos(time, 'x') - left, plot.valToPos(place, 'y') - top),
            24,
          );
          return found ? text(found.kind, found.time, found.place) : '';
        }}
        stops={stops}
        summary={summary}
        tall
      />
      <ul class="legend" aria-label="Marks">
        <Mark name="new data">
          <rect x="5" y="5" width="6" height="6" fill="var(--accent)" />
        </Mark>
        <Mark name="late">
          <circle
            cx="8"
            cy="8"
            r="4.4"
            fill="var(--amber)"
            stroke="var(--text)"
            stroke-width="1.6"
          />
        </Mark>
        <Mark name="retransmission">
          <path d="M8 2 14 13H2Z" fill="var(--text)" />
        </Mark>
        <Mark name="spurious retransmission">
          <path d="M8 1.6 14.4 8 8 14.4 1.6 8Z" fill="var(--alert)" />
        </Mark>
        <Mark name="acknowledged">
          <path d="M0 12H8V4H16" fill="none" stroke="var(--muted)" stroke-width="1.5" />
        </Mark>
      </ul>
    </div>
  );
}

function Mark(props: { name: string; children: preact.ComponentChildren }) {
  return (
    <li>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        {props.children}
      </svg>
      {props.name}
    </li>
  );
}

function draw(plot: uPlot, sequence: Sequence) {
  const { ctx: context, bbox } = plot;
  const ratio = devicePixelRatio || 1;
  const { min: x0 = 0, max: x1 = 1 } = plot.scales.x ?? {};
  const { min: y0 = 0, max: y1 = 1 } = plot.scales.y ?? {};
  const view = { x: [x0 ?? 0, x1 ?? 1], y: [y0 ?? 0, y1 ?? 1] } as {
    x: [number, number];
    y: [number, number];
  };
  context.save();
  context.beginPath();
  context.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  context.clip();
  drawAcknowledged(plot, sequence, ratio);
  for (const kind of KINDS) {
    if (kind === 'acknowledged') continue;
    const dots = sequence[kind];
    const drawn = thinned(dots, view, MOST_DOTS);
    const size = (kind === 'new' ? 3 : drawn.length > 120 ? 4.5 : 7) * ratio;
    for (const i of drawn) {
      const px = plot.valToPos(dots.time[i] ?? 0, 'x', true);
      const py = plot.valToPos(dots.place[i] ?? 0, 'y', true);
      drawPacket(context, SHAPES[kind], px, py, size, inks.value);
    }
  }
  context.restore();
}

function drawAcknowledged(plot: uPlot, sequence: Sequence, ratio: number) {
  const { ctx: context } = plot;
  const { time, place } = sequence.acknowledged;
  context.strokeStyle = inks.value.muted;
  context.lineWidth = ratio;
  context.beginPath();
  let last = Number.NaN;
  for (let i = 0; i < time.length; i++) {
    const x = plot.valToPos(time[i] ?? 0, 'x', true);
    const y = plot.valToPos(place[i] ?? 0, 'y', true);
    if (Number.isNaN(last)) context.moveTo(x, y);
    else {
      context.lineTo(x, last);
      context.lineTo(x, y);
    }
    last = y;
  }
  context.stroke();
}

/** Keys step through what is out of the ordinary, or through all where nothing is. */
function stopsOf(sequence: Sequence, place: (value: number) => string): Stop[] {
  const unusual = (['late', 'resent', 'spurious'] as const).filter(
    (kind) => sequence[kind].time.length > 0,
  );
  const kinds = unusual.length > 0 ? unusual : (['new'] as const);
  const stops: Stop[] = [];
  for (const kind of kinds) {
    const dots = sequence[kind];
    for (let i = 0; i < dots.time.length; i++) {
      const x = dots.time[i] ?? 0;
      const y = dots.place[i] ?? 0;
      stops.push({ x, y, text: `${NAMES[kind]} ${place(y)}, ${x.toFixed(4)} s` });
    }
  }
  return stops.sort((a, b) => a.x - b.x);
}
