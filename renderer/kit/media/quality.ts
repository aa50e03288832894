import type { ConnectionRates } from './connection-reading.ts'

/** Quality of a connection; `unknown` before the first two readings. */
export type Quality = 'unknown' | 'good' | 'fair' | 'poor'

/** Values above which users notice (ITU-T G.114 for delay; losses that repair no longer hides). */
const fair = { loss: 0.02, roundTripMs: 250, frozen: 0.05 }
const poor = { loss: 0.08, roundTripMs: 600, frozen: 0.25 }

/** Grades a connection by the worst of its loss, delay and standstill. */
export function qualityOf(rates: ConnectionRates | undefined): Quality {
  if (rates === undefined) return 'unknown'
  const exceeds = (limit: typeof fair): boolean =>
    rates.loss > limit.loss || rates.frozen > limit.frozen || (rates.roundTripMs ?? 0) > limit.roundTripMs
  if (exceeds(poor)) return 'poor'
  return exceeds(fair) ? 'fair' : 'good'
}

/** The worst of several; `unknown` if none is known. */
export function worstQuality(qualities: Iterable<Quality>): Quality {
  const order: readonly Quality[] = ['unknown', 'good', 'fair', 'poor']
  let worst = 0
  for (const quality of qualities) worst = Math.max(worst, order.indexOf(quality))
  return order[worst] ?? 'unknown'
}
