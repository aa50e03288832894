import { computed } from 'vue'
import { useDevices } from '../../composables/site.ts'
import { useReading } from '../../live/useReading.ts'
import type { RoomView } from '../../../../shared/domain/rooms.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/** A room with users in it, as shown on a card. */
export interface Meeting {
  room: RoomView
  /** First joined camera of the room. */
  camera: DeviceView | undefined
  /** Number of cameras that are not joined because of a problem. */
  troubled: number
}

/** Maximum number of meetings that are loaded. */
const maxRead = 100

/** Rooms with users in them: those with camera problems first, then by number of users. */
export function useMeetings() {
  const { all } = useDevices()
  const { value, error, refresh } = useReading(
    'rooms.list',
    { sort: 'people', descending: true, limit: maxRead },
    { throttleMs: 2_000 },
  )
  const rooms = computed(() => value.value?.items.filter(({ people }) => people > 0))

  const camerasByRoom = computed(() => {
    const found = new Map<string, Pick<Meeting, 'camera' | 'troubled'>>()
    for (const device of all.value) {
      const entry = found.get(device.roomId) ?? { camera: undefined, troubled: 0 }
      if (device.state === 'joined') entry.camera ??= device
      else if (device.last_error !== null) entry.troubled++
      found.set(device.roomId, entry)
    }
    return found
  })
  const meetings = computed(() => {
    const shown = rooms.value?.map((room): Meeting => {
      const { camera, troubled = 0 } = camerasByRoom.value.get(room.room_id) ?? {}
      return { room, camera, troubled }
    })
    return shown?.sort((a, b) => Number(b.troubled > 0) - Number(a.troubled > 0))
  })
  /** Whether there may be more meetings than were loaded. */
  const capped = computed(() => rooms.value?.length === maxRead)
  return { meetings, capped, error, refresh }
}
