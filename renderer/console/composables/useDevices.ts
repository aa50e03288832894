import { computed } from 'vue'
import type { DeviceView } from '../../../shared/domain/devices.ts'
import { useReading } from '../live/useReading.ts'
import { sharedState } from './useConsole.ts'

type Devices = ReadonlyMap<string, DeviceView>
const nothing: Devices = new Map()

/** Every device with its state, by userId, in the order of creation. */
export const useDevices = sharedState((client) => {
  const live = useReading<'devices.list', Devices>(
    'devices.list',
    {},
    {
      read: async () => new Map((await client.call('devices.list')).map((device) => [device.userId, device])),
      updates: {
        'devices.changed': (before, { items, removed }) => {
          const after = new Map(before)
          for (const userId of removed) after.delete(userId)
          for (const device of items) after.set(device.userId, device)
          return after
        },
      },
    },
  )
  const byId = computed(() => live.value.value ?? nothing)
  return { ...live, byId, all: computed(() => [...byId.value.values()]) }
})
