import { ref, shallowReactive } from 'vue'
import type { ChatLine } from '../../../shared/media/signal.ts'
import type { RoomView } from './room-view.ts'

/** Maximum number of chat lines in the page. */
const maxLines = 500

/** Messages of the room kept in the page. */
export class ChatLines {
  readonly list = shallowReactive<ChatLine[]>([])
  /** Text that is not sent yet; it stays while the chat is closed. */
  readonly draft = ref('')
  readonly #view: RoomView
  readonly #preview: (line: ChatLine) => void
  #last = 0

  /** @param preview shows a new line of another user while the chat is closed */
  constructor(view: RoomView, preview: (line: ChatLine) => void) {
    this.#view = view
    this.#preview = preview
  }

  /** Adds new lines. Messages from before the join do not count as unread. */
  take(lines: readonly ChatLine[], old: boolean): void {
    let unread: ChatLine | undefined
    for (const line of lines) {
      if (line.id <= this.#last) continue
      this.#last = line.id
      this.list.push(line)
      if (this.list.length > maxLines) this.list.shift()
      if (old || this.#view.chatOpen || line.user_id === this.#view.you?.user_id) continue
      this.#view.unread += 1
      unread = line
    }
    if (unread !== undefined) this.#preview(unread)
  }

  /** Puts messages that were not sent before what is being typed. */
  giveBack(texts: readonly string[]): void {
    this.draft.value = [...texts, this.draft.value].filter((text) => text !== '').join('\n')
  }

  clear(): void {
    this.list.splice(0)
    this.draft.value = ''
    this.#last = 0
  }
}

/** Time after which an unconfirmed message is not sent again, in milliseconds. */
const freshMs = 15_000

/** Own messages that the node has not confirmed: a lost node may not have delivered them. */
export class OwnLines {
  #said: { text: string; at: number }[] = []

  /** Adds a message that is being sent. */
  say(text: string): void {
    this.#said.push({ text, at: Date.now() })
  }

  /** Removes the messages that the node has confirmed. @param ownId id of this user */
  told(lines: readonly ChatLine[], ownId: string | undefined): void {
    for (const { user_id, text } of lines) {
      const index = user_id === ownId ? this.#said.findIndex((one) => one.text === text) : -1
      if (index !== -1) this.#said.splice(index, 1)
    }
  }

  /** Returns the messages to send again after a reconnection, and those that are too old, which it forgets. */
  again(): { fresh: string[]; late: string[] } {
    const { fresh = [], late = [] } = Object.groupBy(this.#said, ({ at }) =>
      Date.now() - at < freshMs ? 'fresh' : 'late',
    )
    this.#said = fresh
    return { fresh: fresh.map(({ text }) => text), late: late.map(({ text }) => text) }
  }

  clear(): void {
    this.#said = []
  }
}
