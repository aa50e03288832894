import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { client, openPort, rest } from './open-port.ts'

const request = 'GET / HTTP/1.1\r\nHost: t\r\n\r\n'

/** Tells whether a connection is answered. */
async function answered(port: number, from?: string): Promise<boolean> {
  const socket = await client(port, from)
  socket.write(request)
  const [data] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as unknown[]
  socket.destroy()
  return String(data).startsWith('HTTP/1.1 200')
}

test('when a port is full of silent connections, the oldest are closed and a new client is answered at once', async () => {
  const { server, port } = await openPort({ limits: { connections: 20, perAddress: 10 } })
  const oldest = await client(port)
  const gone = once(oldest, 'close')
  for (let made = 1; made < 10; made++) await client(port)
  await expect.poll(() => server.connections).toBe(10)
  expect(await answered(port)).toBe(true)
  await gone
  expect(server.connections).toBeLessThanOrEqual(10)
})

test('one address never gets more than its share: others connect without closing any connection', async () => {
  const { server, port } = await openPort({ limits: { connections: 20, perAddress: 10 } })
  for (let made = 0; made < 30; made++) await client(port, '127.0.0.2')
  await expect.poll(() => server.connections).toBe(10)
  for (let made = 0; made < 10; made++) await client(port, '127.0.0.3')
  await expect.poll(() => server.connections).toBe(20)
  expect(await answered(port, '127.0.0.4')).toBe(true)
})

test('when many addresses fill a port, connections of the address with the most are closed', async () => {
  const { server, port } = await openPort({ limits: { connections: 9, perAddress: 6 } })
  const few = await Promise.all([1, 2, 3].map(() => client(port, '127.0.0.2')))
  const many = []
  for (let made = 0; made < 6; made++) many.push(await client(port, '127.0.0.3'))
  await expect.poll(() => server.connections).toBe(9)
  const first = once(many[0] ?? few[0] ?? expect.fail(), 'close')
  expect(await answered(port, '127.0.0.4')).toBe(true)
  await first
  expect(few.every((socket) => !socket.destroyed)).toBe(true)
})

test('active requests keep their connections: the newest connection is refused, and the others get their answers', async () => {
  const answers = Promise.withResolvers<void>()
  let begun = 0
  const { port } = await openPort({
    limits: { connections: 4, perAddress: 3 },
    request: async (_request, response) => {
      begun++
      await answers.promise
      response.end('late')
    },
  })
  const atWork = await Promise.all([1, 2, 3].map(() => client(port)))
  const heard = atWork.map((socket) => once(socket, 'data'))
  for (const socket of atWork) socket.write(request)
  await expect.poll(() => begun).toBe(3)
  expect(await rest(await client(port))).toBe('')
  answers.resolve()
  for (const [data] of await Promise.all(heard)) expect(String(data)).toContain('late')
})

test('an idle connection is closed before an active one', async () => {
  let begun = 0
  const answers = Promise.withResolvers<void>()
  const { port } = await openPort({
    limits: { connections: 4, perAddress: 2 },
    request: async ({ url }, response) => {
      if (url === '/slow') {
        begun++
        await answers.promise
      }
      response.end('ok')
    },
  })
  const slow = await client(port)
  slow.write(request.replace('/', '/slow'))
  await expect.poll(() => begun).toBe(1)
  const idle = await client(port)
  idle.write(request)
  await once(idle, 'data')
  const gone = once(idle, 'close')
  expect(await answered(port)).toBe(true)
  await gone
  answers.resolve()
  expect(String((await once(slow, 'data'))[0])).toContain('200 OK')
})

test('a full port is logged at intervals, with the number of refused connections', async () => {
  const { port, logged, server } = await openPort({ limits: { connections: 2, perAddress: 2 }, reportMs: 20 })
  for (let made = 0; made < 5; made++) await client(port)
  await expect.poll(() => logged.length).toBeGreaterThan(0)
  expect(logged[0]).toMatchObject({ fields: { listener: 'test', connections: 2 } })
  expect(server.connections).toBe(2)
})

test('a thousand connections from one address do not delay the next one', async () => {
  const { port, server } = await openPort({ limits: { connections: 200, perAddress: 100 } })
  for (let made = 0; made < 1_000; made += 50) await Promise.all(Array.from({ length: 50 }, () => client(port)))
  await expect.poll(() => server.connections).toBe(100)
  const began = performance.now()
  expect(await answered(port)).toBe(true)
  expect(performance.now() - began).toBeLessThan(1_000)
})

test('a client that neither reads nor sends during its answer is disconnected', async () => {
  const { server, port } = await openPort({
    timeouts: { stallMs: 200 },
    request: (_request, response) => void response.end(Buffer.alloc(32 * 1024 * 1024)),
  })
  const socket = await client(port)
  socket.pause()
  socket.write(request)
  await expect.poll(() => server.connections, { timeout: 5_000 }).toBe(1)
  await expect.poll(() => server.connections, { timeout: 5_000 }).toBe(0)
})

test('A connection that sends thousands of requests at once and reads no answer is closed, at the cost of a few', async () => {
  let handled = 0
  const { server, port, url } = await openPort({
    request: (_request, response) => {
      handled += 1
      response.end('ok')
    },
  })
  const socket = await client(port)
  socket.pause()
  socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(3_000))
  await expect.poll(() => handled).toBeGreaterThan(0)
  await expect.poll(() => server.connections).toBe(0)
  expect(handled).toBeLessThan(100)
  expect(await (await fetch(url)).text()).toBe('ok')
})

test('only the first requests of a burst are read, so that no other client waits for the rest', async () => {
  let read = 0
  const count = (): void => {
    read += 1
  }
  subscribe('http.server.request.start', count)
  onTestFinished(() => void unsubscribe('http.server.request.start', count))
  const { port, server } = await openPort()
  const burst = 'GET / HTTP/1.1\r\n\r\n'.repeat(3_600)
  const sockets = await Promise.all(Array.from({ length: 20 }, () => client(port)))
  for (const socket of sockets) socket.write(burst)
  expect(await answered(port)).toBe(true)
  await expect.poll(() => server.connections).toBe(0)
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(20 * 100)
})

test('a client that sends dozens of requests at once gets all answers in order, every time', async () => {
  let waiting = Promise.withResolvers<() => void>()
  const { port } = await openPort({
    request: (request, response) => {
      if (request.url !== '/late') response.end(`<${request.url}>`)
      else waiting.resolve(() => void response.end('</late>'))
    },
  })
  const socket = await client(port)
  const expected: string[] = []
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  for (let turn = 0; turn < 5; turn++) {
    // The first answer delays the others.
    const paths = ['/late', ...Array.from({ length: 60 }, (_, index) => `/${turn}.${index}`)]
    expected.push('</late>', ...paths.slice(1).map((path) => `<${path}>`))
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: t\r\n\r\n`).join(''))
    const answerFirst = await waiting.promise
    waiting = Promise.withResolvers()
    answerFirst()
    await expect.poll(() => text.match(/<[^>]+>/g)?.length).toBe(expected.length)
  }
  expect(text.match(/<[^>]+>/g)).toEqual(expected)
})

test('connections of clients that never read their answers are closed, while a slow reader stays', async () => {
  const body = Buffer.alloc(32 * 1024 * 1024)
  const { server, port } = await openPort({
    limits: { connections: 9, perAddress: 6 },
    timeouts: { checkMs: 50, unreadMs: 300 },
    request: ({ url }, response) => void response.end(url === '/' ? 'ok' : body),
  })
  const slow = await client(port, '127.0.0.2')
  slow.write('GET /much HTTP/1.1\r\nHost: t\r\n\r\n')
  let read = 0
  const reading = setInterval(() => {
    read += ((slow.read(64 * 1024) ?? slow.read()) as Buffer | null)?.length ?? 0
  }, 20)
  onTestFinished(() => clearInterval(reading))
  await expect.poll(() => read).toBeGreaterThan(0)
  for (let made = 0; made < 8; made++) {
    const socket = await client(port, made < 5 ? '127.0.0.3' : '127.0.0.5')
    socket.pause()
    socket.write('GET /much HTTP/1.1\r\nHost: t\r\n\r\n')
  }
  await expect.poll(() => server.connections).toBe(9)
  expect(await answered(port, '127.0.0.4')).toBe(false)
  await expect.poll(() => answered(port, '127.0.0.4'), { timeout: 5_000 }).toBe(true)
  const before = read
  await expect.poll(() => read).toBeGreaterThan(before)
  expect(slow.destroyed).toBe(false)
})
