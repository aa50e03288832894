import { shallowReactive } from 'vue'
import type { Reaction } from '../../../shared/media/reactions.ts'

/** A reaction on a tile. Each has a new id, so that a repeated reaction is animated again. */
export interface ShownReaction {
  id: number
  reaction: Reaction
}

const shownMs = 4_000

/** Visible reactions by user: the latest of each. */
export class ShownReactions {
  readonly now = shallowReactive(new Map<string, ShownReaction>())
  #id = 0

  show(userId: string, reaction: Reaction): void {
    const id = ++this.#id
    this.now.set(userId, { id, reaction })
    setTimeout(() => {
      if (this.now.get(userId)?.id === id) this.now.delete(userId)
    }, shownMs)
  }

  clear(): void {
    this.now.clear()
  }
}
