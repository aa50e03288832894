import { onAbort } from '../../shared/abort.ts'
import { type IncomingMessage, request as send } from 'node:http'
import type { Duplex } from 'node:stream'
import { monotonic, startTimer } from '../store/system/time.ts'
import { clientAddress } from '../edge/client-address.ts'
import { refuseSocket } from '../edge/guards.ts'
import { endToEnd, headerOf, passedOnHeader, provenRequest } from '../edge/passed-on.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import type { ListenerName } from '../http/listeners.ts'
import { type LeaderResolver, type LeaderTarget, watchUnanswered } from './leader-resolver.ts'
import { clusterTimes } from '../store/election/timings.ts'

/**
 * Forwards upgraded connections (WebSocket) to the leader: copies bytes in both directions, and closes both sides when
 * one side ends.
 */
export class UpgradeProxy {
  readonly #resolver: LeaderResolver
  readonly #proof: RequestProof
  readonly #open = new Set<Duplex>()

  constructor(resolver: LeaderResolver, proof: RequestProof) {
    this.#resolver = resolver
    this.#proof = proof
  }

  /** Forwards a connection; without a leader, waits up to `waitMs` milliseconds. Never throws. */
  async pass(
    listener: ListenerName,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    waitMs: number,
  ): Promise<void> {
    const left = new AbortController()
    socket.once('close', () => left.abort())
    const deadline = monotonic() + waitMs
    try {
      for (;;) {
        const target = await this.#resolver.next(listener, deadline, left.signal)
        if (target === undefined || (provenRequest(request) !== undefined && !target.own))
          return refuseSocket(socket, '503 Service Unavailable')
        if (await this.#attempt(listener, target, request, socket, head)) return
      }
    } catch {
      // The client disconnected.
      socket.destroy()
    }
  }

  /** Closes all open connections. */
  close(): void {
    for (const socket of this.#open) socket.destroy()
  }

  /**
   * Tries to forward the connection to one leader.
   * @returns false: the request was not sent
   */
  #attempt(
    listener: ListenerName,
    target: LeaderTarget,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<boolean> {
    const { agent, port } = target
    const { method = 'GET', url = '/' } = request
    const passed = endToEnd(request.rawHeaders)
    const proof = this.#proof.valueFor({
      receiver: target.id,
      ...{ listener, method, target: url, headers: passed, client: clientAddress(request), body: undefined },
    })
    const headers = [
      passedOnHeader,
      proof,
      ...passed,
      'Connection',
      'Upgrade',
      'Upgrade',
      headerOf(request.rawHeaders, 'upgrade') ?? 'websocket',
    ]
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const outgoing = send({
      agent,
      host: port.host,
      port: port.port,
      method,
      path: url,
      headers,
    })
    let reached = false
    const endWatch = watchUnanswered({ resolver: this.#resolver, listener, target, cut: () => outgoing.destroy() })
    const late = startTimer(clusterTimes.upgrade, () => outgoing.destroy(), false)
    const clientLeft = (): void => void outgoing.destroy()
    socket.once('close', clientLeft)
    outgoing.once('socket', () => {
      reached = true
    })
    outgoing.once('error', (error) => {
      if (reached) socket.destroy()
      else this.#resolver.refused(listener, target, error.message)
      socket.off('close', clientLeft)
      resolve(reached || socket.destroyed)
    })
    outgoing.once('upgrade', (answer, leader, first) => {
      socket.off('close', clientLeft)
      socket.write(headOf(answer, answer.rawHeaders))
      this.#join(socket, leader, head, first)
      // If the leader's machine is down, its connections do not report their end.
      const gone = (): void => void leader.destroy()
      for (const signal of [target.gone, target.cut]) {
        leader.once('close', onAbort(signal, gone))
      }
      resolve(true)
    })
    outgoing.once('response', (answer) => {
      socket.write(headOf(answer, [...endToEnd(answer.rawHeaders), 'Connection', 'close']))
      answer.on('error', () => socket.destroy())
      answer.pipe(socket)
      resolve(true)
    })
    outgoing.end()
    return promise.finally(() => {
      late.cancel()
      endWatch()
    })
  }

  #join(socket: Duplex, leader: Duplex, head: Buffer, first: Buffer): void {
    this.#open.add(socket)
    const over = (): void => {
      this.#open.delete(socket)
      socket.destroy()
      leader.destroy()
    }
    for (const end of [socket, leader]) {
      end.on('error', over)
      end.once('close', over)
    }
    if (first.length > 0) socket.write(first)
    if (head.length > 0) leader.write(head)
    socket.pipe(leader)
    leader.pipe(socket)
  }
}

function headOf({ statusCode = 502, statusMessage = '' }: IncomingMessage, headers: readonly string[]): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
