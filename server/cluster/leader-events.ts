import { onAbort } from '../../shared/abort.ts'
import type { Socket } from 'node:net'
import { monotonic, pauseOn, startTimer } from '../store/system/time.ts'
import { WebSocket } from 'ws'
import { events, type EventPayload } from '../../shared/console/contract.ts'
import type { EventName } from '../../shared/console/event-names.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { EventHub } from '../console/event-hub.ts'
import type { Log } from '../observe/log.ts'
import { connectToLeader } from './leader-connection.ts'
import type { LeaderConsole } from './leader-console.ts'
import type { LeaderResolver } from './leader-resolver.ts'
import { clusterTimes } from '../store/election/timings.ts'

/** Maximum size of a message, in bytes: the limit of the console's send queue. */
const maxBytes = 16 * 1024 * 1024

export interface LeaderEventsOptions {
  hub: EventHub
  resolver: LeaderResolver
  console: LeaderConsole
  log: Log
  /** Whether this controller's pages may receive events now. */
  mayShow: () => boolean
  /** Called when events arrive again after a gap: after a reconnection, or after events were withheld from pages. */
  began: () => void
}

/** Forwards the events of the leader to a replica's pages, while pages are open. */
export class LeaderEvents {
  readonly #hub: EventHub
  readonly #resolver: LeaderResolver
  readonly #console: LeaderConsole
  readonly #log: Log
  readonly #mayShow: () => boolean
  readonly #began: () => void
  #withheld = false
  #following: AbortController | undefined

  constructor({ hub, resolver, console, log, mayShow, began }: LeaderEventsOptions) {
    this.#hub = hub
    this.#resolver = resolver
    this.#console = console
    this.#log = log
    this.#mayShow = mayShow
    this.#began = began
    hub.watch((listening) => {
      this.#following?.abort()
      this.#following = listening ? new AbortController() : undefined
      if (this.#following !== undefined) mustNotFail(this.#follow(this.#following.signal))
    })
  }

  close(): void {
    this.#following?.abort()
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let connections = 0
    while (!signal.aborted) {
      try {
        await this.#listen(signal, () => {
          if (connections++ > 0) this.#began()
        })
      } catch (error) {
        if (signal.aborted) return
        this.#log.debug({ err: error }, 'the console of the leader sends no events')
      }
      await pauseOn(clusterTimes.eventsAgain, { signal, ref: false })
    }
  }

  /** Receives events over one connection. Resolves when the connection has ended. */
  async #listen(signal: AbortSignal, open: () => void): Promise<void> {
    const target = await this.#resolver.next('console', monotonic() + clusterTimes.eventsLeader, signal)
    if (target === undefined) return
    const { promise: connected, resolve, reject } = Promise.withResolvers<Socket>()
    connectToLeader(target.port, (error, socket) => {
      if (error === null) return resolve(socket)
      this.#resolver.refused('console', target, error.message)
      reject(error)
    })
    const socket = await connected
    const headers = this.#console.headersForEvents(target.id)
    const client = new WebSocket('ws://localhost/ws', {
      createConnection: () => socket,
      headers,
      maxPayload: maxBytes,
    })
    const end = (): void => client.terminate()
    const ends = AbortSignal.any([signal, target.gone, target.cut])
    const unregister = onAbort(ends, end)
    let silent = startTimer(clusterTimes.eventsSilent, end, false)
    const alive = (): void => {
      silent.cancel()
      silent = startTimer(clusterTimes.eventsSilent, end, false)
    }
    const closed = new Promise<void>((done) => client.once('close', () => done()))
    client.on('error', end)
    client.on('ping', alive)
    client.once('open', open)
    client.on('message', (data: Buffer) => {
      alive()
      this.#notify(data.toString('utf8'))
    })
    await closed
    silent.cancel()
    unregister()
  }

  #notify(message: string): void {
    const { event: name, payload } = JSON.parse(message) as { event?: string; payload?: unknown }
    // Every controller sends its own `controllers.changed`, because the contents differ.
    if (name === undefined || !Object.hasOwn(events, name) || name === 'controllers.changed') return
    if (!this.#mayShow()) {
      this.#withheld = true
      return
    }
    if (this.#withheld) {
      this.#withheld = false
      return this.#began()
    }
    const known = name as EventName
    this.#hub.emit(known, payload as EventPayload<typeof known>)
  }
}
