import { computed } from 'vue'
import type { DeviceView } from '../../../../shared/console/devices.ts'
import { useDevices } from '../../composables/useDevices.ts'

/** The camera that stands for a room in a list: the first that is joined there. People are not pictured where nobody watches them. */
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
