import {
  deleteLiveStream,
  deleteRecording,
  getLiveStream,
  getRecording,
  listLiveStreams,
  listRecordings,
  liveLink,
  recordingLink,
  startLive,
  startRecording,
  stopLiveStream,
  stopRecording,
} from '../../shared/recording-operations.ts'
import { tokenKinds } from '../../shared/tokens.ts'
import { makerOfClient } from '../capabilities/capability.ts'
import { type AnyOperation, implement } from '../http/operation.ts'
import type { OrderedMedia } from '../recordings/client-recordings/ordered-media.ts'

const usualCount = 100
const linkSeconds = tokenKinds['live-link'].lifetime.defaultMs / 1_000

/** Recordings and live streams of rooms, people and cameras. */
export function implementRecordingOperations(orders: OrderedMedia): AnyOperation[] {
  const { recordings, lives } = orders
  return [
    implement(startRecording, async ({ user_id = '', sound = 'own', picture = 'main', ...request }, { accessKey }) =>
      orders.recordingFacts(
        await recordings.begin({ ...request, user_id, sound, picture, maker: makerOfClient(accessKey) }),
      ),
    ),
    implement(stopRecording, async ({ id }) => orders.recordingFacts(await recordings.end(id))),
    implement(getRecording, ({ id }) => orders.recordingFacts(recordings.stored.get(id))),
    implement(listRecordings, ({ begin = 0, count = usualCount, room_id: roomId, user_id: userId, from, to }) => {
      const found = recordings.stored.list({ roomId, userId, from, to })
      const items = found.slice(begin, begin + count).map((recording) => orders.recordingFacts(recording))
      return { total: found.length, items }
    }),
    implement(deleteRecording, async ({ id }) => {
      await recordings.stored.delete(id)
      return { id }
    }),
    implement(recordingLink, ({ room_id, user_id, source = 'main', from, to, ttl = linkSeconds }, { accessKey }) =>
      orders.recordedLink({ room: room_id, user: user_id, source, from, to }, ttl * 1_000, makerOfClient(accessKey)),
    ),
    implement(
      startLive,
      async ({ sound = 'own', picture = 'main', rtmp_url = '', publish_url, ...request }, caller) => {
        const given = { ...request, sound, picture, rtmp_url, hls_url: '', maker: makerOfClient(caller.accessKey) }
        return orders.liveFacts(await lives.begin({ ...given, publishUrl: publish_url }))
      },
    ),
    implement(stopLiveStream, async ({ id }) => orders.liveFacts(await lives.end(id))),
    implement(getLiveStream, ({ id }) => orders.liveFacts(lives.stored.get(id))),
    implement(listLiveStreams, ({ begin = 0, count = usualCount, room_id: roomId, user_id: userId, from, to }) => {
      const found = lives.stored.list({ roomId, userId, from, to })
      return { total: found.length, items: found.slice(begin, begin + count).map((live) => orders.liveFacts(live)) }
    }),
    implement(deleteLiveStream, async ({ id }) => {
      await lives.delete(id)
      return { id }
    }),
    implement(liveLink, ({ room_id, user_id, source = 'main', ttl = linkSeconds }, { accessKey }) =>
      orders.liveLink({ roomId: room_id, userId: user_id, source }, ttl * 1_000, makerOfClient(accessKey)),
    ),
  ]
}
