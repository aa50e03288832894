import type { SubscriptionRequests } from '../people/subscription.ts'
import type { Camera } from './camera-key.ts'
import { isStopped } from './bridge-watch.ts'

/** How a mountpoint is asked for what its camera sends. */
export function watchedMountpoint({ id, pin }: Pick<Camera, 'id' | 'pin'>): SubscriptionRequests {
  return {
    plugin: 'janus.plugin.streaming',
    watch: { request: 'watch', id, pin },
    restart: { request: 'watch', id, pin, restart: true },
    show: (height) => ({ request: 'configure', video: height > 0 }),
    isEnd: isStopped,
  }
}
