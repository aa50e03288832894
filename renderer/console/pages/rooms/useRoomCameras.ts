import { computed } from 'vue'
import { useDevices } from '../../composables/site.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/**
 * Returns the camera that represents a room in a list: the first joined one. Users are not shown, because the operator
 * has not asked to watch them.
 */
export function useRoomCameras(): (roomId: string) => DeviceView | undefined {
  const { all } = useDevices()
  const joined = computed(() => all.value.filter(({ state }) => state === 'joined'))
  const byRoom = computed(() => Map.groupBy(joined.value, ({ roomId }) => roomId))
  return (roomId) => byRoom.value.get(roomId)?.[0]
}
