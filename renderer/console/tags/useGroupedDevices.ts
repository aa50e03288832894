import { computed, type Ref, watch } from 'vue'
import { tagKey } from '../../../shared/tags.ts'
import { useFormat } from '../composables/useFormat.ts'
import { useOpenGroups } from './useOpenGroups.ts'
import type { DeviceView } from '../../../shared/domain/devices.ts'

interface Group {
  title: string
  rows: DeviceView[]
}

/**
 * Devices by tag, in the order of `shown`. A device is in the group of each of its tags; those without tags are last.
 */
export function useGroupedDevices(shown: Readonly<Ref<readonly DeviceView[]>>, grouped: Readonly<Ref<boolean>>) {
  const { compare } = useFormat()
  const { layout, set, toggle, toggleAll } = useOpenGroups()

  const groups = computed<ReadonlyMap<string, Group>>(() => {
    const found = new Map<string, Group>()
    const rest: Group = { title: '', rows: [] }
    for (const device of grouped.value ? shown.value : []) {
      if (device.tags.length === 0) rest.rows.push(device)
      for (const tag of device.tags) {
        const group = found.get(tagKey(tag))
        if (group === undefined) found.set(tagKey(tag), { title: tag, rows: [device] })
        else group.rows.push(device)
      }
    }
    const sorted = [...found].sort(([, one], [, other]) => compare.value(one.title, other.title))
    return new Map(rest.rows.length === 0 ? sorted : [...sorted, ['', rest]])
  })
  watch(
    groups,
    (found) => {
      const counted = [...found].map(([key, { title, rows }]) => ({ key, title, count: rows.length }))
      set(counted, shown.value.length, true)
    },
    { immediate: true },
  )

  function rowAt(line: number): DeviceView | undefined {
    const place = layout.value.placeOf(line)
    return place && groups.value.get(place.group.key)?.rows[place.at]
  }

  return { layout, rowAt, toggle, toggleAll }
}
