import { reactive, ref, watch } from 'vue'
import type { ProcedureInput } from '../../../../shared/console/contract.ts'
import { distinctTags } from '../../../../shared/tags.ts'
import type { Sort } from '../../../kit/components/table.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFavourites } from '../../composables/useFavourites.ts'
import { useRefresh } from '../../live/useRefresh.ts'
import { useThrottled } from '../../live/useThrottled.ts'
import { useGroupedRooms } from '../../tags/useGroupedRooms.ts'
import { useGrouping } from '../../tags/useGrouping.ts'
import { useTagFilter } from '../../tags/useTagFilter.ts'
import { shownRows, usePagedRows } from '../../../kit/composables/usePagedRows.ts'
import type { RoomStatus, RoomView } from '../../../../shared/domain/rooms.ts'

/** Maximum number of rooms per action, and rooms per page when all are loaded. */
const most = 10_000
const pageSize = 500

/** Matching rooms, updated by events. Only the visible ones are loaded. */
export function useRoomList(node = '') {
  const { tags } = useTagFilter()
  const client = useConsole()
  const filter = reactive<{
    search: string
    status: RoomStatus | 'withSchedule' | ''
    node: string
    favourites: boolean
  }>({ search: '', status: '', node, favourites: false })
  const { ids } = useFavourites('rooms')
  const sort = ref<Sort>({ key: 'id', descending: true })
  /** Total number of rooms of the site. */
  const all = ref(0)

  const grouped = useGrouping('rooms')

  function matching(): ProcedureInput<'rooms.groups'> {
    return {
      search: filter.search.trim(),
      ...(filter.status === 'withSchedule' ? { scheduled: true } : filter.status ? { status: [filter.status] } : {}),
      ...(filter.node ? { node: filter.node } : {}),
      tags: tags.value,
      ...(filter.favourites ? { room_ids: [...ids.value] } : {}),
    }
  }

  function query(): ProcedureInput<'rooms.list'> {
    const by = sort.value.key
    return {
      ...matching(),
      sort: by === 'topic' || by === 'people' || by === 'room_id' ? by : 'id',
      descending: sort.value.descending,
    }
  }

  const flat = usePagedRows(async (offset, limit) => {
    const page = await client.call('rooms.list', { ...query(), offset, limit })
    all.value = page.all
    return page
  })

  const {
    rows: byTag,
    layout,
    ...groups
  } = useGroupedRooms({
    async groups() {
      const found = await client.call('rooms.groups', matching())
      all.value = found.all
      return found
    },
    rows: (tag, offset, limit) => {
      const ofGroup = tag === '' ? { untagged: true } : { tags: distinctTags([...tags.value, tag]) }
      return client.call('rooms.list', { ...query(), ...ofGroup, offset, limit })
    },
  })
  const rows = shownRows(grouped, flat, byTag)

  const restart = useThrottled(() => void rows.restart(), 120)
  watch([filter, sort], restart, { deep: true })
  watch(() => JSON.stringify(tags.value), restart)
  watch(grouped, () => void rows.restart())
  watch(ids, () => filter.favourites && restart())
  useRefresh('rooms.list', () => rows.refresh())
  void rows.restart()

  function sortBy(key: string): void {
    const same = sort.value.key === key
    sort.value = { key, descending: same ? !sort.value.descending : key === 'people' || key === 'id' }
  }

  /** Loads every matching room, at most 10,000. */
  async function everyRoom(): Promise<RoomView[]> {
    const found: RoomView[] = []
    while (found.length < most) {
      const page = await client.call('rooms.list', { ...query(), offset: found.length, limit: pageSize })
      found.push(...page.items)
      if (page.items.length < pageSize) break
    }
    return found
  }

  /** Resolves to the index of a room in the ungrouped list; -1: the room is not in the list. */
  async function positionOf(roomId: string): Promise<number> {
    if (grouped.value) return -1
    for (let offset = 0; offset < most; offset += pageSize) {
      const page = await client.call('rooms.list', { ...query(), offset, limit: pageSize }).catch(() => null)
      const at = page?.items.findIndex(({ room_id }) => room_id === roomId) ?? -1
      if (at >= 0) return offset + at
      if (page === null || page.items.length < pageSize) return -1
    }
    return -1
  }

  return { positionOf, filter, tags, sort, all, rows, grouped, layout, ...groups, sortBy, everyRoom }
}
