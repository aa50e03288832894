import { computed, shallowRef } from 'vue'
import type { ComputedRef } from 'vue'
import type { Attention, OverviewView, Sample } from '../../../shared/console/site.ts'
import { sharedState } from './useConsole.ts'
import { collected, useLive } from '../../kit/composables/useLive.ts'

/** Time span of the displayed samples, in milliseconds: as long as the controller keeps them. */
const shown = 15 * 60_000

/** State of the site, items that need attention, and samples of the charts. */
export const useOverview = sharedState((client) => {
  const overview = useLive(client, () => client.call('overview.get'))
  const samples = shallowRef<readonly Sample[]>([])
  const history = useLive(client, async () => {
    samples.value = await client.call('overview.samples')
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
    const kept = samples.value.filter((one) => one.at > sample.at - shown && one.at < sample.at)
    samples.value = [...kept, sample]
  })
  return { ...overview, samples, history }
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
