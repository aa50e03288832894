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
  const stopChanges = store.onChange((changes) => {
    if (changes.some(({ collection }) => collection === 'settings' || collection === 'nodes')) media?.configure()
    const networks = settings().media.camera_networks.join()
    if (networks !== cameraNetworks) janus.cameraPlacesChanged()
    cameraNetworks = networks
    for (const change of changes)
      if (change.collection === 'devices')
        media?.noteOutgoing({ userId: change.key, roomId: change.value?.roomId ?? '' })
    removals.follow(changes)
    gateway.follow(changes)
  })
  return () => {
    stopFlushes()
    stopChanges()
    removals.stop()
  }
}
