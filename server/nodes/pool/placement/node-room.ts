import { shownName } from '../../../../shared/control-character.ts'
import { hoursOf } from '../../../schedule/room-hours.ts'
import { sealedPlaceOf } from '../../../store/sealed-places.ts'
import { isSameSealing } from '../../../store/sealer.ts'
import type { Store } from '../../../store/store.ts'
import type { StoredRoom } from '../../../store/records.ts'
import type { NodeRoom } from '../../port/media-node-port.ts'

/**
 * Returns the room in the form sent to a node.
 * @throws ApiError 'internal' if the host password cannot be unsealed
 */
export function toNodeRoom(room: StoredRoom, store: Pick<Store, 'unseal'>): NodeRoom {
  return {
    roomId: room.room_id,
    topic: shownName(room.topic),
    mode: room.room_mode,
    hostPassword:
      room.host_password_sealed === ''
        ? ''
        : store.unseal(room.host_password_sealed, sealedPlaceOf('rooms', room.room_id)),
    attendeeMax: room.attendee_max,
    maxVideo: room.max_video,
    maxAudio: room.max_audio,
    locked: room.locked,
    ...(room.waiting_room === true ? { waitingRoom: true } : {}),
    ...endOf(room),
  }
}

/** Returns the end of the current meeting of a scheduled room. */
function endOf({ schedule, schedule_mark: mark }: StoredRoom): Pick<NodeRoom, 'endsAt' | 'closesAt'> {
  const hours = schedule && hoursOf(schedule, mark, Date.now())
  return hours?.meeting === undefined || hours.closesAt === 0
    ? {}
    : { endsAt: hours.meeting.end, closesAt: hours.closesAt }
}

/**
 * Returns whether two records are equal for a node: the same room, with equal fields in `toNodeRoom`. Nothing is
 * unsealed.
 */
export function isSameNodeRoom(one: StoredRoom, other: StoredRoom): boolean {
  if (one === other) return true
  return (
    one.id === other.id &&
    one.topic === other.topic &&
    one.room_mode === other.room_mode &&
    isSameSealing(one.host_password_sealed, other.host_password_sealed) &&
    one.attendee_max === other.attendee_max &&
    one.max_video === other.max_video &&
    one.max_audio === other.max_audio &&
    one.locked === other.locked &&
    (one.waiting_room ?? false) === (other.waiting_room ?? false) &&
    one.schedule === other.schedule &&
    one.schedule_mark?.start === other.schedule_mark?.start
  )
}
