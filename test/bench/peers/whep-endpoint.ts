import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** One viewer's session with a peer. */
export interface PeerSession {
  /** The peer's answer, or its offer if it sends one. */
  sdp: string
  /** Takes the viewer's answer to its offer. */
  answer(sdp: string): Promise<void>
  end(): Promise<void>
}

const pageFolder = join(import.meta.dirname, '../../support/media/page')
const types: Readonly<Record<string, string>> = { 'index.html': 'text/html', 'client.js': 'text/javascript' }

/** Gives a peer the interface of our viewers: WHEP, and the page for viewers. */
export class WhepEndpoint implements AsyncDisposable {
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch((error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    })
  })
  readonly #open: (offer: string) => Promise<PeerSession>
  readonly #sessions = new Map<string, PeerSession>()

  /** @param open called with a viewer's offer; empty if the peer sends the offer */
  private constructor(open: (offer: string) => Promise<PeerSession>) {
    this.#open = open
  }

  static async listen(open: (offer: string) => Promise<PeerSession>): Promise<WhepEndpoint> {
    const endpoint = new WhepEndpoint(open)
    await new Promise<void>((resolve) => endpoint.#server.listen(0, '127.0.0.1', resolve))
    return endpoint
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    if (request.method === 'GET') {
      const name = path === '/room/' ? 'index.html' : path.slice('/room/'.length)
      const type = types[name]
      if (type === undefined) return void response.writeHead(404).end()
      return void response.writeHead(200, { 'content-type': type }).end(await readFile(join(pageFolder, name)))
    }
    const body = await bodyOf(request)
    if (request.method === 'POST') {
      const session = await this.#open(body)
      const location = `/session/${this.#sessions.size + 1}`
      this.#sessions.set(location, session)
      return void response.writeHead(201, { 'content-type': 'application/sdp', location }).end(session.sdp)
    }
    const session = this.#sessions.get(path)
    if (session === undefined) return void response.writeHead(404).end()
    if (request.method === 'DELETE') await session.end()
    else if (body !== '') await session.answer(body)
    response.writeHead(request.method === 'DELETE' ? 200 : 204).end()
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
  return text
}
