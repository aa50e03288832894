import { shallowRef, watch } from 'vue'
import type { ConnectionStats, StreamStats } from '../../../../shared/media/stream-stats.ts'
import { useReading } from '../../live/useReading.ts'
import type { RoomUserView } from '../../../../shared/domain/rooms.ts'
import type { Translate } from '../../i18n/text.ts'
import { shortcomingText } from '../devices/tracks.ts'

/** A stream with its current rates. */
export interface StreamRates extends StreamStats {
  /** Bits per second; undefined before the second read. */
  bitrate: number | undefined
  fps: number | undefined
}

interface Reading {
  at: number
  streams: readonly StreamStats[]
}

/** Polling interval in milliseconds: short, because speakers are marked. */
const everyMs = 1_000

/** Polls a room's streams and connections while mounted. Empty while the node is unreachable. */
export function useRoomMedia(roomId: () => string) {
  const streams = shallowRef<readonly StreamRates[]>([])
  /** Connections and speakers by user id. */
  const connections = shallowRef<ReadonlyMap<string, ConnectionStats>>(new Map())
  const { value, error } = useReading('media.stats', () => ({ room_id: roomId() }), { everyMs })
  watch([value, error], ([now, failure], [before]) => {
    // The node's own page shows its problem.
    const shown = failure === null ? now : undefined
    streams.value = shown?.streams.map((stream) => withRates(stream, shown.at, before)) ?? []
    connections.value = new Map(shown?.connections.map((connection) => [connection.user_id, connection]))
  })
  return { streams, connections }
}

/** Adds the rates since the previous read; a restarted stream has none yet. */
export function withRates(stream: StreamStats, at: number, before: Reading | undefined): StreamRates {
  const earlier = before?.streams.find(({ stream_id }) => stream_id === stream.stream_id)
  const seconds = before === undefined ? 0 : (at - before.at) / 1_000
  const bytes = stream.video_bytes + stream.audio_bytes
  const bytesBefore = (earlier?.video_bytes ?? 0) + (earlier?.audio_bytes ?? 0)
  if (earlier === undefined || seconds <= 0 || bytes < bytesBefore) {
    return { ...stream, bitrate: undefined, fps: undefined }
  }
  return {
    ...stream,
    bitrate: ((bytes - bytesBefore) * 8) / seconds,
    fps: Math.max(0, stream.frames - earlier.frames) / seconds,
  }
}

/** A user or device of a room with its streams. */
export interface RosterEntry {
  user: RoomUserView
  streams: readonly StreamRates[]
  connection: ConnectionStats | undefined
  /** Media that a user sends; undefined: unknown, or a device. */
  sends: { audio: boolean; video: boolean; screen: boolean } | undefined
}

/** Assigns the streams of a room to its users, in joining order. */
export function roomRoster(
  users: readonly RoomUserView[],
  streams: readonly StreamRates[],
  connections: ReadonlyMap<string, ConnectionStats>,
): RosterEntry[] {
  const byUser = Map.groupBy(streams, ({ user_id }) => user_id)
  return users.map((user) => {
    const own = byUser.get(user.user_id) ?? []
    const connection = connections.get(user.user_id)
    return { user, streams: own, connection, sends: user.device ? undefined : sentBy(own, connection) }
  })
}

/**
 * Returns the media that a user sends. Room pages report whether microphone and camera are on; for other clients only
 * the streams are known.
 */
function sentBy(streams: readonly StreamRates[], connection: ConnectionStats | undefined): RosterEntry['sends'] {
  if (connection === undefined && streams.length === 0) return undefined
  const main = streams.find(({ stream_id, user_id }) => stream_id === user_id)
  return {
    audio: connection?.audio ?? (main?.audio_codec ?? '') !== '',
    video: connection?.video ?? (main?.video_codec ?? '') !== '',
    screen: streams.some(({ stream_id, user_id }) => stream_id !== user_id),
  }
}

/** Time without packets after which a stream counts as stalled, in milliseconds. */
const stalledMs = 4_000

/** Returns whether a stream has stopped sending. */
export function isStalled({ last_packet_at }: Pick<StreamStats, 'last_packet_at'>, now: number): boolean {
  return last_packet_at > 0 && now - last_packet_at > stalledMs
}

/**
 * Returns the most severe problem of a stream, or all its shortcomings, with the remedy; empty: no problem.
 * @param ofDevice whether the stream is a device's: a missing picture is a problem only then
 */
export function streamWarning(stream: StreamStats, ofDevice: boolean, now: number, t: Translate): string {
  const { conversion, shortcomings } = stream
  if (isStalled(stream, now)) return t('media.warnings.stalled')
  if (conversion?.state === 'waiting') return t('media.warnings.waiting')
  if (conversion?.state === 'failed') return t('media.warnings.failed')
  if (shortcomings.length > 0) return shortcomings.map((one) => shortcomingText(one, t)).join(' ')
  if (stream.b_frames) return t('media.streams.bFrames')
  if (ofDevice && stream.video_codec === '') return t('media.warnings.noPicture')
  return ''
}
