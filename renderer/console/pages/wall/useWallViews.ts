import { computed } from 'vue'
import { sharedState } from '../../composables/useConsole.ts'
import { useReading } from '../../live/useReading.ts'

/** Saved views of the wall, by name; updated by events. */
export const useWallViews = sharedState(() => {
  const { value, error } = useReading('wall.list', {}, { updates: { 'wall.changed': (_before, { items }) => items } })
  return { views: computed(() => value.value ?? []), ready: computed(() => value.value !== undefined), error }
})
