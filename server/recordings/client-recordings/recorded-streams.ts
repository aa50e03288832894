import { onAbort } from '../../../shared/abort.ts'
import type { StreamSource } from '../../../shared/media/stream-source.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import type { StoredRecording } from '../../store/recording-records.ts'
import type { RecordingIndex } from '../recording-index.ts'

/** Interval between checks of open segments, in milliseconds. */
const lookMs = 100

/** Time span, in milliseconds since the epoch. */
export interface Span {
  from: number
  to: number
}

/** Returns the streams of a room, or of one user, recorded in a span. The order is the same for the same segments. */
export function recordedStreams(
  index: Pick<RecordingIndex, 'segments' | 'open'>,
  { room_id: roomId, user_id: userId }: Pick<StoredRecording, 'room_id' | 'user_id'>,
  { from, to }: Span,
): RecordedStream[] {
  const query = { roomId, from, to, quality: 'main' as const, ...(userId === '' ? {} : { userId }) }
  const found = new Map<string, RecordedStream>()
  for (const { userId: user, source, quality } of [...index.segments(query), ...index.open(query)]) {
    found.set(JSON.stringify([user, source]), { roomId, userId: user, source, quality })
  }
  return [...found.values()]
}

/** Whether anything of a room or user was recorded since a moment, or is being recorded. */
export function isRecorded(
  index: Pick<RecordingIndex, 'segments' | 'open'>,
  { room_id: roomId, user_id: userId }: Pick<StoredRecording, 'room_id' | 'user_id'>,
  from: number,
): boolean {
  const query = { roomId, from, limit: 1, ...(userId === '' ? {} : { userId }) }
  return index.open(query).length > 0 || index.segments(query).length > 0
}

/**
 * Resolves when the segments that started before `to` are complete, or after `maxMs`: a recording rule may keep
 * segments open.
 * @param signal ends the wait
 */
export async function untilWritten(
  index: Pick<RecordingIndex, 'open' | 'onChange'>,
  { room_id: roomId, user_id: userId }: Pick<StoredRecording, 'room_id' | 'user_id'>,
  to: number,
  maxMs: number,
  signal: AbortSignal,
): Promise<void> {
  const query = { roomId, to, ...(userId === '' ? {} : { userId }) }
  const isOpen = (): boolean => index.open(query).some(({ startedAt }) => startedAt <= to)
  if (!isOpen()) return
  await new Promise<void>((resolve) => {
    let unregister = (): void => {}
    const finish = (): void => {
      clearTimeout(deadline)
      clearInterval(look)
      stop()
      unregister()
      resolve()
    }
    const check = (): void => {
      if (!isOpen()) finish()
    }
    const deadline = setTimeout(finish, maxMs)
    const look = setInterval(check, lookMs)
    const stop = index.onChange(check)
    unregister = onAbort(signal, finish)
  })
}

/** Returns the source of the picture or sound that a recording requests. */
export function pictureSourceOf(picture: StoredRecording['picture']): StreamSource {
  return picture === 'screen' ? 'screen' : 'main'
}
