import { shallowReactive } from 'vue'
import type { ChatLine } from '../../../shared/media/signal.ts'
import type { RoomView } from './room-view.ts'

/** Maximum number of chat lines in the page. */
const maxLines = 500

/** Messages of the room stored in the page. */
export class ChatLines {
  readonly list = shallowReactive<ChatLine[]>([])
  readonly #view: RoomView
  #last = 0

  constructor(view: RoomView) {
    this.#view = view
  }

  /** Adds new lines. Messages from before the join do not count as unread. */
  take(lines: readonly ChatLine[], old: boolean): void {
    for (const line of lines) {
      if (line.id <= this.#last) continue
      this.#last = line.id
      this.list.push(line)
      if (this.list.length > maxLines) this.list.shift()
      if (!old && !this.#view.chatOpen && line.user_id !== this.#view.you?.user_id) this.#view.unread += 1
    }
  }

  clear(): void {
    this.list.splice(0)
    this.#last = 0
  }
}
