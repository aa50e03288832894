import type { StoredRecording } from '../../store/records.ts'
import type { EventSink } from '../event-log.ts'

/** Writes ordered recordings of which no file came. */
export function recordOrders(sink: EventSink): {
  failed(recording: StoredRecording, reason: string): void
} {
  return {
    failed({ id, name, room_id: room, created_by }, reason) {
      sink.append({
        kind: 'room.recordingFailed',
        level: 'warning',
        subject: { type: 'room', id: room, name: '' },
        actor: { type: created_by === '' ? 'operator' : 'client', name: created_by, address: '' },
        room,
        params: { recording: id, label: name, reason },
      })
    },
  }
}
