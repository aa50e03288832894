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
    /** Whether this console's controller is a read-only replica. */
    standby: computed(() => items.value.some(({ self, role }) => self && role === 'standby')),
    /** Database that stores the site's state; undefined: files. */
    database: computed(() => {
      const medium = live.value.value?.medium
      return medium?.kind === 'database' ? medium : undefined
    }),
  }
})
