import { computed } from 'vue'
import { useDevices } from '../../composables/site.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/**
 * Returns the camera that represents a room in a list: the first joined one. Users are not shown, because the operator
 * has not asked to watch them.
 */
export function useRoomCameras(): (roomId: string) => DeviceView | undefined {
  const { all } = useDevices()
  const byRoom = computed(() => {
    const found = new Map<string, DeviceView>()
    for (const device of all.value)
      if (device.state === 'joined' && !found.has(device.roomId)) found.set(device.roomId, device)
    return found
  })
  return (roomId) => byRoom.value.get(roomId)
}
