/**
 * State of a finding. `good`: no problem. `attention`: a problem with advice. `unchecked`: the state cannot be
 * determined on this machine, or there is nothing to check.
 */
export const readinessStates = ['good', 'attention', 'unchecked'] as const
type ReadinessState = (typeof readinessStates)[number]

/** A kind of finding. Its sentences are in `texts/en/console/readinessFindings.json`. */
interface FindingKind {
  state: ReadinessState
  /** Names of the values in its sentences. */
  values: readonly string[]
}

/** Every finding of the readiness checks. */
export const readinessFindings = {
  portsReachable: { state: 'good', values: ['count', 'address'] },
  portsLocal: { state: 'good', values: ['count'] },
  portsDown: { state: 'attention', values: ['ports', 'reason'] },
  portsSilent: { state: 'attention', values: ['address', 'ports'] },
  portsNoNetwork: { state: 'attention', values: [] },
  phoneArrived: { state: 'good', values: ['client'] },
  phoneWaiting: { state: 'unchecked', values: [] },
  phoneLocal: { state: 'attention', values: [] },
  phoneNoNetwork: { state: 'attention', values: [] },
  phoneNoPage: { state: 'unchecked', values: [] },
  firewallNone: { state: 'good', values: [] },
  firewallPasses: { state: 'good', values: ['client'] },
  firewallAllows: { state: 'good', values: ['name'] },
  firewallLocal: { state: 'good', values: [] },
  firewallActive: { state: 'attention', values: ['name', 'ports'] },
  firewallBlocks: { state: 'attention', values: ['name'] },
  firewallUnknown: { state: 'unchecked', values: [] },
  encryptionOn: { state: 'good', values: [] },
  encryptionLocal: { state: 'good', values: [] },
  encryptionProxy: { state: 'good', values: ['url'] },
  encryptionOff: { state: 'attention', values: ['ports'] },
  ffmpegWhole: { state: 'good', values: ['version', 'encoder'] },
  ffmpegPart: { state: 'attention', values: ['version', 'missing'] },
  ffmpegMissing: { state: 'attention', values: [] },
  ffmpegBroken: { state: 'attention', values: ['reason'] },
  keyKeychain: { state: 'good', values: ['backend'] },
  keyFile: { state: 'good', values: [] },
  keyOpen: { state: 'attention', values: ['mode', 'file'] },
  keyPlain: { state: 'attention', values: ['backend'] },
  diskFast: { state: 'good', values: ['median_ms', 'worst_ms', 'count'] },
  diskSlow: { state: 'attention', values: ['median_ms', 'worst_ms', 'count'] },
  diskRefused: { state: 'attention', values: ['reason'] },
  spaceEnough: { state: 'good', values: ['free_bytes', 'total_bytes'] },
  spaceLow: { state: 'attention', values: ['free_bytes', 'total_bytes', 'folder'] },
  clockSynchronised: { state: 'good', values: [] },
  clockFree: { state: 'attention', values: ['command'] },
  clockUnknown: { state: 'unchecked', values: [] },
  cameraClocksAgree: { state: 'good', values: ['count'] },
  cameraClocksNone: { state: 'good', values: [] },
  cameraClocksDiffer: { state: 'attention', values: ['count', 'cameras'] },
  cameraClocksUnknown: { state: 'unchecked', values: [] },
  trayShown: { state: 'good', values: [] },
  trayMissing: { state: 'attention', values: [] },
  trayUnknown: { state: 'unchecked', values: [] },
  sandboxOn: { state: 'good', values: [] },
  sandboxOff: { state: 'attention', values: [] },
  wallsPlaced: { state: 'good', values: [] },
  wallsUnplaced: { state: 'attention', values: [] },
  powerAwake: { state: 'good', values: [] },
  powerBattery: { state: 'attention', values: [] },
  powerSleeps: { state: 'attention', values: [] },
  powerIdleSleeps: { state: 'attention', values: ['minutes'] },
  powerUnknown: { state: 'unchecked', values: [] },
  checkTimedOut: { state: 'unchecked', values: ['seconds'] },
  checkFailed: { state: 'unchecked', values: ['reason'] },
} as const satisfies Readonly<Record<string, FindingKind>>
export type FindingName = keyof typeof readinessFindings
