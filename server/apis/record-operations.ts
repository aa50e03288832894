import type { recordOperations } from '../../shared/field-records.ts'
import { makerOfClient } from '../capabilities/capability.ts'
import type { HandlersOf } from '../http/operation.ts'
import type { OrderedLives } from '../recordings/live/ordered-lives.ts'
import type { OrderAddresses } from '../recordings/client-recordings/ordered-media.ts'
import type { OrderedRecordings } from '../recordings/client-recordings/ordered-recordings.ts'
import type { StoredLive, StoredRecording } from '../store/recording-records.ts'
import { filterOf, streamsOf, timeText, typesOf } from './record-parameters.ts'

type RecordHandlers = HandlersOf<typeof recordOperations>

export interface RecordServices {
  recordings: OrderedRecordings
  lives: OrderedLives
  addresses: OrderAddresses
}

/** Status numbers for clients of the original platform. A recording stays at 1 until its file is complete. */
const recordStatus = { waiting: 0, recording: 1, finishing: 1, available: 2, failed: 4 } as const
const liveStatus = { waiting: 0, living: 1, stopped: 2, failed: 4 } as const
const removed = 3
const usualCount = 100

/** Returns the record API and live API for clients of the original platform. */
export function recordHandlers(services: RecordServices): RecordHandlers {
  return { ...records(services), ...lives(services) }
}

function records({ recordings, addresses }: RecordServices) {
  const statusOf = (recording: StoredRecording): number => recordStatus[recordings.stateOf(recording)]
  const described = (recording: StoredRecording) => {
    const file = recording.files[0]
    return {
      ...ended(recording, statusOf(recording)),
      ...labelsOf(recording),
      fileType: (file?.container ?? recording.container) === 'webm' ? 1 : 0,
      url: file === undefined ? '' : addresses.file(recording, 0),
      size: file?.bytes ?? 0,
    }
  }
  return {
    create_user_record: async ({ roomId, userId, name, tag, fileType, ...types }, { accessKey }) => {
      const request = {
        room_id: roomId,
        user_id: userId,
        name,
        tag,
        ...streamsOf(types),
        maker: makerOfClient(accessKey),
      }
      const recording = await recordings.begin({ ...request, container: fileType === 1 ? 'webm' : 'mp4' })
      return { data: { id: recording.id, status: statusOf(recording) } }
    },
    stop_record: async ({ id }) => {
      const recording = await recordings.end(id)
      return { data: ended(recording, statusOf(recording)) }
    },
    get_record: ({ id }) => ({ data: described(recordings.stored.get(id)) }),
    find_records: ({ filter, ...range }) => ({
      data: pageOf(recordings.stored.list(filterOf(filter)), range, described),
    }),
    delete_record: async ({ id }) => {
      await recordings.stored.delete(id)
      return { data: { id, status: removed } }
    },
  } satisfies Partial<RecordHandlers>
}

function lives({ lives, addresses }: RecordServices) {
  const statusOf = (live: StoredLive): number => liveStatus[lives.stateOf(live)]
  /**
   * Returns the addresses of a live stream. Without an RTMP address, `rtmpurl` contains the playlist, which current
   * players can play.
   */
  const urlsOf = (live: StoredLive) => {
    const { hls_url } = addresses.live(lives.tokenOf(live))
    return { rtmpurl: live.rtmp_url || hls_url, hlsurl: live.hls_url || hls_url }
  }
  const described = (live: StoredLive) => ({
    ...ended(live, statusOf(live)),
    ...labelsOf(live),
    ...urlsOf(live),
  })
  return {
    create_user_live: async ({ roomId, userId, name, tag, publishurl, ...given }, { accessKey }) => {
      const { rtmpurl: rtmp_url = '', hlsurl: hls_url = '', ...types } = given
      const live = await lives.begin({
        ...{ room_id: roomId, user_id: userId, name, tag, ...streamsOf(types), maker: makerOfClient(accessKey) },
        ...{ rtmp_url, hls_url, publishUrl: publishurl },
      })
      const { id, status, roomId: room, name: label, createTime } = ended(live, statusOf(live))
      return { data: { id, status, roomId: room, name: label, createTime, ...urlsOf(live) } }
    },
    stop_live: async ({ id }) => {
      const live = await lives.end(id)
      return { data: { ...ended(live, statusOf(live)), ...urlsOf(live) } }
    },
    get_live: ({ id }) => ({ data: described(lives.stored.get(id)) }),
    find_lives: ({ filter, ...range }) => ({
      data: pageOf(lives.stored.list(filterOf(filter)), range, described),
    }),
    delete_live: async ({ id }) => {
      await lives.delete(id)
      return { data: { id, status: removed } }
    },
  } satisfies Partial<RecordHandlers>
}

/**
 * Returns the response of `find` for both APIs.
 * @param count 0 or undefined: the default for clients of the original platform
 */
function pageOf<T, D>(
  found: readonly T[],
  { begin = 0, count = usualCount }: { begin?: number | undefined; count?: number | undefined },
  described: (order: T) => D,
) {
  const items = found.slice(begin, begin + (count || usualCount)).map(described)
  return { total: found.length, begin, count: items.length, items }
}

/** Returns the response of `stop` for both APIs. */
function ended(order: StoredRecording | StoredLive, status: number) {
  const { id, room_id: roomId, name, created_at, ended_at = Date.now() } = order
  const file = 'files' in order ? order.files[0] : undefined
  const duration = Math.round((file?.duration_ms ?? Math.max(0, ended_at - created_at)) / 1_000)
  return { id, status, roomId, name, createTime: timeText(created_at), duration }
}

function labelsOf(order: StoredRecording | StoredLive) {
  const description = 'description' in order ? order.description : ''
  return { description, tags: order.tag, userId: order.user_id, ...typesOf(order) }
}
