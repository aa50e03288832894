/** Messages that go as one, at most. */
const most = 256
/** How long one waits that nobody is in a hurry for, in milliseconds. */
const soonMs = 10

/**
 * Sends the messages of one turn of the event loop as one: each one sent wakes the other process, which costs more than to read it. One that is alone goes as it is,
 * several go as an array, in their order.
 */
export class GatheredMessages<Message> {
  readonly #send: (message: Message | Message[]) => void
  #waiting: Message[] = []
  #turn: NodeJS.Immediate | undefined
  #soon: NodeJS.Timeout | undefined

  constructor(send: (message: Message | Message[]) => void) {
    this.#send = send
  }

  /** Sends it before the event loop waits again. */
  send(message: Message): void {
    this.#waiting.push(message)
    if (this.#waiting.length >= most) this.flush()
    else this.#turn ??= setImmediate(() => this.flush())
  }

  /** Sends it within 10 ms, with those that come meanwhile: what hundreds of dead cameras failed with is no matter of milliseconds. */
  sendSoon(message: Message): void {
    this.#waiting.push(message)
    if (this.#waiting.length >= most) this.flush()
    else this.#soon ??= setTimeout(() => this.flush(), soonMs)
  }

  /** Sends what waits now: the process is about to end. */
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

/** The messages of what came from a `GatheredMessages`, in their order. */
export function messagesOf(received: unknown): readonly unknown[] {
  return Array.isArray(received) ? received : [received]
}
