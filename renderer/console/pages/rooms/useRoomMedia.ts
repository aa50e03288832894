import { shallowRef, type ShallowRef, watch } from 'vue'
import type { ConnectionStats, StreamStats } from '../../../../shared/media/stream-stats.ts'
import { useReading } from '../../live/useReading.ts'

/** A stream with its current rates. */
export interface StreamRates extends StreamStats {
  /** Bits per second; undefined before the second read. */
  bitrate: number | undefined
  fps: number | undefined
}

/** Media of a room, as reported by the node. */
export interface RoomMedia {
  streams: ShallowRef<readonly StreamRates[]>
  /** Connections and speakers by user id. */
  connections: ShallowRef<ReadonlyMap<string, ConnectionStats>>
}

interface Reading {
  at: number
  streams: readonly StreamStats[]
}

/** Polling interval in milliseconds: short, because speakers are marked. */
const everyMs = 1_000

/** Polls a room's streams and connections while mounted. Empty while the node is unreachable. */
export function useRoomMedia(roomId: () => string): RoomMedia {
  const streams = shallowRef<readonly StreamRates[]>([])
  const connections = shallowRef<ReadonlyMap<string, ConnectionStats>>(new Map())
  const input = (): { room_id: string } | undefined => (roomId() === '' ? undefined : { room_id: roomId() })
  const { value, error } = useReading('media.stats', input, { everyMs })
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
