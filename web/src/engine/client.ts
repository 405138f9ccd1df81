/** Workers as functions that return promises. */

import packed from 'virtual:engine';
import type { Calls, FromWorker, Name, ToWorker } from './protocol.ts';
import EngineWorker from './worker.ts?worker&inline';

/** A call that was cancelled. */
export class Cancelled extends Error {
  constructor() {
    super('cancelled');
  }
}

let module: Promise<WebAssembly.Module> | null = null;

/**
 * Returns the engine. Its code is part of the page's scripts, compressed: the page has no right to open a
 * connection (Content-Security-Policy, `connect-src 'none'`), neither to load nor to send anything.
 */
function compiled(): Promise<WebAssembly.Module> {
  module ??= (async () => {
    const text = atob(packed);
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  })();
  return module;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  progress(value: unknown): void;
}

export interface Running<T> {
  result: Promise<T>;
  cancel(): void;
}

/** One worker. */
export class Client {
  #worker = new EngineWorker();
  #ready: Promise<void>;
  #calls = new Map<number, Waiting>();
  #last = 0;
  #closed = false;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#receive(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#fail(new Error(event.message || 'the worker could not start'));
    };
    this.#ready = compiled().then((module) => {
      if (!this.#closed) this.#post({ kind: 'start', module });
    });
    this.#ready.catch((error: Error) => this.#fail(error));
  }

  /** Makes a call and returns its result. */
  call<N extends Name>(name: N, sent: Calls[N]['sent']): Promise<Calls[N]['result']> {
    return this.start(name, sent).result;
  }

  /** Makes a call that reports its progress and can be cancelled. */
  start<N extends Name>(
    name: N,
    sent: Calls[N]['sent'],
    progress: (value: Calls[N]['progress']) => void = () => {},
    transfer: Transferable[] = [],
  ): Running<Calls[N]['result']> {
    const id = ++this.#last;
    const result = new Promise<Calls[N]['result']>((resolve, reject) => {
      this.#calls.set(id, {
        resolve: resolve as (value: unknown) => void,
        reject,
        progress: progress as (value: unknown) => void,
      });
    });
    this.#ready.then(
      () => {
        if (this.#calls.has(id)) this.#post({ kind: 'call', id, name, sent }, transfer);
      },
      () => {},
    );
    const cancel = () => {
      const waiting = this.#calls.get(id);
      if (!waiting) return;
      this.#calls.delete(id);
      this.#post({ kind: 'cancel', id });
      waiting.reject(new Cancelled());
    };
    return { result, cancel };
  }

  /** Ends the worker, whatever it does. */
  close() {
    this.#closed = true;
    this.#worker.terminate();
    this.#fail(new Cancelled());
  }

  #post(message: ToWorker, transfer: Transferable[] = []) {
    this.#worker.postMessage(message, transfer);
  }

  #receive(message: FromWorker) {
    const waiting = this.#calls.get(message.id);
    if (!waiting) return;
    if (message.kind === 'progress') return waiting.progress(message.value);
    this.#calls.delete(message.id);
    if (message.kind === 'result') waiting.resolve(message.value);
    else waiting.reject(new Error(message.error));
  }

  #fail(error: Error) {
    for (const waiting of this.#calls.values()) waiting.reject(error);
    this.#calls.clear();
  }
}
