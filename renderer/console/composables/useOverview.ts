import { computed, type ComputedRef } from 'vue'
import type { Attention, OverviewView } from '../../../shared/console/site.ts'
import { sharedState } from './useConsole.ts'
import { useReading } from '../live/useReading.ts'

/** Number of samples from which the current request rate is computed. */
const latest = 2

/** State of the site, items that need attention, and the latest samples. */
export const useOverview = sharedState((client) => {
  const overview = useReading(
    'overview.get',
    {},
    {
      // Counts change with every room and user, so one update per second is enough.
      throttleMs: 1_000,
      updates: {
        'attention.changed': (before, { items }) =>
          // Only the full overview has the number of refusals.
          items.some(({ code }) => code === 'olderClientRefused' || code === 'accessTokenRefused')
            ? undefined
            : { ...before, attention: items },
      },
    },
  )
  const { value: samples } = useReading(
    'overview.samples',
    {},
    {
      read: async () => (await client.call('overview.samples')).slice(-latest),
      updates: {
        'overview.sampled': (before, sample) => [...before.filter(({ at }) => at < sample.at), sample].slice(-latest),
      },
    },
  )
  return { ...overview, samples: computed(() => samples.value ?? []) }
})

/** Items that need attention, most urgent first. */
export function useAttention(): ComputedRef<readonly Attention[]> {
  const { value } = useOverview()
  return computed(() => value.value?.attention ?? [])
}

/** Returns a listener by name. */
export function listenerOf(overview: OverviewView, name: OverviewView['listeners'][number]['name']) {
  return overview.listeners.find((listener) => listener.name === name)
}
