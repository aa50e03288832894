import type { EventActor } from '../../shared/domain/event-actor.ts'
import type { EventParams } from '../../shared/domain/event-values.ts'
import type { EventKind, EventLevel, EventSubject } from '../../shared/domain/events.ts'
import type { RecordingIndex } from './recording-index.ts'

/** Event of recordings for the event log. */
export interface RecordingEvent {
  kind: Extract<EventKind, `recording.${string}`>
  level?: EventLevel
  actor?: EventActor
  subject: EventSubject
  room?: string
  params?: EventParams
}

/** Receives events of recording. */
export type RecordEvent = (event: RecordingEvent) => void

/** Returns the subject of an event about the recordings of one person or camera. @param name displayed name */
export function recordingSubject(roomId: string, userId: string, name: string): EventSubject {
  return { type: 'recording', id: `${roomId}/${userId}`, name }
}

/**
 * Returns the subject of an event about recordings in a span. Its name is the recorded name; without a recording, the
 * userId. Times are in milliseconds since the epoch.
 */
export function recordedSubject(
  index: Pick<RecordingIndex, 'segments'>,
  { roomId, userId, from, to }: { roomId: string; userId: string; from: number; to: number },
): EventSubject {
  const [segment] = index.segments({ roomId, userId, from, to, limit: 1 })
  const name = segment?.userName ?? ''
  return recordingSubject(roomId, userId, name === '' ? userId : name)
}

/** Subject of an event about all recordings of the site. */
export const allRecordings = { type: 'recording', id: '', name: '' } as const satisfies EventSubject
