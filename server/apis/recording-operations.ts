import type { mediaOperations } from '../../shared/media-operations.ts'
import { tokenKinds } from '../../shared/tokens.ts'
import { makerOfClient } from '../capabilities/capability.ts'
import type { HandlersOf } from '../http/operation.ts'
import type { OrderedMedia } from '../recordings/client-recordings/ordered-media.ts'

const usualCount = 100
const linkSeconds = tokenKinds['live-link'].lifetime.defaultMs / 1_000

/** Recordings and live streams of rooms, people and cameras. */
export function recordingHandlers(orders: OrderedMedia) {
  const { recordings, lives } = orders
  return {
    recording_start: async ({ user_id = '', sound = 'own', picture = 'main', ...request }, { accessKey }) =>
      orders.recordingFacts(
        await recordings.begin({ ...request, user_id, sound, picture, maker: makerOfClient(accessKey) }),
      ),
    recording_stop: async ({ id }) => orders.recordingFacts(await recordings.end(id)),
    recording_get: ({ id }) => orders.recordingFacts(recordings.stored.get(id)),
    recording_list: ({ begin = 0, count = usualCount, room_id: roomId, user_id: userId, from, to }) => {
      const found = recordings.stored.list({ roomId, userId, from, to })
      const items = found.slice(begin, begin + count).map((recording) => orders.recordingFacts(recording))
      return { total: found.length, items }
    },
    recording_delete: async ({ id }) => {
      await recordings.stored.delete(id)
      return { id }
    },
    recording_link: ({ room_id, user_id, source = 'main', from, to, ttl = linkSeconds }, { accessKey }) =>
      orders.recordedLink({ room: room_id, user: user_id, source, from, to }, ttl * 1_000, makerOfClient(accessKey)),
    live_start: async ({ sound = 'own', picture = 'main', rtmp_url = '', publish_url, ...request }, caller) => {
      const given = { ...request, sound, picture, rtmp_url, hls_url: '', maker: makerOfClient(caller.accessKey) }
      return orders.liveFacts(await lives.begin({ ...given, publishUrl: publish_url }))
    },
    live_stop: async ({ id }) => orders.liveFacts(await lives.end(id)),
    live_get: ({ id }) => orders.liveFacts(lives.stored.get(id)),
    live_list: ({ begin = 0, count = usualCount, room_id: roomId, user_id: userId, from, to }) => {
      const found = lives.stored.list({ roomId, userId, from, to })
      return { total: found.length, items: found.slice(begin, begin + count).map((live) => orders.liveFacts(live)) }
    },
    live_delete: async ({ id }) => {
      await lives.delete(id)
      return { id }
    },
    live_link: ({ room_id, user_id, source = 'main', ttl = linkSeconds }, { accessKey }) =>
      orders.liveLink({ roomId: room_id, userId: user_id, source }, ttl * 1_000, makerOfClient(accessKey)),
  } satisfies Partial<HandlersOf<typeof mediaOperations>>
}
