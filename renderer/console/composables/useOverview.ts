import { computed, shallowRef } from 'vue'
import type { ComputedRef } from 'vue'
import type { Attention, OverviewView, Sample } from '../../../shared/console/site.ts'
import { sharedState } from './useConsole.ts'
import { collected, useLive } from '../../kit/composables/useLive.ts'

/** Samples from which the present rate of requests is told. */
const latest = 2

/** State of the site, items that need attention, and the latest samples. */
export const useOverview = sharedState((client) => {
  const overview = useLive(client, () => client.call('overview.get'))
  const samples = shallowRef<readonly Sample[]>([])
  useLive(client, async () => {
    samples.value = (await client.call('overview.samples')).slice(-latest)
  })
  const refresh = collected(() => void overview.refresh(), 300)
  for (const event of [
    'listeners.changed',
    'nodes.changed',
    'licence.changed',
    'settings.changed',
    'credentials.changed',
    'store.noticed',
  ] as const) {
    client.on(event, refresh)
  }
  // Counts change with every room and user: once a second is enough.
  const counts = collected(() => void overview.refresh(), 1_000)
  client.on('rooms.changed', counts)
  client.on('devices.changed', counts)
  client.on('attention.changed', ({ items }) => {
    const now = overview.value.value
    if (now) overview.value.value = { ...now, attention: items }
    // Only the full overview has the number of refusals.
    if (items.some(({ code }) => code === 'olderClientRefused' || code === 'accessTokenRefused')) refresh()
  })
  client.on('overview.sampled', (sample) => {
    samples.value = [...samples.value.filter((one) => one.at < sample.at), sample].slice(-latest)
  })
  return { ...overview, samples }
})

/** Items that need the operator, most urgent first. */
export function useAttention(): ComputedRef<readonly Attention[]> {
  const { value } = useOverview()
  return computed(() => value.value?.attention ?? [])
}

/** One listener by name. */
export function listenerOf(overview: OverviewView, name: OverviewView['listeners'][number]['name']) {
  return overview.listeners.find((listener) => listener.name === name)
}
