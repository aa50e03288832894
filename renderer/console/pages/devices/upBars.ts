import type { CameraSpan } from '../../../../shared/domain/camera-record.ts'
import type { DeviceErrorKind } from '../../../../shared/device.ts'

/** State of a camera during a day or an hour. */
export interface UpBar {
  from: number
  to: number
  /** Milliseconds in each state. */
  up: number
  down: number
  paused: number
  /** Reasons of interruptions, the longest first. */
  reasons: readonly { kind: DeviceErrorKind | null; length: number }[]
}

/** Divides the time until `end` into bars of equal length, oldest first. */
export function upBars(spans: readonly CameraSpan[], end: number, count: number, length: number): UpBar[] {
  return Array.from({ length: count }, (_, index) => {
    const to = end - (count - 1 - index) * length
    return barOf(spans, to - length, to)
  })
}

function barOf(spans: readonly CameraSpan[], from: number, to: number): UpBar {
  const times = { up: 0, down: 0, paused: 0, unknown: 0 }
  const reasons = new Map<DeviceErrorKind | null, number>()
  for (const span of spans) {
    const length = Math.min(span.to, to) - Math.max(span.from, from)
    if (length <= 0) continue
    times[span.state] += length
    if (span.state === 'down') reasons.set(span.kind, (reasons.get(span.kind) ?? 0) + length)
  }
  const longest = Array.from(reasons, ([kind, length]) => ({ kind, length })).sort((a, b) => b.length - a.length)
  return { from, to, up: times.up, down: times.down, paused: times.paused, reasons: longest }
}
