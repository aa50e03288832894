import { Agent as HttpAgent, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { NodeConnectionError, NodeError } from '../../port/media-node-port.ts'
import { JanusError } from './janus-error.ts'
import type { JanusPlugin } from './janus-handle.ts'
import type { Confirms } from '../../secrets/janus-access.ts'
import { stillLeads } from './still-leads.ts'

/** Fields of a request or an answer. */
export type JanusFields = Readonly<Record<string, unknown>>

/** Requests to plugins that need no handle. */
export interface PluginRequests {
  /**
   * Sends a request to a plugin.
   * @throws JanusError with the code of the plugin or the core; NodeConnectionError; NodeError; the signal's reason
   */
  askPlugin(plugin: JanusPlugin, request: JanusFields, signal: AbortSignal): Promise<JanusFields>
  /**
   * Returns the node's version, plugins and required secrets.
   * @throws the errors of `askPlugin`
   */
  info(signal: AbortSignal): Promise<JanusFields>
}

export interface AdminApiOptions {
  /** `http://host:port/admin`, without a trailing slash. */
  url: string
  /** Admin secret; empty: no secret is sent. */
  secret: string
  /** Leadership of this controller, checked before each request. */
  leadership: Confirms
}

/** Maximum number of connections. Further requests are queued; Janus answers each in less than a millisecond. */
const maxConnections = 32
/** Maximum size of an answer, in bytes. The largest answer is a list of all rooms. */
const maxBytes = 32 * 1024 * 1024

const errorSchema = z.object({ code: z.number(), reason: z.string() })
const answerSchema = z.looseObject({ janus: z.string(), error: errorSchema.optional() })
const responseSchema = z.record(z.string(), z.unknown())
const refusalSchema = z.looseObject({ error_code: z.number(), error: z.string().default('no reason given') })

/**
 * The Admin API of one Janus. Its requests are independent, without a session. Connections are kept alive and shared.
 */
export class AdminApi implements PluginRequests {
  readonly #url: URL
  readonly #secret: string
  readonly #leadership: Confirms
  readonly #agent: HttpAgent

  constructor({ url, secret, leadership }: AdminApiOptions) {
    this.#leadership = leadership
    this.#url = new URL(url)
    this.#secret = secret
    const options = { keepAlive: true, maxSockets: maxConnections }
    this.#agent = this.#url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
  }

  async askPlugin(plugin: JanusPlugin, request: JanusFields, signal: AbortSignal): Promise<JanusFields> {
    const answer = await this.ask({ janus: 'message_plugin', plugin, request }, signal)
    const response = responseSchema.safeParse(answer.response)
    if (!response.success) throw new NodeError('its plugin answered nothing')
    const refused = refusalSchema.safeParse(response.data)
    if (refused.success) throw new JanusError(refused.data.error_code, refused.data.error)
    return response.data
  }

  info(signal: AbortSignal): Promise<JanusFields> {
    return this.ask({ janus: 'info' }, signal)
  }

  /**
   * Sends a request to the core.
   * @param path path with the ids of a session and a handle, e.g. `/123/456`
   * @throws JanusError; NodeConnectionError; NodeError; the signal's reason
   */
  async ask(request: JanusFields & { janus: string }, signal: AbortSignal, path = ''): Promise<JanusFields> {
    await stillLeads(this.#leadership, signal)
    const transaction = randomBytes(6).toString('base64url')
    const secret = this.#secret === '' ? {} : { admin_secret: this.#secret }
    const text = await this.#send(JSON.stringify({ ...request, ...secret, transaction }), signal, path)
    const answer = answerSchema.safeParse(parseJson(text))
    if (!answer.success) throw new NodeError('what answers at its admin_url is not the Admin API of Janus')
    const { janus, error } = answer.data
    if (janus === 'error')
      throw error === undefined
        ? new NodeError('it refused without a reason')
        : new JanusError(error.code, error.reason)
    return answer.data
  }

  close(): void {
    this.#agent.destroy()
  }

  async #send(body: string, signal: AbortSignal, path: string): Promise<string> {
    try {
      return await this.#post(body, signal, path)
    } catch (error) {
      // The node closed an idle connection at the moment of the request, and did not handle the request. The request is
      // sent again on another connection.
      if (!(error instanceof StaleConnection)) throw error
      return await this.#post(body, signal, path)
    }
  }

  #post(body: string, signal: AbortSignal, path: string): Promise<string> {
    signal.throwIfAborted()
    const { protocol, pathname, search } = this.#url
    const options: RequestOptions = {
      agent: this.#agent,
      method: 'POST',
      path: `${pathname.replace(/\/$/, '')}${path}${search}`,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        // A node that checks origins rejects requests without an origin.
        origin: this.#url.origin,
      },
      signal,
    }
    return new Promise((resolve, reject) => {
      const send = protocol === 'https:' ? httpsRequest : httpRequest
      const sent = send(this.#url, options, (response) => {
        readAll(response).then(resolve, (error: unknown) => reject(failureOf(error, signal)))
      })
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const stale = sent.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted
        reject(stale ? new StaleConnection(error.message) : failureOf(error, signal))
      })
      sent.end(body)
    })
  }
}

class StaleConnection extends NodeConnectionError {}

function failureOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof NodeError) return error
  return new NodeConnectionError(error instanceof Error ? error.message : 'it ended', { cause: error })
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) {
      response.destroy()
      throw new NodeError('its answer is too long')
    }
    chunks.push(chunk)
  }
  const { statusCode = 0 } = response
  // Janus answers 200 to every request that it can parse.
  if (statusCode !== 200) throw new NodeError(`its admin_url answers HTTP ${statusCode}`)
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
