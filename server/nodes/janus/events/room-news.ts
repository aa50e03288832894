import { onAbort } from '../../../../shared/abort.ts'
import type { JanusEvent } from './event-message.ts'

/** Lets callers wait for a node's events about a room, independently of the node's driver. */
export class RoomNews {
  readonly #waiting = new Map<string, Set<() => void>>()

  tell(event: JanusEvent): void {
    if (event.type === 'started') return
    for (const heard of this.#waiting.get(event.room) ?? []) heard()
  }

  /**
   * Waits for an event about a room. Resolves to true when an event arrives, and to false when the signal aborts. Never
   * rejects.
   * @param room name of the room on the node
   */
  received(room: string, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const heard = (): void => resolve(true)
    const silent = (): void => resolve(false)
    const waiting = this.#waiting.get(room) ?? new Set()
    this.#waiting.set(room, waiting.add(heard))
    const unregister = onAbort(signal, silent)
    return promise.finally(() => {
      unregister()
      waiting.delete(heard)
      if (waiting.size === 0 && this.#waiting.get(room) === waiting) this.#waiting.delete(room)
    })
  }
}
