import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { Capability } from '../../capabilities/capability.ts'
import type { Store } from '../../store/store.ts'
import { sourceOf } from '../records/recorded-streams.ts'

/** Tracks and stream that a capability of a live stream opens. */
export interface LiveScope {
  stream: RecordedStream
  sound: boolean
  picture: boolean
  /** The sound is that of the room. */
  mixed: boolean
  /** Id of the live stream of a client; empty: a link. */
  live: string
}

/** Scope of a capability; undefined: its live stream has ended. */
export function scopeOf(
  capability: Capability<'live-link' | 'live' | 'push'>,
  store: Pick<Store, 'get'>,
): LiveScope | undefined {
  const of = { roomId: capability.room_id, userId: capability.user_id, quality: 'main' } as const
  if (capability.kind === 'live-link') {
    return { stream: { ...of, source: capability.source }, sound: true, picture: true, mixed: false, live: '' }
  }
  const live = store.get('lives', capability.live)
  if (live?.state !== 'living') return undefined
  return {
    stream: { ...of, source: sourceOf(live.picture) },
    sound: live.sound !== 'none',
    picture: live.picture !== 'none',
    mixed: live.sound === 'room',
    live: live.id,
  }
}
