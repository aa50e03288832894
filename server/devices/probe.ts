import type { ProcedureOutput } from '../../shared/console/contract.ts'
import type { DeviceLogin } from '../../shared/device-address.ts'

/** What a probe found out. */
export type ProbeResult = ProcedureOutput<'devices.probe'>

/** Looks at a device without adding it; it ends when the signal aborts, and never rejects for the device's sake. */
export type DeviceProbe = (
  device: { address: string; login: DeviceLogin | undefined },
  signal: AbortSignal,
) => Promise<Omit<ProbeResult, 'milliseconds' | 'simulated'>>

/** What a site answers that has no node which could look at real devices. */
export const simulatedProbe: ProbeResult = {
  ok: true,
  kind: null,
  message: 'Simulated: this site has no node that looks at real devices, so nothing was checked but the address.',
  milliseconds: 0,
  tracks: [],
  simulated: true,
}

/** Runs a probe with a deadline in milliseconds. */
export async function runProbe(
  probe: DeviceProbe,
  device: { address: string; login: DeviceLogin | undefined },
  milliseconds: number,
): Promise<ProbeResult> {
  const started = performance.now()
  const took = (): number => Math.round(performance.now() - started)
  try {
    const found = await probe(device, AbortSignal.timeout(milliseconds))
    return { ...found, milliseconds: took(), simulated: false }
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'TimeoutError') throw error
    const message = 'The device did not answer in time.'
    return { ok: false, kind: 'timeout', message, milliseconds: took(), tracks: [], simulated: false }
  }
}
