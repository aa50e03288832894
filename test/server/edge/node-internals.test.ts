import { once } from 'node:events'
import { Agent, createServer, get, request as send, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { stopAccepting, watchBody } from '../../../server/edge/node-internals.ts'

async function listening(listener: RequestListener): Promise<{ url: string; server: ReturnType<typeof createServer> }> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

test('a port that stops accepting still answers on a connection that was idle, and refuses new ones', async () => {
  const { server, url } = await listening((_, response) => response.end('answered'))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ask = (options: object): Promise<string> =>
    new Promise((resolve, reject) => get(url, options, (response) => resolve(text(response))).once('error', reject))
  expect(await ask({ agent })).toBe('answered')
  let isClosed = false
  const closed = stopAccepting(server).then(() => (isClosed = true))
  expect(await ask({ agent })).toBe('answered')
  await expect(ask({ agent: false })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(isClosed).toBe(false)
  agent.destroy()
  await closed
})

test('each piece of a body is seen before it can be read, and a refused end never arrives', async () => {
  const seen: string[] = []
  let accepts = true
  const { url } = await listening((request, response) => {
    watchBody(request, (piece) => {
      seen.push(piece === null ? 'end' : piece.toString())
      if (piece === null && !accepts) request.destroy()
      return piece !== null || accepts
    })
    text(request).then(
      (body) => response.end(body),
      () => response.destroy(),
    )
  })
  const post = (): Promise<string> =>
    new Promise((resolve, reject) => {
      send(url, { method: 'POST', agent: false }, (response) => resolve(text(response)))
        .once('error', reject)
        .end('a body')
    })
  expect(await post()).toBe('a body')
  expect([seen.slice(0, -1).join(''), seen.at(-1)]).toEqual(['a body', 'end'])
  accepts = false
  await expect(post()).rejects.toThrow()
})
