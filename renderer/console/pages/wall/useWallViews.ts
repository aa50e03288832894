import { shallowRef } from 'vue'
import type { WallView } from '../../../../shared/console/wall.ts'
import { sharedState } from '../../composables/useConsole.ts'
import { useLive } from '../../../kit/composables/useLive.ts'

/** Saved views of the wall, by name; updated by events. */
export const useWallViews = sharedState((client) => {
  const views = shallowRef<readonly WallView[]>([])
  const { value: ready, error } = useLive(client, async () => {
    views.value = await client.call('wall.list')
    return views.value.length
  })
  client.on('wall.changed', ({ items }) => {
    views.value = items
  })
  return { views, ready, error }
})
