import type { CameraSource } from '../../shared/device-address.ts'
import type { DeviceProbe, ProbeResult } from './probe-result.ts'
import { findSubstream } from './substream-search.ts'

/** Time for the search for a smaller stream, in milliseconds. */
const substreamMs = 3_000

/** Answer of a site without a node that can probe real devices. */
export const simulatedProbe: ProbeResult = {
  ok: true,
  kind: null,
  message: 'Simulated: this site has no node that looks at real devices, so nothing was checked but the address.',
  detail: '',
  milliseconds: 0,
  tracks: [],
  second: null,
  simulated: true,
}

/**
 * Runs a probe with a deadline in milliseconds.
 * @param wantsSecond whether to search for a smaller stream of a device that can join
 */
export async function runProbe(
  probe: DeviceProbe,
  camera: CameraSource,
  milliseconds: number,
  wantsSecond: boolean,
): Promise<ProbeResult> {
  const started = performance.now()
  const took = (): number => Math.round(performance.now() - started)
  try {
    const found = await probe(camera, AbortSignal.timeout(milliseconds))
    const answered = { ...found, milliseconds: took(), simulated: false }
    if (!found.ok || !wantsSecond) return { ...answered, second: null }
    const signal = AbortSignal.timeout(substreamMs)
    return { ...answered, second: await findSubstream(probe, camera, found.tracks, signal) }
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'TimeoutError') throw error
    const message = 'The device did not answer in time.'
    return {
      ok: false,
      kind: 'timeout',
      message,
      detail: '',
      milliseconds: took(),
      tracks: [],
      second: null,
      simulated: false,
    }
  }
}
