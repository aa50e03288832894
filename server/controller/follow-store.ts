import type { Settings } from '../../shared/settings.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Store } from '../store/store.ts'
import type { Removals } from '../rooms/removals.ts'
import type { NodeParts } from './nodes.ts'

/** Passes changes of the store to the parts that hold state of their own. @returns the unsubscribe function */
export function followStore(
  store: Store,
  settings: () => Settings,
  {
    media,
    janus,
    gateway,
    removals,
  }: Pick<NodeParts, 'media' | 'janus' | 'gateway'> & { removals: Pick<Removals, 'follow' | 'stop'> },
  metrics: Pick<Metrics, 'flushed'>,
): () => void {
  const stopFlushes = store.onFlush((milliseconds) => metrics.flushed(milliseconds))
  let cameraNetworks = settings().media.camera_networks.join()
  const stopSettings = store.onChange(
    (changes) => {
      media?.configure()
      if (changes.every(({ collection }) => collection !== 'settings')) return
      const networks = settings().media.camera_networks.join()
      if (networks !== cameraNetworks) janus.cameraPlacesChanged()
      cameraNetworks = networks
    },
    ['settings', 'nodes'],
  )
  const stopChanges = store.onChange((changes) => {
    for (const change of changes)
      if (change.collection === 'devices')
        media?.noteOutgoing({ userId: change.key, roomId: change.value?.roomId ?? '' })
    removals.follow(changes)
    gateway.follow(changes)
  })
  return () => {
    stopFlushes()
    stopSettings()
    stopChanges()
    removals.stop()
  }
}
