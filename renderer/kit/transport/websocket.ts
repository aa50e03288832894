import type { ConsoleEvent } from '../../../shared/console/contract.ts'
import type { ConsoleResult } from '../../../shared/domain/outcome.ts'
import { offeredSubprotocols } from '../../../shared/console/session-halves.ts'
import { pageHalf } from './page-half.ts'
import { speaksTls } from './secure-origin.ts'
import { sessionState } from './session.ts'
import { CallError, type ConnectionState, isResult, listeners, type Transport } from './transport.ts'

/** Options of the transport; the defaults are the browser's. */
export interface WebSocketOptions {
  url?: string
  /** Delay before the first reconnection, in milliseconds; doubles up to `maxWait`. */
  firstWait?: number
  maxWait?: number
  session?: typeof sessionState
}

/** Timeouts of a call and of a connection, in milliseconds. */
const callMs = 15_000
const connectMs = 10_000
/** Delay before another attempt while too many consoles are open, in milliseconds. */
const crowdedMs = 30_000
/** Close code for a connection over the limit (server/console/console-socket.ts). */
const tooMany = 4429

interface Waiting {
  resolve(result: ConsoleResult<unknown>): void
  reject(error: CallError): void
  timer: number
}

/** The browser's transport, over the WebSocket of the headless console at the page's own origin. */
export function webSocketTransport(options: WebSocketOptions = {}): Transport {
  const url = options.url ?? `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`
  const { firstWait = 500, maxWait = 10_000, session = sessionState } = options
  const events = listeners<ConsoleEvent>()
  const states = listeners<ConnectionState>()
  const waiting = new Map<number, Waiting>()
  /** Calls made before the first connection. */
  let queue: string[] = []
  let state: ConnectionState = 'connecting'
  let socket: WebSocket | null = null
  let nextId = 1
  let wait = firstWait
  let retry = 0
  let closed = false
  let hasArrived = false

  function become(next: ConnectionState): void {
    if (state === next) return
    state = next
    states.tell(next)
  }

  function failAll(message: string): void {
    queue = []
    for (const [id, call] of waiting) {
      clearTimeout(call.timer)
      waiting.delete(id)
      call.reject(new CallError('offline', message))
    }
  }

  function receive(data: unknown): void {
    const message = parse(data)
    if (!message) return
    if (typeof message.id === 'number') {
      const call = waiting.get(message.id)
      if (!call) return
      waiting.delete(message.id)
      clearTimeout(call.timer)
      if (isResult(message.result)) call.resolve(message.result)
      else call.reject(new CallError('internal', 'The answer is malformed.'))
      return
    }
    // The controller validates its events against the contract; both sides belong to one build.
    if (typeof message.event === 'string') {
      events.tell({ name: message.event, payload: message.payload } as ConsoleEvent)
    }
  }

  async function lost(code: number): Promise<void> {
    socket = null
    failAll('The connection to the controller was lost.')
    if (closed) return
    if (code === tooMany) {
      become('crowded')
      clearTimeout(retry)
      retry = window.setTimeout(open, crowdedMs)
      return
    }
    if (state === 'online') become('lost')
    // The console port uses TLS now.
    if (options.url === undefined && (await speaksTls(`${location.origin}/`))) {
      location.replace(location.href.replace(/^http:/, 'https:'))
      return
    }
    if ((await session()) === 'signed_out') {
      become('signed_out')
      return
    }
    if (closed || socket) return
    if (state !== 'connecting' && state !== 'crowded') become('lost')
    const spread = wait * (0.75 + Math.random() / 2)
    wait = Math.min(wait * 2, maxWait)
    clearTimeout(retry)
    retry = window.setTimeout(open, spread)
  }

  /** Opens the first connection of a page, unless there is no session: browsers report refused WebSockets as errors. */
  async function arrive(): Promise<void> {
    const isSignedOut = pageHalf() === '' || (await session()) === 'signed_out'
    if (isSignedOut && !socket && !closed) become('signed_out')
    else open()
  }

  function open(): void {
    clearTimeout(retry)
    if (socket || closed) return
    if (state === 'signed_out') become('connecting')
    const mine = new WebSocket(url, offeredSubprotocols(pageHalf()))
    socket = mine
    const timer = window.setTimeout(() => mine.close(), connectMs)
    mine.addEventListener('open', () => {
      clearTimeout(timer)
      wait = firstWait
      for (const text of queue) mine.send(text)
      queue = []
      become('online')
    })
    mine.addEventListener('message', (event: MessageEvent<unknown>) => receive(event.data))
    mine.addEventListener('close', ({ code }) => {
      clearTimeout(timer)
      if (socket === mine) void lost(code)
    })
  }

  // The system reports that the network is back: connects without waiting for the next attempt.
  window.addEventListener('online', open)

  return {
    kind: 'websocket',
    call(name, input) {
      return new Promise((resolve, reject) => {
        if (state === 'lost' || state === 'crowded' || state === 'signed_out' || closed) {
          reject(new CallError('offline', 'The controller cannot be reached.'))
          return
        }
        const id = nextId++
        const timer = window.setTimeout(() => {
          waiting.delete(id)
          reject(new CallError('timeout', `${name} was not answered within ${callMs / 1000} s.`))
        }, callMs)
        waiting.set(id, { resolve, reject, timer })
        const text = JSON.stringify({ id, procedure: name, input })
        if (socket?.readyState === WebSocket.OPEN) socket.send(text)
        else queue.push(text)
      })
    },
    onEvent: events.add,
    state: () => state,
    onState: states.add,
    open: () => {
      if (options.url === undefined && !hasArrived) void arrive()
      else open()
      hasArrived = true
    },
    close() {
      closed = true
      clearTimeout(retry)
      window.removeEventListener('online', open)
      failAll('The console was closed.')
      socket?.close()
    },
  }
}

function parse(data: unknown): Record<string, unknown> | null {
  if (typeof data !== 'string') return null
  try {
    const message: unknown = JSON.parse(data)
    return typeof message === 'object' && message !== null ? { ...message } : null
  } catch {
    return null
  }
}
