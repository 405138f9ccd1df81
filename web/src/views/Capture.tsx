/** A capture, analysed in the browser: it leaves neither the page nor the machine. */

import { batch, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { CapturePath, CapturePlots, CaptureTransfer } from '../engine/api.ts';
import { Cancelled, Client } from '../engine/client.ts';
import type { CaptureRead } from '../engine/protocol.ts';
import { open } from '../state/store.ts';
import { START } from '../state/url.ts';
import { octets, percent, rate, time } from '../units.ts';
import { CaptureCharts } from './CaptureCharts.tsx';

interface Opened {
  name: string;
  read: CaptureRead;
  plots: Map<number, CapturePlots | null>;
}

const opened = signal<Opened | null>(null);
/** What is under way, and how far; `null`: nothing. */
const working = signal<{ what: string; fraction: number | null } | null>(null);
const problem = signal('');
const path = signal<{ number: number; found: CapturePath } | null>(null);

let client: Client | null = null;

/** The transfers whose charts are drawn; the others are in the list. */
const MOST_CHARTS = 4;
/** What a browser can hold in memory beside what is computed from it. */
const MOST_BYTES = 1_500_000_000;

async function read(file: File) {
  stop();
  batch(() => {
    opened.value = null;
    path.value = null;
    problem.value = '';
    working.value = { what: `reading ${file.name}`, fraction: 0 };
  });
  if (file.size > MOST_BYTES) {
    return fail(new Error(`${file.name}: too large for a browser; use unruffled analyze`));
  }
  const mine = new Client();
  client = mine;
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const running = mine.start(
      'capture',
      { name: file.name, bytes },
      (fraction) => {
        working.value = { what: `reading ${file.name}`, fraction };
      },
      [bytes.buffer],
    );
    const result = await running.result;
    const plots = new Map<number, CapturePlots | null>();
    for (const { number } of result.transfers.slice(0, MOST_CHARTS)) {
      plots.set(number, await mine.call('capturePlots', number));
    }
    opened.value = { name: file.name, read: result, plots };
    working.value = { what: 'simulating what reordering costs', fraction: null };
    const priced = await mine.call('price', 0);
    opened.value = { name: file.name, read: priced, plots };
    working.value = null;
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown) {
  if (error instanceof Cancelled) return;
  batch(() => {
    problem.value = error instanceof Error ? error.message : String(error);
    working.value = null;
  });
}

function stop() {
  client?.close();
  client = null;
  working.value = null;
}

async function playPath(number: number) {
  if (!client) return;
  working.value = { what: 'fitting a path to the transfer', fraction: null };
  try {
    const found = await client.call('capturePath', number);
    working.value = null;
    if (!found.ok) return fail(new Error(found.error));
    path.value = { number, found: found.value };
  } catch (error) {
    fail(error);
  }
}

export function Capture() {
  const input = useRef<HTMLInputElement>(null);
  const state = opened.value;
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) read(file);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, []);
  return (
    <div class="capture">
      <h1>Does reordering slow your traffic?</h1>
      <p class="lead">
        Open a capture of a slow transfer. It is analysed in this browser and goes nowhere: the page
        may not open a connection, and the browser enforces that.
      </p>
      <div class="drop">
        <p>Drop a capture here: pcap, pcapng, snoop or ERF, compressed or not.</p>
        <label class="file">
          <span>or choose a file</span>
          <input
            ref={input}
            type="file"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) read(file);
            }}
          />
        </label>
        <p class="caption">
          <code>sudo tcpdump -U -i any -s 128 -w slow.pcap tcp</code> records one; Ctrl-C ends it.
        </p>
      </div>
      <p role="status" class="note">
        {working.value && (
          <>
            {working.value.what}
            {working.value.fraction !== null && `, ${Math.round(working.value.fraction * 100)} %`} …{' '}
            <button type="button" class="quiet" onClick={stop}>
              Stop
            </button>
          </>
        )}
      </p>
      {problem.value && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {state && <Result state={state} />}
    </div>
  );
}

function Result({ state }: { state: Opened }) {
  const { transfers, text, result } = state.read;
  return (
    <>
      <h2>{state.name}</h2>
      {result.damage && <p class="caption">{result.damage}</p>}
      {transfers.length === 0 && <p>No TCP transfer of any size is in it.</p>}
      {transfers.map((transfer) => (
        <Transfer
          key={transfer.number}
          transfer={transfer}
          plots={state.plots.get(transfer.number) ?? null}
        />
      ))}
      <details>
        <summary>What the command prints</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by keys */}
        <pre tabIndex={0}>{text}</pre>
      </details>
    </>
  );
}

function Transfer({ transfer, plots }: { transfer: CaptureTransfer; plots: CapturePlots | null }) {
  const found = path.value?.number === transfer.number ? path.value.found : null;
  return (
    <section class="transfer" data-cause={transfer.cause}>
      <h3>
        {transfer.number} · {transfer.from} → {transfer.to}
      </h3>
      <p class="finding">{transfer.verdict}</p>
      <p class="caption">
        {octets(transfer.payload_bytes)} in {time(transfer.duration_s)},{' '}
        {rate(transfer.goodput_bps)}; {percent(transfer.late_share)} of the segments late,{' '}
        {percent(transfer.loss_share)} lost. {transfer.place}
      </p>
      {transfer.cost && <p>{transfer.cost}</p>}
      {transfer.remedy && <p>{transfer.remedy}</p>}
      {transfer.playable && (
        <p class="buttons">
          <button
            type="button"
            class="primary"
            disabled={working.value !== null}
            onClick={() => playPath(transfer.number)}
          >
            Play this path
          </button>
        </p>
      )}
      {found && <Found found={found} />}
      {plots && <CaptureCharts plots={plots} />}
    </section>
  );
}

function Found({ found }: { found: CapturePath }) {
  const go = (text: string) =>
    open({ ...START, source: { kind: 'toml', text }, senders: withOwn(found.sender) });
  return (
    <div class="found">
      <p>
        The capture has {rate(found.observed_bps)}; on the fitted path <b>{found.sender}</b>{' '}
        delivers {rate(found.delivers_bps)}.
      </p>
      {found.notes.length > 0 && (
        <ul>
          {found.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <p class="buttons">
        <button type="button" class="primary" onClick={() => go(found.toml)}>
          Open it in the playground
        </button>
        {found.other && (
          <button type="button" onClick={() => go(found.other?.toml ?? found.toml)}>
            Open the other reading
          </button>
        )}
      </p>
      {found.other && <p class="caption">{found.other.note}</p>}
    </div>
  );
}

function withOwn(sender: string): string[] {
  return [...new Set([sender, ...START.senders])];
}
