import { shownName } from '../../../../shared/control-character.ts'
import { placeOf } from '../../../store/sealed-places.ts'
import type { Store } from '../../../store/store.ts'
import type { StoredRoom } from '../../../store/records.ts'
import type { NodeRoom } from '../../port/media-node-port.ts'

/** The room as a node must hold it. @throws ApiError 'internal' when the host password cannot be unsealed */
export function toNodeRoom(room: StoredRoom, store: Pick<Store, 'unseal'>): NodeRoom {
  return {
    roomId: room.room_id,
    topic: shownName(room.topic),
    mode: room.room_mode,
    hostPassword:
      room.host_password_sealed === '' ? '' : store.unseal(room.host_password_sealed, placeOf('rooms', room.room_id)),
    attendeeMax: room.attendee_max,
    maxVideo: room.max_video,
    maxAudio: room.max_audio,
    locked: room.locked,
    ...(room.waiting_room === true ? { waitingRoom: true } : {}),
  }
}
