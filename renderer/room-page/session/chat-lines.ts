import { shallowReactive } from 'vue'
import type { ChatLine } from '../../../shared/media/signal.ts'
import type { RoomView } from './room-view.ts'

/** Most chat lines kept in the page. */
const maxLines = 500

/** Messages of the room, as far as the page keeps them. */
export class ChatLines {
  readonly list = shallowReactive<ChatLine[]>([])
  readonly #view: RoomView
  #last = 0

  constructor(view: RoomView) {
    this.#view = view
  }

  /** Lines that are not here yet. What was said before one came in is not unread. */
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
