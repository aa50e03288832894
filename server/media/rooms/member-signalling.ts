import type { ToPerson } from '../../../shared/media/signal.ts'

/** Limits of the messages kept for a person whose connection was lost: their number, and their total number of characters. */
const maxKept = 100
const maxKeptText = 512 * 1024

export interface PersonLink {
  send(message: ToPerson): void
  /** Closes the connection after the pending messages are sent. */
  close(): void
}

/**
 * State of the connection. `none`: not connected; `away`: the connection was lost and may return until a timer expires.
 */
type Connection = { state: 'none' } | { state: 'connected'; link: PersonLink } | { state: 'away'; cancel: () => void }

/** Signalling connection of a person, and the messages kept while it is lost. */
export class MemberSignalling {
  #connection: Connection = { state: 'none' }
  readonly #kept: ToPerson[] = []
  #keptText = 0
  /**
   * Whether the person has had a signalling connection. In a room with a waiting room, this means that they were
   * admitted.
   */
  hasConnected = false

  send(message: ToPerson): void {
    this.link?.send(message)
  }

  /** Sends a message, or keeps it while the person is away. Above the limits, further messages are dropped. */
  sendOrKeep(message: ToPerson): void {
    if (this.link !== undefined) return this.link.send(message)
    if (!this.isAway || this.#kept.length >= maxKept) return
    const { length } = JSON.stringify(message)
    if (this.#keptText + length > maxKeptText) return
    this.#keptText += length
    this.#kept.push(message)
  }

  /** Returns and removes the kept messages, in order. */
  takeKept(): ToPerson[] {
    this.#keptText = 0
    return this.#kept.splice(0)
  }

  /** Open connection; undefined while there is none. */
  get link(): PersonLink | undefined {
    return this.#connection.state === 'connected' ? this.#connection.link : undefined
  }

  /** Whether the connection was lost and may return. */
  get isAway(): boolean {
    return this.#connection.state === 'away'
  }

  /** Whether there is no connection, and none is expected back. */
  get isOver(): boolean {
    return this.#connection.state === 'none'
  }

  /** Sets the connection, ends an absence, and closes an earlier connection. */
  connect(link: PersonLink): void {
    const before = this.link
    this.#become({ state: 'connected', link })
    this.hasConnected = true
    before?.send({ type: 'removed', reason: 'replaced' })
    before?.close()
  }

  /** Marks the connection as lost. @param cancel stops the timer that ends the absence */
  goAway(cancel: () => void): void {
    this.#become({ state: 'away', cancel })
  }

  /** Ends an absence that exceeded its time limit. */
  expire(): void {
    this.#connection = { state: 'none' }
  }

  /** Closes the connection. @param last message to send first */
  end(last: ToPerson | undefined): void {
    const { link } = this
    this.#become({ state: 'none' })
    if (last !== undefined) link?.send(last)
    link?.close()
  }

  #become(connection: Connection): void {
    if (this.#connection.state === 'away') this.#connection.cancel()
    this.#connection = connection
  }
}
