import { z } from 'zod'
import { computed } from 'vue'
import { wallView } from '../../../../shared/console/wall.ts'
import { wallArrangement } from '../../../../shared/domain/wall-layout.ts'
import { browserStorage, tabStorage } from '../../../kit/storage.ts'
import { sharedState } from '../../composables/useConsole.ts'
import { useReading } from '../../live/useReading.ts'

/** Unsaved changes of tiles. */
const draft = z.strictObject({
  items: wallView.shape.items.readonly(),
  arrangement: wallArrangement,
  /** Version of the view on which they are based; undefined: none. */
  seen: wallView.optional(),
})
export type Draft = z.output<typeof draft>

const drafts = z.array(z.tuple([z.string(), draft]))
const stored = 'roomdesk.wall.drafts'

/** Returns the drafts that this tab stored before a reload. */
export function storedDrafts(): [string, Draft][] {
  // The drafts may be of another version.
  return drafts.safeParse(tabStorage.json(stored)).data ?? []
}

export function storeDrafts(now: readonly (readonly [string, Draft])[]): void {
  tabStorage.set(stored, JSON.stringify(now))
}

/** Storage key of the view that this browser opened last. */
const lastViewKey = 'roomdesk.wall'

/** Returns the id of the last view; empty: none was open; undefined: this browser has never opened the wall. */
export function lastView(): string | undefined {
  return browserStorage.get(lastViewKey)
}

/** Stores the id of the open view; empty: none is open. */
export function rememberView(id: string): void {
  browserStorage.set(lastViewKey, id)
}

/** Saved views of the wall, by name; updated by events. */
export const useWallViews = sharedState(() => {
  const { value, error } = useReading('wall.list', {}, { updates: { 'wall.changed': (_before, { items }) => items } })
  return { views: computed(() => value.value ?? []), ready: computed(() => value.value !== undefined), error }
})
