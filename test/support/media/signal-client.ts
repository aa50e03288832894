import { once } from 'node:events'
import WebSocket from 'ws'
import { type FromPerson, signalVersion, type ToPerson, toPersonSchema } from '../../../shared/media/signal.ts'

type Joined = Extract<ToPerson, { type: 'joined' }>

/** A user's signalling connection. Checks every message of the node against the contract. */
export class SignalClient {
  readonly socket: WebSocket
  readonly messages: ToPerson[] = []
  /** Close code of the connection. */
  readonly closed: Promise<number>
  #joined: Joined | undefined
  readonly #watchers = new Set<() => void>()

  constructor(url: string) {
    this.socket = new WebSocket(`${url.replace('http', 'ws')}/signal`)
    this.socket.on('error', () => {})
    this.closed = new Promise((resolve) => this.socket.once('close', resolve))
    this.socket.on('message', (data: Buffer) => {
      this.messages.push(toPersonSchema.parse(JSON.parse(data.toString('utf8'))))
      for (const watcher of this.#watchers) watcher()
    })
  }

  /** Connects and joins; rejects with the reason of a refusal. */
  static async join(
    url: string,
    roomId: string,
    more: Partial<Extract<FromPerson, { type: 'join' }>> = {},
  ): Promise<SignalClient> {
    const client = new SignalClient(url)
    return await client.enter(joining(roomId, more))
  }

  /** Sends a join request and does not wait. */
  async ask(roomId: string, more: Partial<Extract<FromPerson, { type: 'join' }>> = {}): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open')
    this.send(joining(roomId, more))
  }

  static async resume(url: string, session: string): Promise<SignalClient> {
    return await new SignalClient(url).enter({ type: 'resume', version: signalVersion, session })
  }

  /** Answer of the node to the join. */
  get joined(): Joined {
    const answer = this.messages.find((message) => message.type === 'joined') ?? this.#joined
    if (answer === undefined) throw new Error('it has not joined')
    return answer
  }

  async enter(message: FromPerson): Promise<this> {
    if (this.socket.readyState === WebSocket.CONNECTING) await once(this.socket, 'open')
    this.send(message)
    const answer = await this.next(({ type }) => type === 'joined' || type === 'refused')
    if (answer.type === 'refused') throw new RefusedError(answer.code, answer.reason)
    return this
  }

  send(message: FromPerson | Record<string, unknown>): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Waits for the first message, past or future, that matches. */
  async next<T extends ToPerson['type'] = ToPerson['type']>(
    matches: T | ((message: ToPerson) => boolean),
    withinMs = 10_000,
  ): Promise<Extract<ToPerson, { type: T }>> {
    const fits = typeof matches === 'string' ? ({ type }: ToPerson) => type === matches : matches
    const told = Promise.withResolvers<ToPerson>()
    const watcher = (): void => {
      const message = this.messages.find(fits)
      if (message !== undefined) told.resolve(message)
    }
    const timer = setTimeout(
      () => told.reject(new Error(`the message did not come; there were ${JSON.stringify(this.messages.slice(-10))}`)),
      withinMs,
    )
    this.#watchers.add(watcher)
    watcher()
    try {
      return (await told.promise) as Extract<ToPerson, { type: T }>
    } finally {
      clearTimeout(timer)
      this.#watchers.delete(watcher)
    }
  }

  /** Forgets the messages received so far. */
  forget(): void {
    this.#joined = this.joined
    this.messages.length = 0
  }

  /** Drops the connection. */
  drop(): void {
    this.socket.terminate()
  }
}

function joining(roomId: string, more: Partial<Extract<FromPerson, { type: 'join' }>>): FromPerson {
  return {
    type: 'join',
    version: signalVersion,
    room_id: roomId,
    token: '',
    host_password: '',
    user_name: '',
    ...more,
  }
}

/** The node refused a join. */
export class RefusedError extends Error {
  readonly code: number
  readonly reason: string
  constructor(code: number, reason: string) {
    super(`refused: ${code} ${reason}`)
    this.name = 'RefusedError'
    this.code = code
    this.reason = reason
  }
}
