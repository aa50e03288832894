import type { recordOperations } from '../../shared/field-records.ts'
import { complaint } from '../../shared/refusals/complaints.ts'
import { ApiError } from '../../shared/result-codes.ts'
import { makerOfClient } from '../capabilities/capability.ts'
import type { HandlersOf } from '../http/operation.ts'
import { readObjectText } from '../http/parameters.ts'
import type { OrderAddresses } from '../recordings/client-recordings/ordered-media.ts'
import type { OrderedRecordings } from '../recordings/client-recordings/ordered-recordings.ts'
import type { OrderFilter } from '../recordings/client-recordings/stored-orders.ts'
import type { OrderedLives } from '../recordings/live/ordered-lives.ts'
import type { StoredLive, StoredRecording } from '../store/recording-records.ts'

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

const dayMs = 24 * 60 * 60 * 1_000
const sounds = ['none', 'own', 'room'] as const
const pictures = ['none', 'main', 'screen', 'screen'] as const

/** Returns the streams for the numbers that clients of the original platform send; by default, picture and sound. */
function streamsOf({
  audioType = 1,
  videoType = 1,
}: {
  audioType?: number | undefined
  videoType?: number | undefined
}): Pick<StoredRecording, 'sound' | 'picture'> {
  return { sound: sounds[audioType] ?? 'own', picture: pictures[videoType] ?? 'main' }
}

/** Returns the numbers that clients of the original platform use for streams. */
function typesOf({ sound, picture }: Pick<StoredRecording, 'sound' | 'picture'>): {
  audioType: number
  videoType: number
} {
  return { audioType: sounds.indexOf(sound), videoType: pictures.indexOf(picture) }
}

/**
 * Parses a filter of clients of the original platform: an object or its JSON text, often escaped twice, with empty
 * values for absent fields. Dates are days in the controller's time zone.
 * @throws ApiError parameter
 */
function filterOf(given: string | Record<string, unknown> | undefined): OrderFilter {
  if (given === undefined || given === '' || given === 'undefined') return {}
  const filter = typeof given === 'string' ? readObjectText(unescaped(given)) : given
  if (filter === undefined) throw malformedFilter()
  const from = dayOf(filter.fromTime)
  const to = dayOf(filter.endTime)
  return {
    roomId: textOf(filter.roomId),
    userId: textOf(filter.userId),
    from,
    // A day is included up to its end; a time is an exact limit.
    to: to === undefined ? undefined : isDay(filter.endTime) ? startOfNextDay(to) - 1 : to,
  }
}

/** Formats a time as `yyyy-mm-dd hh:mm:ss` in the controller's time zone. */
function timeText(at: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

function unescaped(text: string): string {
  if (!/^%7b/i.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // A text with a broken escape is not a filter.
    return text
  }
}

function isDay(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d{1,2}-\d{1,2}$/.test(value.trim())
}

/** Parses a day, as its beginning, or a time, to milliseconds since the epoch. */
function dayOf(value: unknown): number | undefined {
  const text = textOf(value)?.trim()
  if (text === undefined || text === '') return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0'] =
    /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T+](\d{1,2}):(\d{1,2})(?::(\d{1,2}))?)?$/.exec(text) ?? []
  const at = new Date(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  if (year === undefined || Number.isNaN(at.getTime()) || at.getDate() !== Number(day)) throw malformedFilter()
  return at.getTime()
}

/** Returns the start of the next day. A day has 23 or 25 hours when daylight saving time begins or ends. */
function startOfNextDay(day: number): number {
  const next = new Date(day + 1.5 * dayMs)
  return new Date(next.getFullYear(), next.getMonth(), next.getDate()).getTime()
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function malformedFilter(): ApiError {
  return new ApiError('parameter', { field: 'filter', complaint: complaint('recordFilter') })
}
