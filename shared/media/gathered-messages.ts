/** Maximum number of messages sent together. */
const maxMessages = 256
/** Maximum delay of a message that is not urgent, in milliseconds. */
const soonMs = 10

/**
 * Sends the messages of one event loop turn together: each send wakes the other process, which costs more than reading
 * the message. A single message is sent unchanged, several as an array, in order.
 */
export class GatheredMessages<Message> {
  readonly #send: (message: Message | Message[]) => void
  #waiting: Message[] = []
  #turn: NodeJS.Immediate | undefined
  #soon: NodeJS.Timeout | undefined

  constructor(send: (message: Message | Message[]) => void) {
    this.#send = send
  }

  /** Sends a message before the event loop becomes idle. */
  send(message: Message): void {
    this.#waiting.push(message)
    if (this.#waiting.length >= maxMessages) this.flush()
    else this.#turn ??= setImmediate(() => this.flush())
  }

  /** Sends a message within 10 ms, together with later ones: failures of hundreds of dead cameras are not urgent. */
  sendSoon(message: Message): void {
    this.#waiting.push(message)
    if (this.#waiting.length >= maxMessages) this.flush()
    else this.#soon ??= setTimeout(() => this.flush(), soonMs)
  }

  /** Sends the pending messages now, because the process is about to end. */
  flush(): void {
    clearImmediate(this.#turn)
    clearTimeout(this.#soon)
    this.#turn = undefined
    this.#soon = undefined
    const messages = this.#waiting
    this.#waiting = []
    const [first] = messages
    if (first !== undefined) this.#send(messages.length === 1 ? first : messages)
  }
}

/** Splits data from a `GatheredMessages` into its messages, in order. */
export function messagesOf(received: unknown): readonly unknown[] {
  return Array.isArray(received) ? received : [received]
}
