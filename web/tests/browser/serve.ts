/** Serves the built page below a sub-path, as any file server would, for the tests of a browser. */

import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

export const PREFIX = '/some/folder/';

export function folder(): string {
  const target = process.env.CARGO_TARGET_DIR ?? '../target';
  return resolve(import.meta.dirname, '../..', process.env.UNRUFFLED_WEB_OUT ?? `${target}/web`);
}

export async function serve(): Promise<{ url: string; close(): Promise<void> }> {
  const root = folder();
  if (!existsSync(join(root, 'index.html'))) {
    throw new Error(`${root}: no page there; npm run build makes it`);
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname);
    const inside = normalize(path.slice(PREFIX.length) || 'index.html');
    const file = join(root, inside);
    if (!path.startsWith(PREFIX) || inside.startsWith('..') || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'content-length': statSync(file).size });
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${PREFIX}`,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

export default async function setup(project: TestProject) {
  const server = await serve();
  project.provide('url', server.url);
  return server.close;
}

declare module 'vitest' {
  export interface ProvidedContext {
    url: string;
  }
}
