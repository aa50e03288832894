import { computed, shallowRef } from 'vue'
import { sharedState } from './useConsole.ts'
import { useLive } from '../../kit/composables/useLive.ts'
import type { DeviceView } from '../../../shared/domain/devices.ts'

/** Every device with its state, by userId, in the order of creation. */
export const useDevices = sharedState((client) => {
  const byId = shallowRef<ReadonlyMap<string, DeviceView>>(new Map())
  const read = useLive(client, async () => {
    const items = await client.call('devices.list')
    byId.value = new Map(items.map((device) => [device.userId, device]))
    return items.length
  })
  client.on('devices.changed', ({ items, removed }) => {
    const next = new Map(byId.value)
    for (const userId of removed) next.delete(userId)
    for (const device of items) next.set(device.userId, device)
    byId.value = next
  })
  return { ...read, byId, all: computed(() => [...byId.value.values()]) }
})
