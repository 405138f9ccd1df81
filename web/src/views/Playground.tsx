/** The playground: the path, the bars, the settings, the plots, and the scenario as a file. */

import { useMemo } from 'preact/hooks';
import { PathView } from '../path/PathView.tsx';
import { CurvePlots } from '../plots/CurvePlots.tsx';
import { SequencePlot } from '../plots/SequencePlot.tsx';
import { sequenceOf } from '../plots/sequence.ts';
import { facts, play, recorded } from '../state/store.ts';
import { Bars, Finding } from './Bars.tsx';
import { Paths, Watch } from './Paths.tsx';
import { Scenario } from './Scenario.tsx';
import { Senders } from './Senders.tsx';
import { Sliders } from './Sliders.tsx';
import { Tables } from './Tables.tsx';

export function Playground() {
  return (
    <>
      <div class="intro">
        <h1>Late is not lost.</h1>
        <p>
          TCP takes a packet that others overtake for a lost one, sends it again and slows down.
          Change the path, and see which senders tell <em>late</em> from <em>lost</em>.
        </p>
      </div>
      <Paths />
      <div class="play">
        <div class="stage">
          <Finding />
          <PathView />
          <Bars />
        </div>
        <aside class="settings" aria-label="Settings">
          <Watch />
          <OwnPath />
          <Senders />
        </aside>
      </div>
      <Plots />
      <Scenario />
      <Tables />
    </>
  );
}

/** The sliders, or what runs in their place. */
function OwnPath() {
  const { source } = play.value;
  if (source.kind === 'sliders') return <Sliders />;
  const rows = facts.value?.facts ?? [];
  return (
    <section class="facts" aria-labelledby="facts-title">
      <h2 id="facts-title">{source.kind === 'path' ? 'In figures' : 'Your scenario'}</h2>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="note">
        It has more than the sliders express. Every key is in the{' '}
        <button type="button" class="link" onClick={jump}>
          scenario
        </button>{' '}
        below, where it can be changed.
      </p>
    </section>
  );
}

function jump() {
  const area = document.querySelector<HTMLTextAreaElement>('.scenario textarea');
  area?.scrollIntoView({ block: 'center' });
  area?.focus({ preventScroll: true });
}

function Plots() {
  return (
    <section aria-labelledby="plots-title">
      <h2 id="plots-title">The two senders over time</h2>
      <p class="caption">
        Drag or press + and − to zoom. Rest the pointer on a plot, or step with N and P, to see
        values.
      </p>
      <CurvePlots />
      <div class="pair">
        <SequenceOf lane={0} />
        <SequenceOf lane={1} />
      </div>
    </section>
  );
}

function SequenceOf({ lane }: { lane: 0 | 1 }) {
  const run = recorded.value[lane];
  const sequence = useMemo(
    () => (run ? sequenceOf(run.events, run.packets, run.facts.mss) : null),
    [run?.events, run?.packets],
  );
  if (!sequence) return null;
  return (
    <SequencePlot
      title={`Segments of ${play.value.shown[lane]}`}
      sequence={sequence}
      unit="segment"
      place={(value) => `segment ${Math.round(value)}`}
    />
  );
}
