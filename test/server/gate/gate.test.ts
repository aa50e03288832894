import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import Koa from 'koa'
import { expect, onTestFinished, test } from 'vitest'
import { EdgeServer } from '../../../server/edge/server.ts'
import { connectionLimits } from '../../../server/edge/limits.ts'
import { type Gated, proven, provenPage, unproven } from '../../../server/gate/gate.ts'

test('A proven handler runs at once while the proof is valid, after a pending proof, and not at all without one', async () => {
  const answers: (string | Promise<string>)[] = ['view']
  const ask = proven(
    { confirmed: () => answers.shift() ?? Promise.reject(new Error('another controller leads')) },
    (view: string, question: string) => `${view} ${question}`,
    (error, [question]) => `refused ${question}: ${String(error)}`,
  )
  // No promise: the hot path.
  expect(ask('one')).toBe('view one')
  const later = Promise.withResolvers<string>()
  answers.push(later.promise)
  const second = ask('two')
  later.resolve('late view')
  expect(await second).toBe('late view two')
  expect(await ask('three')).toBe('refused three: Error: another controller leads')
})

test('An error of a proven handler is not taken for a missing proof', async () => {
  const ask = proven(
    { confirmed: () => Promise.resolve('view') },
    (): string => {
      throw new TypeError('broken')
    },
    () => 'refused',
  )
  await expect(Promise.resolve(ask())).rejects.toThrow(TypeError)
})

test('A port accepts no handler that does not declare whether it reads the state', () => {
  const plain = (_request: IncomingMessage, response: ServerResponse): void => void response.end()
  const options = { name: 'test', log: { warn() {}, error() {} }, limits: connectionLimits.api, maxHeaderSize: 8_192 }
  // @ts-expect-error: a plain function is not gated.
  const refused = (): EdgeServer => new EdgeServer({ ...options, request: plain })
  expect(refused).toBeTypeOf('function')
  // @ts-expect-error: neither is one that claims to be.
  const claimed: Gated<typeof plain> = Object.assign(plain, { gated: true })
  expect(claimed).toBeTypeOf('function')
  expect(new EdgeServer({ ...options, request: unproven('no state', plain) }).url).toBe('')
})

test('A page without proof answers 503 with a retry time; a long answer is cut off when the lease ends', async () => {
  const lease = new AbortController()
  let confirmed: () => string | Promise<string> = () => 'view'
  const app = new Koa()
  app.silent = true
  app.use(
    provenPage(
      { confirmed: () => confirmed(), signal: () => lease.signal },
      (path) => path === '/',
      async (view, context) => {
        context.respond = false
        context.res.write(view)
        await once(context.res, 'close')
      },
    ),
  )
  const server = createServer(app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`
  const stream = await fetch(url)
  const read = stream.text()
  lease.abort()
  await expect(read).rejects.toThrow()
  confirmed = () => Promise.reject(new Error('another controller leads'))
  const refused = await fetch(url)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
})
