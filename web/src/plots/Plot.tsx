/** A plot of uPlot: zoom by dragging, wheel and keys, values where the pointer or the cursor is, and a text beside it. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { dark, inks } from '../state/theme.ts';

export interface Line {
  label: string;
  colour: string;
  /** Time, value, time, value. */
  points: Float64Array;
  /** Whether the value holds until the next point. */
  step: boolean;
}

/** A point that keys can step to. */
export interface Stop {
  x: number;
  y: number;
  text: string;
}

export interface PlotProps {
  /** The title, which also names the plot. */
  title: string;
  xLabel: string;
  yLabel: string;
  x: [number, number];
  y: [number, number];
  lines?: readonly Line[];
  /** Returns the heights of what is drawn in a span of time. */
  follow?: (from: number, to: number) => [number, number];
  /** Draws what is no line. */
  paint?: (plot: uPlot) => void;
  /** Returns the values at a position. */
  read: (x: number, y: number, plot: uPlot) => string;
  /** The points that N and P step through, in the order of x. */
  stops?: readonly Stop[];
  /** What the plot shows, for those who do not see it. */
  summary: string;
  tall?: boolean;
}

export function Plot(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const readout = useSignal('');
  const stop = useRef(-1);

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const { lines = [], x } = latest.current;
    const made = new uPlot(
      options(element, latest, (text) => {
        readout.value = text;
      }),
      joined(lines, x),
      element,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width > 0) made.setSize({ width, height });
    });
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
      stop.current = -1;
    };
  }, [props.lines, props.paint, props.x[0], props.x[1], props.y[0], props.y[1], dark.value]);

  const zoom = (factor: number) => {
    const u = plot.current;
    if (!u) return;
    const { min = 0, max = 1 } = u.scales.x ?? {};
    const middle = ((min ?? 0) + (max ?? 1)) / 2;
    const half = (((max ?? 1) - (min ?? 0)) / 2) * factor;
    setX(u, middle - half, middle + half, latest.current);
  };
  const move = (share: number) => {
    const u = plot.current;
    if (!u) return;
    const { min, max } = u.scales.x as { min: number; max: number };
    const by = (max - min) * share;
    setX(u, min + by, max + by, latest.current);
  };
  const reset = () => {
    const u = plot.current;
    if (!u) return;
    u.setScale('x', { min: props.x[0], max: props.x[1] });
    u.setScale('y', { min: props.y[0], max: props.y[1] });
  };
  const go = (by: number) => {
    const u = plot.current;
    const stops = props.stops ?? [];
    if (!u || stops.length === 0) return;
    const { min, max } = u.scales.x as { min: number; max: number };
    if (stop.current < 0)
      stop.current =
        Math.max(
          0,
          stops.findIndex((one) => one.x >= min),
        ) - by;
    stop.current = Math.min(Math.max(stop.current + by, 0), stops.length - 1);
    const at = stops[stop.current] as Stop;
    if (at.x < min || at.x > max) setX(u, at.x - (max - min) / 2, at.x + (max - min) / 2, props);
    u.setCursor({ left: u.valToPos(at.x, 'x'), top: u.valToPos(at.y, 'y') }, false);
    readout.value = at.text;
  };
  const keys = (event: KeyboardEvent) => {
    const actions: Record<string, () => void> = {
      '+': () => zoom(0.5),
      '=': () => zoom(0.5),
      '-': () => zoom(2),
      ArrowLeft: () => move(-0.2),
      ArrowRight: () => move(0.2),
      Home: reset,
      n: () => go(1),
      p: () => go(-1),
    };
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };

  return (
    <figure class="plot">
      <figcaption>
        <strong>{props.title}</strong>
        <span class="tools">
          <button
            type="button"
            class="quiet"
            onClick={() => zoom(0.5)}
            aria-label={`Zoom in: ${props.title}`}
          >
            +
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => zoom(2)}
            aria-label={`Zoom out: ${props.title}`}
          >
            −
          </button>
          <button
            type="button"
            class="quiet"
            onClick={reset}
            aria-label={`Show all: ${props.title}`}
          >
            all
          </button>
        </span>
      </figcaption>
      {props.lines && props.lines.length > 0 && (
        <p class="key">
          {props.lines.map((line) => (
            <span key={line.label}>
              <i class="swatch" style={{ background: line.colour }} />
              {line.label}
            </span>
          ))}
        </p>
      )}
      <div
        ref={host}
        class={props.tall ? 'chart tall' : 'chart'}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys zoom and step, as the label says
        tabIndex={0}
        onKeyDown={keys}
        aria-label={`${props.title}. ${props.summary} Plus and minus zoom, arrows move, N and P step through the points, Home shows all.`}
      />
      <output class="readout" aria-live="polite">
        {readout.value || ' '}
      </output>
      <p class="hidden">{props.summary}</p>
    </figure>
  );
}

/** Sets the span of time, which stays within the whole. */
function setX(u: uPlot, low: number, high: number, props: PlotProps) {
  const whole = props.x;
  const length = Math.min(high - low, whole[1] - whole[0]);
  const min = Math.min(Math.max(low, whole[0]), whole[1] - length);
  u.setScale('x', { min, max: min + length });
  const y = props.follow?.(min, min + length);
  if (y) u.setScale('y', { min: y[0], max: y[1] });
}

function options(
  element: HTMLElement,
  latest: { current: PlotProps },
  show: (text: string) => void,
): uPlot.Options {
  const { lines = [], x, y, xLabel, yLabel, paint } = latest.current;
  const axis = (label: string, size: number): uPlot.Axis => ({
    label,
    labelSize: 18,
    size,
    stroke: inks.value.muted,
    grid: { stroke: inks.value.grid, width: 1 },
    ticks: { stroke: inks.value.grid, width: 1 },
    font: '12px system-ui, sans-serif',
    labelFont: '12px system-ui, sans-serif',
  });
  return {
    width: Math.max(element.clientWidth, 100),
    height: Math.max(element.clientHeight, 100),
    legend: { show: false },
    cursor: {
      drag: { x: true, y: paint !== undefined, uni: 30 },
      points: { show: paint === undefined },
      bind: {
        dblclick: (u) => () => {
          u.setScale('x', { min: x[0], max: x[1] });
          u.setScale('y', { min: y[0], max: y[1] });
          return null;
        },
      },
    },
    scales: {
      x: { time: false, range: (_u, low, high) => [low ?? x[0], high ?? x[1]] },
      // Lines keep their base; marks are shown as far as the reader zoomed.
      y: {
        range: (_u, low, high) =>
          paint
            ? [low ?? y[0], high ?? y[1]]
            : [y[0], high ? Math.max(high * 1.05, y[0] + 1e-9) : y[1]],
      },
    },
    axes: [axis(xLabel, 34), axis(yLabel, 60)],
    series: [
      {},
      ...lines.map(
        (line): uPlot.Series => ({
          label: line.label,
          stroke: line.colour,
          width: 1.6,
          points: { show: false },
          spanGaps: true,
          ...(line.step && uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
        }),
      ),
      ...(lines.length === 0
        ? [{ show: true, stroke: 'transparent', points: { show: false } }]
        : []),
    ],
    hooks: {
      draw: paint ? [(u) => paint(u)] : [],
      setCursor: [
        (u) => {
          const { left = -1, top = -1 } = u.cursor;
          if (left < 0 || top < 0) return;
          const text = latest.current.read(u.posToVal(left, 'x'), u.posToVal(top, 'y'), u);
          if (text) show(text);
        },
      ],
    },
  };
}

/** Joins the lines on one axis of time; a line has no value where another has a point. */
export function joined(lines: readonly Line[], x: [number, number]): uPlot.AlignedData {
  if (lines.length === 0) return [x, [null, null]];
  const times = [
    ...new Set(lines.flatMap((line) => [...line.points].filter((_, index) => index % 2 === 0))),
  ].sort((a, b) => a - b);
  const index = new Map(times.map((value, at) => [value, at]));
  const columns = lines.map((line) => {
    const column: (number | null)[] = new Array(times.length).fill(null);
    for (let i = 0; i + 1 < line.points.length; i += 2) {
      column[index.get(line.points[i] as number) as number] = line.points[i + 1] as number;
    }
    return column;
  });
  return [times, ...columns];
}
