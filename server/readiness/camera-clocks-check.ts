import { type Check, found } from './finding.ts'

/** Clock of a camera that has joined its room. */
export interface CameraClock {
  name: string
  /**
   * Milliseconds by which the camera's clock is ahead of this machine; undefined: the camera does not report its time.
   */
  aheadMs: number | undefined
}

/** Minimum difference that is reported, in milliseconds: reports are delayed on slow links. */
const toleratedMs = 5_000
/** Maximum number of cameras named in the result. */
const maxNamed = 5

/** Checks whether the clocks of cameras agree with the clock of this machine. */
export function cameraClocksCheck(read: (signal: AbortSignal) => Promise<readonly CameraClock[]>): Check {
  return async (signal) => {
    const clocks = await read(signal)
    if (clocks.length === 0) return found('cameraClocksNone')
    const told = clocks.flatMap(({ name, aheadMs }) => (aheadMs === undefined ? [] : [{ name, aheadMs }]))
    if (told.length === 0) return found('cameraClocksUnknown')
    const off = told
      .filter(({ aheadMs }) => Math.abs(aheadMs) > toleratedMs)
      .toSorted((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs))
    if (off.length === 0) return found('cameraClocksAgree', { count: told.length })
    const named = off.slice(0, maxNamed).map(({ name, aheadMs }) => `${name} ${difference(aheadMs)}`)
    return found('cameraClocksDiffer', {
      count: off.length,
      cameras: `${named.join(', ')}${off.length > maxNamed ? ', …' : ''}`,
    })
  }
}

/** Formats a difference with its sign in hours, minutes and seconds, e.g. `−0:03:05`, for all languages. */
function difference(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1_000)
  const two = (value: number): string => String(value).padStart(2, '0')
  const hours = Math.floor(seconds / 3_600)
  return `${ms < 0 ? '−' : '+'}${hours}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}
