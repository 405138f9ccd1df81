import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const here = import.meta.dirname;
const target = resolve(here, process.env.CARGO_TARGET_DIR ?? '../target');
/** Where `make web` puts the engine's package. */
const engine = resolve(here, process.env.UNRUFFLED_WEB_PKG ?? `${target}/web-pkg`);
/** Where the page goes. */
const out = resolve(here, process.env.UNRUFFLED_WEB_OUT ?? `${target}/web`);

/** Makes the engine's package part of the scripts: its code as gzip in base64, and its functions. */
function packed(): Plugin {
  return {
    name: 'unruffled-engine',
    enforce: 'pre',
    resolveId(id) {
      if (id === 'virtual:engine') return '\0virtual:engine';
      if (id === 'unruffled-engine') return `${engine}/unruffled_web.js`;
      return null;
    },
    load(id) {
      if (id !== '\0virtual:engine') return null;
      const file = `${engine}/unruffled_web_bg.wasm`;
      if (!existsSync(file)) this.error(`${file}: not there; run \`make web\` at the root`);
      const code = gzipSync(readFileSync(file), { level: 9 }).toString('base64');
      return `export default ${JSON.stringify(code)}`;
    },
    transform(code, id) {
      if (!id.startsWith(engine) || !id.endsWith('.js')) return null;
      // The package would load its file by itself; the page hands it over.
      return code.replace(
        /new URL\(['"]unruffled_web_bg\.wasm['"], import\.meta\.url\)/,
        'undefined',
      );
    },
  };
}

/** Lets the development server reload the page; the built page keeps its policy. */
function development(): Plugin {
  return {
    name: 'unruffled-development',
    apply: 'serve',
    transformIndexHtml: (html) =>
      html.replace(/<meta\s+http-equiv="Content-Security-Policy"[^>]*>/, ''),
  };
}

export default defineConfig({
  base: './',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir: out,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
  },
  worker: { format: 'iife', plugins: () => [packed()] },
  plugins: [packed(), development()],
});
