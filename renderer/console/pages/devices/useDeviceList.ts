import { computed, reactive, ref } from 'vue'
import type { Sort } from '../../../kit/components/table.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useDevices } from '../../composables/site.ts'
import { tagKey } from '../../../../shared/tags.ts'
import { useGroupedDevices } from '../../tags/useGroupedDevices.ts'
import { useGrouping } from '../../tags/useGrouping.ts'
import { useTagFilter } from '../../tags/useTagFilter.ts'
import { useFavourites } from '../../composables/useFavourites.ts'
import { conditionOf, type DeviceCondition } from './deviceText.ts'
import type { DeviceView } from '../../../../shared/domain/devices.ts'

/** A room with devices. */
export interface RoomOfDevices {
  roomId: string
  /** Topic; empty: the room no longer exists. */
  topic: string
  devices: number
}

/** Matching devices, in an order that does not depend on their live state. */
export function useDeviceList(room = '') {
  const { all, byId, value, error, refresh } = useDevices()
  const filter = reactive<{ search: string; condition: DeviceCondition | ''; room: string; favourites: boolean }>({
    search: '',
    condition: '',
    room,
    favourites: false,
  })
  const { ids } = useFavourites('cameras')
  const { tags } = useTagFilter()
  const grouped = useGrouping('devices')
  const sort = ref<Sort>({ key: 'created', descending: true })
  const { compare } = useFormat()
  const textOf: Record<string, (device: DeviceView) => string> = {
    name: (device) => device.userName,
    room: (device) => device.roomTopic || device.roomId,
    address: (device) => device.userAddress,
  }

  const matching = computed(() => {
    const words = filter.search.trim().toLowerCase().split(/\s+/).filter(Boolean)
    const keys = tags.value.map(tagKey)
    return all.value.filter((device) => {
      if (filter.room !== '' && device.roomId !== filter.room) return false
      if (filter.favourites && !ids.value.has(device.userId)) return false
      if (!keys.every((key) => device.tags.some((tag) => tagKey(tag) === key))) return false
      if (words.length === 0) return true
      const text =
        `${device.userName} ${device.userId} ${device.userAddress} ${device.roomId} ${device.roomTopic} ${device.tags.join(' ')}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
  })
  const counts = computed(() => {
    const found: Record<DeviceCondition, number> = { joined: 0, down: 0, paused: 0 }
    for (const device of matching.value) found[conditionOf(device)] += 1
    return found
  })
  const shown = computed(() => {
    const { key, descending } = sort.value
    const rows = matching.value.filter((one) => filter.condition === '' || conditionOf(one) === filter.condition)
    const text = textOf[key]
    if (text === undefined) return descending ? rows.reverse() : rows
    const sign = descending ? -1 : 1
    return rows.sort((one, other) => sign * compare.value(text(one), text(other)))
  })
  const groups = useGroupedDevices(shown, grouped)
  /** Returns the row of a line of the table; undefined: the line is a heading. */
  const rowAt = (line: number): DeviceView | undefined => (grouped.value ? groups.rowAt(line) : shown.value[line])
  /** Rooms with devices and their number, the largest number first. */
  const rooms = computed(() => {
    const found = new Map<string, RoomOfDevices>()
    for (const { roomId, roomTopic } of all.value) {
      const before = found.get(roomId)
      if (before === undefined) found.set(roomId, { roomId, topic: roomTopic, devices: 1 })
      else before.devices += 1
    }
    return [...found.values()].sort((one, other) => other.devices - one.devices)
  })

  function sortBy(key: string): void {
    const same = sort.value.key === key
    sort.value = { key, descending: same ? !sort.value.descending : key === 'created' }
  }

  function clearFilters(): void {
    Object.assign(filter, { search: '', condition: '', room: '', favourites: false })
    tags.value = []
  }

  return {
    filter,
    sort,
    shown,
    grouped,
    ...groups,
    rowAt,
    counts,
    rooms,
    all,
    byId,
    ready: value,
    error,
    refresh,
    sortBy,
    clearFilters,
  }
}
