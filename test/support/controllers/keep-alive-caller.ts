import http, { type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Kept connections per client and address. */
const connections = 2

/** Result of a request. `nobody`: the connection was refused. `cut`: it ended or stayed silent before an answer was complete. */
export type Reply = { as: 'answer'; status: number; body: string } | { as: 'nobody' } | { as: 'cut' }

/** Sends requests over connections that stay open, as clients with many calls do; chooses among them by chance. */
export class KeepAliveCaller {
  readonly #agents = Array.from({ length: connections }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }))
  readonly #random: () => number
  readonly #givesUpMs: number

  /** @param givesUpMs timeout of an answer */
  constructor(random: () => number, givesUpMs: number) {
    this.#random = random
    this.#givesUpMs = givesUpMs
  }

  async call(url: string, post?: { body: string; headers: Record<string, string> }): Promise<Reply> {
    const agent = this.#agents[Math.floor(this.#random() * connections)]
    const request = http.request(url, {
      method: post === undefined ? 'GET' : 'POST',
      ...(agent === undefined ? {} : { agent }),
      ...(post === undefined ? {} : { headers: post.headers }),
    })
    const late = setTimeout(() => request.destroy(new Error('no answer')), this.#givesUpMs)
    try {
      request.end(post?.body)
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      return { as: 'answer', status: response.statusCode ?? 0, body: await text(response) }
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
        ? { as: 'nobody' }
        : { as: 'cut' }
    } finally {
      clearTimeout(late)
    }
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy()
  }
}
