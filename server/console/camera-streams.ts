import type { Store } from '../store/store.ts'

/** Whether a stream of a room is that of a camera that the operator put there: watching it is watching nobody. */
export function isCamera(store: Pick<Store, 'get'>, roomId: string, streamId: string): boolean {
  return store.get('devices', streamId)?.roomId === roomId
}
