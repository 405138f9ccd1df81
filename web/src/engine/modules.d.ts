/** The engine's package, which the build takes from `target/web-pkg`. */
declare module 'unruffled-engine' {
  const engine: import('./api.ts').Engine;
  export const initSync: typeof engine.initSync;
  export const version: typeof engine.version;
  export const senders: typeof engine.senders;
  export const check_sender: typeof engine.check_sender;
  export const presets: typeof engine.presets;
  export const scenario_toml: typeof engine.scenario_toml;
  export const settings_of: typeof engine.settings_of;
  export const check: typeof engine.check;
  export const Comparison: typeof engine.Comparison;
  export const Recording: typeof engine.Recording;
  export const Capture: typeof engine.Capture;
}

/** The engine's WebAssembly: gzip, base64. */
declare module 'virtual:engine' {
  const packed: string;
  export default packed;
}
