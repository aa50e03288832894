import { shallowReactive } from 'vue'

/** A short message at the foot of the page. */
export interface MessageOptions {
  text: string
  tone: 'ok' | 'warn' | 'bad'
  /** Time for which it is shown, in milliseconds. */
  duration: number
  /** The user can close it earlier. */
  closable?: boolean
  /** A button behind the text. */
  action?: { text: string; hint: string; run(): void }
  /** Called when the message has been removed. */
  onClose?(): void
}

/** A message that is shown. */
export interface Message extends MessageOptions {
  /** Increases with each message; a repeated one keeps its text and becomes the newest. */
  id: number
  close(): void
}

/** Maximum number of messages on the screen: one more replaces the oldest. */
const maxShown = 3

/** Messages on the screen, oldest first. */
export const messages = shallowReactive<Message[]>([])
let lastId = 0

/** Shows a message. Replaces an equal one that is shown. */
export function showMessage(options: MessageOptions): Message {
  if (!options.action) messages.find((one) => !one.action && one.text === options.text)?.close()
  const timer = setTimeout(() => message.close(), options.duration)
  const message: Message = {
    ...options,
    id: ++lastId,
    close() {
      const index = messages.indexOf(message)
      if (index < 0) return
      clearTimeout(timer)
      messages.splice(index, 1)
      options.onClose?.()
    },
  }
  messages.push(message)
  if (messages.length > maxShown) messages[0]?.close()
  return message
}

/** Removes all messages. */
export function closeMessages(): void {
  for (const message of [...messages]) message.close()
}
