import { z } from 'zod'
import { wallView } from '../../../../shared/console/wall.ts'
import { wallArrangement } from '../../../../shared/domain/wall-layout.ts'
import { tabStorage } from '../../../kit/storage.ts'

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

/** Stores the drafts for this tab. */
export function storeDrafts(now: readonly (readonly [string, Draft])[]): void {
  tabStorage.set(stored, JSON.stringify(now))
}
