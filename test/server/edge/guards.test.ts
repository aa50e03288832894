import { once } from 'node:events'
import { expect, test } from 'vitest'
import { client, openPort, rest } from './open-port.ts'

const get = (target = '/') => `GET ${target} HTTP/1.1\r\nHost: t\r\n\r\n`
const upgrade = 'GET /ws HTTP/1.1\r\nHost: t\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const connect = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'

test('CONNECT or Upgrade followed by a reset ends that connection, not the process', async () => {
  const { server, url, port } = await openPort({ upgrade: () => undefined })
  for (const bytes of [connect, upgrade, `${upgrade}x`, `${connect}x`]) {
    for (const leave of ['resetAndDestroy', 'end', 'destroy'] as const) {
      const socket = await client(port)
      socket.write(bytes)
      await expect.poll(() => server.connections).toBeGreaterThan(0)
      socket[leave]()
    }
  }
  expect(await (await fetch(url)).text()).toBe('ok')
})

test('a handler that throws, synchronously or later, is logged in full, answered generically, and ends only its connection', async () => {
  const { port, logged, url } = await openPort({
    request: ({ url: target }, response) => {
      if (target === '/now') throw new Error('unexpected at once')
      if (target === '/later') return Promise.reject(new Error('unexpected later'))
      response.end('ok')
      return undefined
    },
  })
  const other = await client(port)
  for (const target of ['/now', '/later']) {
    const response = await fetch(url + target)
    expect([response.status, response.headers.get('connection'), await response.text()]).toEqual([
      500,
      'close',
      'The server failed on this request.',
    ])
  }
  expect(logged.map(({ fields }) => fields)).toEqual([
    { err: new Error('unexpected at once'), listener: 'test', event: 'request' },
    { err: new Error('unexpected later'), listener: 'test', event: 'request' },
  ])
  other.write(get())
  expect(String((await once(other, 'data'))[0])).toContain('ok')
})

test('a handler that throws in the middle of its answer is cut off, so that no client takes the half as complete', async () => {
  const { port, logged } = await openPort({
    request: (_request, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half')
      throw new Error('unexpected')
    },
  })
  const socket = await client(port)
  const text = rest(socket)
  socket.write(get())
  expect(await text).not.toContain('unexpected')
  expect(logged).toHaveLength(1)
})

test('handlers of upgrades, tunnels and malformed requests that throw end only their connection', async () => {
  const fail = (): never => {
    throw new Error('unexpected')
  }
  const { port, url, logged } = await openPort({ upgrade: fail, connect: fail, malformed: fail })
  for (const bytes of [upgrade, connect, 'no HTTP\r\n\r\n']) {
    const socket = await client(port)
    const text = rest(socket)
    socket.write(bytes)
    expect(await text).toBe('')
  }
  expect(logged.map(({ fields }) => 'event' in fields && fields.event)).toEqual(['upgrade', 'connect', 'clientError'])
  expect(await (await fetch(url)).text()).toBe('ok')
})

test('writing after the end of an answer is logged and has no other effect', async () => {
  const { url, logged } = await openPort({
    request: (_request, response) => {
      response.end('ok')
      response.write('more')
    },
  })
  expect(await (await fetch(url)).text()).toBe('ok')
  await expect.poll(() => logged.length).toBe(1)
  expect(await (await fetch(url)).text()).toBe('ok')
})

test('a target that is neither a path nor a URL is refused; an absolute one is routed by its path', async () => {
  const targets: (string | undefined)[] = []
  const { port, logged } = await openPort({
    request: (request, response) => {
      targets.push(request.url)
      response.end('ok')
    },
  })
  const ask = async (target: string): Promise<string> => {
    const socket = await client(port)
    const text = rest(socket)
    socket.end(get(target).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    return (await text).slice(0, 12)
  }
  for (const bad of ['http://[::1', 'http://[', 'http://', 'http:///x', 'HTTPS://a:b:c/', 'http://a:99999/']) {
    expect(await ask(bad)).toBe('HTTP/1.1 400')
  }
  for (const good of ['http://host/a?b', 'HTTP://host', 'https://[::1]:80?q', '//', '//[::1']) {
    expect(await ask(good)).toBe('HTTP/1.1 200')
  }
  expect(targets).toEqual(['/a?b', '/', '/?q', '//', '//[::1'])
  expect(logged).toEqual([])
})

test('disconnected clients are not errors', async () => {
  const { port, logged, server } = await openPort({
    request: async (request, response) => {
      for await (const _ of request);
      response.end('ok')
    },
  })
  const socket = await client(port)
  socket.write('POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nhalf')
  await expect.poll(() => server.connections).toBe(1)
  socket.resetAndDestroy()
  await expect.poll(() => server.connections).toBe(0)
  expect(logged).toEqual([])
})

test('a refused connection ends, even if its client never closes its side', async () => {
  const { port, server } = await openPort({
    upgrade: (_request, socket) => void socket.end('HTTP/1.1 404 Not Found\r\n\r\n'),
  })
  for (const bytes of [upgrade, connect, 'no HTTP\r\n\r\n', `GET /${'x'.repeat(20_000)} HTTP/1.1\r\n`]) {
    const socket = await client(port)
    socket.resume()
    socket.write(bytes)
  }
  await expect.poll(() => server.connections, { timeout: 5_000 }).toBe(0)
})
