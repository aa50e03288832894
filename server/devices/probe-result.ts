import type { ProcedureOutput } from '../../shared/console/contract.ts'
import type { CameraSource } from '../../shared/device-address.ts'

/** Result of a probe. */
export type ProbeResult = ProcedureOutput<'devices.probe'>
export type ProbedTrack = ProbeResult['tracks'][number]
export type SubstreamFound = NonNullable<ProbeResult['second']>

/** Looks at a device without adding it; it ends when the signal aborts, and never rejects for the device's sake. */
export type DeviceProbe = (
  camera: CameraSource,
  signal: AbortSignal,
) => Promise<Omit<ProbeResult, 'milliseconds' | 'simulated' | 'second'>>
