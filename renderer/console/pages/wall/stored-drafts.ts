import { z } from 'zod'
import { wallView } from '../../../../shared/console/wall.ts'
import { wallArrangement } from '../../../../shared/domain/wall-layout.ts'

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
  try {
    return drafts.parse(JSON.parse(sessionStorage.getItem(stored) ?? '[]'))
  } catch {
    // Storage may be disabled, or contain drafts of another version.
    return []
  }
}

/** Stores the drafts for this tab. */
export function storeDrafts(now: readonly (readonly [string, Draft])[]): void {
  try {
    sessionStorage.setItem(stored, JSON.stringify(now))
  } catch {
    // Storage may be disabled: the drafts are then lost when the page is closed.
  }
}
