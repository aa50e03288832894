import { computed } from 'vue'
import { sharedState } from './useConsole.ts'
import { useReading } from '../live/useReading.ts'

/** The controllers of the site, and the storage of its state. */
export const useControllers = sharedState(() => {
  const live = useReading('controllers.list', {}, { updates: { 'controllers.changed': (_before, view) => view } })
  const items = computed(() => live.value.value?.items ?? [])
  return {
    ...live,
    items,
    /** Controller of this console. */
    self: computed(() => items.value.find(({ self }) => self)),
    leader: computed(() => items.value.find(({ role }) => role === 'leader')),
    /** This console's controller is a replica: it is read-only. */
    standby: computed(() => items.value.some(({ self, role }) => self && role === 'standby')),
    /** Database of the site, if its state is in one. */
    database: computed(() => {
      const medium = live.value.value?.medium
      return medium?.kind === 'database' ? medium : undefined
    }),
  }
})
