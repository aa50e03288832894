import type { OrderedMedia } from '../recordings/client-recordings/ordered-media.ts'
import type { StoredLive, StoredRecording } from '../store/recording-records.ts'
import type { Store } from '../store/store.ts'
import { actorOf, type CallOrigin, type ProcedureHandlers, makerOf, type ProceduresOf } from './handlers.ts'

/** Procedures on ordered recordings and live streams. */
export function orderHandlers(
  orders: OrderedMedia,
  store: Pick<Store, 'get'>,
): ProcedureHandlers<ProceduresOf<'orders'>> {
  const { recordings, lives } = orders
  const beside = ({ room_id, user_id, created_by, ordered_by = '' }: StoredRecording | StoredLive) => ({
    created_by,
    ordered_by,
    topic: store.get('rooms', room_id)?.topic ?? '',
    user_name: store.get('devices', user_id)?.userName ?? '',
  })
  const orderer = (origin: CallOrigin) => ({ maker: makerOf(origin), operator: actorOf(origin).name })
  return {
    'orders.recordings': ({ room_id: roomId, user_id: userId, offset, limit }) => {
      const found = recordings.stored.list({ roomId, userId })
      const shown = found.slice(offset, offset + limit)
      const items = shown.map((recording) => ({ ...orders.recordingFacts(recording), ...beside(recording) }))
      return { total: found.length, items }
    },
    'orders.record': async ({ user_id = '', ...request }, origin) =>
      orders.recordingFacts(await recordings.begin({ ...request, user_id, ...orderer(origin) })),
    'orders.stop_recording': async ({ id }) => orders.recordingFacts(await recordings.end(id)),
    'orders.renew_recording': async ({ id }, origin) =>
      orders.recordingFacts(await recordings.renew(id, makerOf(origin))),
    'orders.delete_recording': async ({ id }) => {
      await recordings.stored.delete(id)
      return {}
    },
    'orders.lives': ({ room_id: roomId, user_id: userId, offset, limit }) => {
      const found = lives.stored.list({ roomId, userId })
      const shown = found.slice(offset, offset + limit)
      return { total: found.length, items: shown.map((live) => ({ ...orders.liveFacts(live), ...beside(live) })) }
    },
    'orders.stream': async ({ publish_url: publishUrl, ...request }, origin) =>
      orders.liveFacts(await lives.begin({ ...request, publishUrl, rtmp_url: '', hls_url: '', ...orderer(origin) })),
    'orders.stop_live': async ({ id }) => orders.liveFacts(await lives.end(id)),
    'orders.delete_live': async ({ id }) => {
      await lives.delete(id)
      return {}
    },
    'orders.live_link': ({ room_id: roomId, user_id: userId, source, ttl }, origin) =>
      orders.liveLink({ roomId, userId, source }, ttl * 1_000, makerOf(origin)),
  }
}
