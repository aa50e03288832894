import { z } from 'zod'
import { wallView } from '../../../../shared/console/wall.ts'
import { wallArrangement } from '../../../../shared/domain/wall-layout.ts'

/** Changed tiles that are not saved. */
const draft = z.strictObject({
  items: wallView.shape.items.readonly(),
  arrangement: wallArrangement,
  /** View that they are based on; left out: none. */
  seen: wallView.optional(),
})
export type Draft = z.output<typeof draft>

const drafts = z.array(z.tuple([z.string(), draft]))
const stored = 'roomdesk.wall.drafts'

/** Returns the drafts of this tab before it was loaded again. */
export function storedDrafts(): [string, Draft][] {
  try {
    return drafts.parse(JSON.parse(sessionStorage.getItem(stored) ?? '[]'))
  } catch {
    // Storage may be disabled, or hold the drafts of another version.
    return []
  }
}

/** Stores the drafts for this tab. */
export function storeDrafts(now: readonly (readonly [string, Draft])[]): void {
  try {
    sessionStorage.setItem(stored, JSON.stringify(now))
  } catch {
    // Storage may be disabled: then the drafts end with the page.
  }
}
