import { z } from 'zod'

const factors = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const
const maxMs = 24 * factors.h

/** Reads a duration such as `10s`, `1.5m` or `200ms` as milliseconds, at most a day. */
export const duration = z
  .string()
  .regex(/^\d{1,7}(\.\d{1,3})?(ms|s|m|h)$/, 'must be a duration such as 10s, 1.5m or 200ms')
  .transform(durationMs)
  .pipe(z.number().max(maxMs, 'must be at most 24h'))

function durationMs(text: string): number {
  const unit = text.endsWith('ms') ? 'ms' : (text.at(-1) as 's' | 'm' | 'h')
  return Math.round(Number.parseFloat(text) * factors[unit])
}

/** Returns milliseconds as `40 ms`, `12.5 s`, `2 min 5 s` or `8 h 30 min`, without parts that are 0. */
export function shownDuration(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.round(milliseconds)} ms`
  if (milliseconds < factors.m) return `${Number((milliseconds / factors.s).toFixed(1))} s`
  const seconds = Math.round(milliseconds / factors.s)
  const parts = [
    [Math.floor(seconds / 3_600), 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  return parts.flatMap(([number, unit]) => (number === 0 ? [] : [`${number} ${unit}`])).join(' ')
}
