import { onAbort } from '../../shared/abort.ts'
import { type ClientRequest, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import { monotonic, pauseOn, startTimer } from '../store/system/time.ts'
import { clientAddress } from '../edge/client-address.ts'
import { addressShare } from '../../shared/client-address.ts'
import { limits } from '../../shared/limits.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import { endToEnd, headerOf, notLeader, passedOnHeader, provenRequest, refuseAsNotLeader } from '../edge/passed-on.ts'
import { maxCoveredBody, type RequestProof } from '../edge/request-proof.ts'
import { drain } from '../edge/unread-body.ts'
import type { ListenerName } from '../http/listeners.ts'
import type { PassToLeader } from '../http/request-handler.ts'
import { PoolEndedError } from '../nodes/pool/state/pool-lifetime.ts'
import { HandedOverError } from '../store/postgres/database-error.ts'
import { doesNotLead, type LeaderResolver, type LeaderTarget, watchUnanswered } from './leader-resolver.ts'
import { ShareGate } from './share-gate.ts'
import { clusterTimes } from '../store/election/timings.ts'

/**
 * Maximum number of requests under way to one port of the leader, per client address: of all requests, and of requests
 * with streamed bodies. Further requests wait. The leader accepts 2,000.
 */
const maxPerAddress = 1_000
const maxStreamsPerAddress = 200

/**
 * Maximum size of bodies without a Content-Length, in bytes. For the APIs, a longer body is cut, and the leader rejects
 * it with an API error. On other ports, this controller refuses the request.
 */
const apiBodies = { maxChunked: limits.requestBody, cut: true }
const otherBodies = { maxChunked: 256 * 1024, cut: false }

/**
 * Outcome of a request. `noLeader`: no controller leads, nothing was done. `lost`: the request was forwarded, but its
 * execution is uncertain. `gone`: the client disconnected.
 */
type PassedOn = 'answered' | 'noLeader' | 'lost' | 'gone'

/** Outcome of one attempt. `unreached`: the request was not sent, or its receiver ignored it. */
type Attempt = 'answered' | 'unreached' | 'lost' | 'gone'

interface Passing {
  listener: ListenerName
  /** Whether the request may be repeated after its answer was lost. */
  safe: boolean
  /** Maximum wait for a leader, in milliseconds. */
  waitMs: number
  /** Maximum time for the leader's answer, in milliseconds. undefined: no limit while the leader is reachable. */
  answerMs?: number
  /** Body of the request, if it was read already. */
  body?: Buffer | undefined
}

/** Forwards requests to the leader, and returns its answers. */
export class ReverseProxy {
  readonly #resolver: LeaderResolver
  readonly #proof: RequestProof
  readonly #connections = new ShareGate(maxPerAddress)
  readonly #streams = new ShareGate(maxStreamsPerAddress)
  /** Numbers of answered and of unanswered requests. */
  readonly counts = { answered: 0, refused: 0 }

  constructor(resolver: LeaderResolver, proof: RequestProof) {
    this.#resolver = resolver
    this.#proof = proof
  }

  /** Forwards a request. Writes an answer only if the result is `answered`. Never rejects. */
  async request(request: IncomingMessage, response: ServerResponse, passing: Passing): Promise<PassedOn> {
    const left = new AbortController()
    const onClose = (): void => left.abort()
    response.once('close', onClose)
    try {
      const result = await this.#pass(request, response, passing, left.signal)
      this.counts[result === 'answered' ? 'answered' : 'refused'] += 1
      return result
    } catch (error) {
      if (left.signal.aborted) return 'gone'
      throw error
    } finally {
      response.off('close', onClose)
    }
  }

  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    { listener, safe, waitMs, answerMs = Infinity, body: read }: Passing,
    left: AbortSignal,
  ): Promise<PassedOn> {
    const api = listener === 'media' || listener === 'device'
    const found = read ?? (await readAhead(request, api ? apiBodies : otherBodies, left))
    if (found === 'tooLong') {
      refuseTooLong(request, response)
      return 'answered'
    }
    const body = found === 'streamed' ? undefined : found
    const deadline = monotonic() + waitMs
    const share = `${listener} ${addressShare(clientAddress(request))}`
    const gates = body === undefined ? [this.#streams, this.#connections] : [this.#connections]
    const entered: ShareGate[] = []
    try {
      for (const gate of gates) {
        if (!(await gate.take(share, deadline, left))) return 'noLeader'
        entered.push(gate)
      }
      const times = { deadline, answerBy: monotonic() + answerMs }
      return await this.#passWith(body, request, response, { listener, safe, ...times }, left)
    } finally {
      for (const gate of entered) gate.leave(share)
    }
  }

  async #passWith(
    body: Buffer | undefined,
    request: IncomingMessage,
    response: ServerResponse,
    { listener, safe, deadline, answerBy }: Pick<Passing, 'listener' | 'safe'> & { deadline: number; answerBy: number },
    left: AbortSignal,
  ): Promise<PassedOn> {
    const passedOnBefore = provenRequest(request) !== undefined
    for (;;) {
      const target = await this.#resolver.next(listener, deadline, left)
      if (target === undefined) return 'noLeader'
      if (passedOnBefore && !target.own) {
        refuseAsNotLeader(request, response)
        return 'answered'
      }
      const attempt = await this.#attempt(target, request, response, { listener, safe, body, left, answerBy })
      if (attempt === 'answered' || attempt === 'gone') return attempt
      const again = attempt === 'unreached' || (safe && body !== undefined)
      if (!again || response.headersSent) return 'lost'
      // A timer may fire slightly early.
      if (monotonic() + 1 >= answerBy) return attempt === 'unreached' ? 'noLeader' : 'lost'
      if (attempt === 'lost') await pauseUnless(target.gone)
    }
  }

  #attempt(
    target: LeaderTarget,
    request: IncomingMessage,
    response: ServerResponse,
    {
      listener,
      safe,
      body,
      left,
      answerBy,
    }: Pick<Passing, 'listener' | 'safe'> & { body: Buffer | undefined; left: AbortSignal; answerBy: number },
  ): Promise<Attempt> {
    const { method = 'GET', url = '/' } = request
    const passed = endToEnd(request.rawHeaders)
    // A chunked body has been read completely, so its length is known.
    if (headerOf(request.rawHeaders, 'content-length') === undefined && body !== undefined && body.length > 0)
      passed.push('Content-Length', String(body.length))
    const { agent, port, id: receiver } = target
    const proof = this.#proof.valueFor({
      ...{ receiver, listener, method, target: url, headers: passed, client: clientAddress(request) },
      body: body ?? null,
    })
    const headers = [passedOnHeader, proof, ...passed]
    const { host, port: number } = port
    const { promise, resolve } = Promise.withResolvers<Attempt>()
    const outgoing = send({ agent, host, port: number, method, path: url, headers })
    let reached = false
    let answered = false
    const fail = (): void => {
      outgoing.destroy()
      resolve(left.aborted ? 'gone' : reached ? 'lost' : 'unreached')
    }
    const fenced = (): void => {
      if (answered) return
      // The previous leader still answers a request that it has already stored.
      if (safe || !reached) fail()
      else startTimer(clusterTimes.lastAnswer, () => !answered && fail(), false)
    }
    const clientLeft = (): void => {
      outgoing.destroy()
      resolve('gone')
    }
    const late =
      answerBy === Infinity ? undefined : startTimer(answerBy - monotonic(), () => !answered && fail(), false)
    const endWatch = watchUnanswered({
      ...{ resolver: this.#resolver, listener, target },
      // The rest of a partial answer will not arrive.
      cut: () => (answered ? outgoing.destroy() : fail()),
    })
    const unregister = [onAbort(left, clientLeft), onAbort(target.gone, fenced)]
    outgoing.once('socket', () => {
      reached = true
      if (body === undefined) request.pipe(outgoing)
    })
    outgoing.on('error', (error) => {
      if (answered) return
      if (!reached) this.#resolver.refused(listener, target, error.message)
      fail()
    })
    outgoing.once('response', (answer) => {
      answered = true
      if (headerOf(answer.rawHeaders, notLeader.toLowerCase()) !== undefined) {
        answer.resume()
        this.#resolver.refused(listener, target, doesNotLead)
        resolve(body === undefined ? 'lost' : 'unreached')
        return
      }
      if (body === undefined) request.unpipe(outgoing)
      mustNotFail(answerWith(answer, request, response).then(() => resolve('answered')))
    })
    if (body !== undefined) endWith(outgoing, body)
    return promise.finally(() => {
      late?.cancel()
      endWatch()
      for (const each of unregister) each()
    })
  }
}

/**
 * Returns a handler for requests that reach a controller that has just stepped down. The handler refuses requests
 * forwarded by another controller, and forwards requests of its own clients to the new leader.
 */
export function passToLeader(passOn: ReverseProxy, waitMs: () => number): PassToLeader {
  return (request, response, { listener, safe, error, body }) => {
    // Only after a handover error nothing was stored; after any other error, the request may have changed the store.
    if (error !== undefined && !isHandedOver(error)) return undefined
    if (provenRequest(request) !== undefined) {
      refuseAsNotLeader(request, response)
      return Promise.resolve(true)
    }
    const passed = passOn.request(request, response, { listener, safe, waitMs: waitMs(), body })
    return passed.then((result) => result === 'answered' || result === 'gone')
  }
}

/**
 * Whether a change failed because the site was being handed over: the change was never sent to the database, or its
 * media node had been released.
 */
function isHandedOver(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return error instanceof HandedOverError || error instanceof PoolEndedError || isHandedOver(error.cause)
}

function refuseTooLong(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(413, { 'content-length': 0, connection: 'close' })
  drain(request, response)
}

function endWith(outgoing: ClientRequest, body: Buffer): void {
  if (body.length === 0) outgoing.end()
  else outgoing.end(body)
}

/**
 * Writes the leader's answer to the client. Resolves when the answer is written, or can no longer be written. If the
 * leader's answer breaks off, the client's connection is closed.
 */
function answerWith(answer: IncomingMessage, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = endToEnd(answer.rawHeaders)
  if (/\bclose\b/i.test(headerOf(answer.rawHeaders, 'connection') ?? '')) headers.push('Connection', 'close')
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', headers)
  return new Promise((resolve) => {
    const brokenOff = (): void => {
      if (answer.complete) return
      answer.destroy()
      response.destroy()
      resolve()
    }
    response.once('close', () => {
      answer.destroy()
      resolve()
    })
    answer.on('error', brokenOff)
    answer.once('close', brokenOff)
    answer.once('end', () => {
      // The rest of the request is read for a moment, so that the client can receive the answer.
      if (request.complete) response.end()
      else drain(request, response)
    })
    answer.pipe(response, { end: false })
  })
}

/** Pauses between attempts, so that a leader that fails repeatedly is not called in a tight loop. */
async function pauseUnless(gone: AbortSignal): Promise<void> {
  if (gone.aborted) return
  await pauseOn(20, { signal: gone, ref: false })
}

const noBody = Buffer.alloc(0)

/**
 * Reads a body before its request uses a connection to the leader. Slow clients therefore occupy no connection, and the
 * body can be signed and sent again.
 * @param options `cut`: whether a body above `maxChunked` is returned truncated, but longer than the limit, so that the
 * receiver rejects it
 * @returns `streamed`: the Content-Length is too large to keep the body in memory; `tooLong`: a body without
 * Content-Length is larger than `maxChunked` bytes
 * @throws the abort reason of `left`
 */
async function readAhead(
  request: IncomingMessage,
  { maxChunked, cut }: { maxChunked: number; cut: boolean },
  left: AbortSignal,
): Promise<Buffer | 'streamed' | 'tooLong'> {
  const chunked = headerOf(request.rawHeaders, 'transfer-encoding') !== undefined
  const length = Number(headerOf(request.rawHeaders, 'content-length') ?? 0)
  if (!chunked && length === 0) return noBody
  if (!chunked && !(length <= maxCoveredBody)) return 'streamed'
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | 'tooLong'>()
  const chunks: Buffer[] = []
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes - chunk.length > maxChunked) return
    chunks.push(chunk)
    if (bytes > maxChunked && chunked) resolve(cut ? Buffer.concat(chunks) : 'tooLong')
  })
  request.once('end', () => resolve(Buffer.concat(chunks)))
  return await promise.finally(onAbort(left, () => reject(left.reason)))
}
