/** Three sentences on each path: what it is, and what to look for. */
export const WATCH: Record<string, readonly [string, string, string]> = {};
