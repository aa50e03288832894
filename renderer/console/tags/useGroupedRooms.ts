import { computed, ref, shallowRef } from 'vue'
import type { ProcedureOutput } from '../../../shared/console/contract.ts'
import { tagKey } from '../../../shared/tags.ts'
import { type Page, type PagedRows, usePagedRows } from '../../kit/composables/usePagedRows.ts'
import { useOpenGroups } from './useOpenGroups.ts'
import type { RoomView } from '../../../shared/domain/rooms.ts'

/** Functions that read grouped rooms from the controller. */
export interface GroupReads {
  groups(): Promise<ProcedureOutput<'rooms.groups'>>
  /** Reads a page of the rooms with a tag; an empty tag: rooms without tags. */
  rows(tag: string, offset: number, limit: number): Promise<Page<RoomView>>
}

/** Rooms by tag. The controller counts the groups; rows of open groups are loaded when they become visible. */
export function useGroupedRooms(reads: GroupReads) {
  const { layout, set, toggle, toggleAll } = useOpenGroups()
  const total = ref(0)
  const changes = ref(0)
  const ready = ref(false)
  const error = shallowRef<unknown>(null)
  const pages = new Map<string, PagedRows<RoomView>>()
  let visible = { first: 0, end: 1 }
  let generation = 0
  let renewals = 0
  /** Changes whenever the groups or any loaded rows change. */
  const version = computed(() => {
    void changes.value
    for (const group of pages.values()) void group.version.value
    renewals += 1
    return renewals
  })

  /** Returns the rows of a group; new ones are not kept yet. */
  function pagesOf({ key, title }: { key: string; title: string }): PagedRows<RoomView> {
    const tag = key === '' ? '' : title
    return pages.get(key) ?? usePagedRows((offset, limit) => reads.rows(tag, offset, limit))
  }

  /** Loads the visible rows; `again`: also those that are loaded. */
  async function load(again: boolean): Promise<void> {
    const shown = layout.value.among(visible.first, visible.end)
    // Rows that are not visible are loaded again when they become visible.
    const kept = new Set(shown.map(({ group }) => group.key))
    for (const key of pages.keys()) if (!kept.has(key)) pages.delete(key)
    await Promise.all(
      shown.map(async ({ group, first, end }) => {
        const isKnown = pages.has(group.key)
        const rows = pagesOf(group)
        pages.set(group.key, rows)
        rows.show(first, end)
        if (!isKnown || again) await rows.refresh()
      }),
    )
    changes.value++
  }

  async function read(isNew: boolean): Promise<void> {
    const mine = ++generation
    try {
      const found = await reads.groups()
      if (mine !== generation) return
      const groups = found.groups.map(({ tag, count }) => ({ key: tagKey(tag), title: tag, count }))
      if (found.untagged > 0) groups.push({ key: '', title: '', count: found.untagged })
      set(groups, found.total, isNew)
      total.value = found.total
      error.value = null
      await load(true)
      if (mine === generation) ready.value = true
    } catch (reason) {
      if (mine !== generation) return
      error.value = reason
      if (isNew) ready.value = false
    }
  }

  const rows: PagedRows<RoomView> = {
    total,
    version,
    error,
    ready,
    rowAt(line) {
      const place = layout.value.placeOf(line)
      return place === undefined || place.at < 0 ? undefined : pages.get(place.group.key)?.rowAt(place.at)
    },
    loaded: () => [...pages.values()].flatMap((group) => group.loaded()),
    async rowsBetween(first, last) {
      const parts = layout.value.among(first, last + 1)
      const found = await Promise.all(
        parts.map(({ group, ...part }) => pagesOf(group).rowsBetween(part.first, part.end - 1)),
      )
      return found.flat()
    },
    show(first, end) {
      visible = { first, end }
      if (ready.value) void load(false)
    },
    refresh: () => read(false),
    async restart() {
      visible = { first: 0, end: Math.max(1, visible.end - visible.first) }
      await read(true)
    },
  }

  /** Opens or closes a group, and loads rows that become visible. */
  function change(act: () => void): void {
    act()
    void load(false)
  }

  return {
    rows,
    layout,
    toggle: (key: string) => change(() => toggle(key)),
    toggleAll: (open: boolean) => change(() => toggleAll(open)),
  }
}
