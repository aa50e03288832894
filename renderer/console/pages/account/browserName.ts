const browsers: readonly (readonly [string, RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?Chrom(?:e|ium)\/|\bCriOS\//],
  ['Safari', /\bSafari\//],
]
const systems: readonly (readonly [string, RegExp])[] = [
  ['Windows', /\bWindows\b/],
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad|iPod)\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
]

/** Returns the names of a browser and its system from a User-Agent; an unknown one is returned unchanged. */
export function browserName(agent: string): string {
  const browser = browsers.find(([, pattern]) => pattern.test(agent))?.[0]
  if (browser === undefined) return agent
  const system = systems.find(([, pattern]) => pattern.test(agent))?.[0]
  return system === undefined ? browser : `${browser} · ${system}`
}
