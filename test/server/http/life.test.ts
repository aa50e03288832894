import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ListenError, PortInUseError } from '../../../server/edge/listen-error.ts'
import { type Bench, openBench } from '../../support/sites/api-site.ts'

async function bench(...parameters: Parameters<typeof openBench>): Promise<Bench> {
  const opened = await openBench(...parameters)
  onTestFinished(() => opened[Symbol.asyncDispose]())
  return opened
}

const roomOf = (media: Bench) => `/rtc/room/get?room_id=1&access_token=${encodeURIComponent(media.token)}`

/** Connects to a listener. The listener may reset the connection instead of closing it. */
function client(port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Holds an operation until the test releases it. */
function held(media: Bench) {
  const answers = Promise.withResolvers<object>()
  const begun = Promise.withResolvers<void>()
  media.behave(() => {
    begun.resolve()
    return answers.promise
  })
  return { begun: begun.promise, finish: () => answers.resolve({ room_id: '1' }) }
}

test('a stop completes active requests, accepts no new ones and closes all connections', async () => {
  const media = await bench('media')
  const operation = held(media)
  const idle = client(media.port)
  const idleClosed = new Promise((resolve) => idle.once('close', resolve))
  await new Promise((resolve) => idle.once('connect', resolve))
  const answer = fetch(`${media.url}${roomOf(media)}`)
  await operation.begun
  const stopped = media.listener.stop(5_000)
  await idleClosed
  await expect(fetch(`${media.url}${roomOf(media)}`)).rejects.toThrow()
  operation.finish()
  const response = await answer
  expect(response.headers.get('connection')).toBe('close')
  expect(await response.json()).toEqual({ ret: 0, room_id: '1' })
  await stopped
  expect(media.listener.connections).toBe(0)
  expect(media.listener.url).toBe('')
})

test('a stop cuts off requests that exceed the deadline', async () => {
  const media = await bench('media')
  const operation = held(media)
  const answer = fetch(`${media.url}${roomOf(media)}`)
  answer.catch(() => undefined)
  await operation.begun
  const before = performance.now()
  await media.listener.stop(100)
  expect(performance.now() - before).toBeLessThan(3_000)
  await expect(answer).rejects.toThrow()
  operation.finish()
})

test('a listener can restart on the same port', async () => {
  const media = await bench('media')
  expect((await media.get(roomOf(media))).ret).toBe(0)
  await media.listener.stop(1_000)
  await media.listener.stop(1_000)
  expect(await media.listener.start({ host: '127.0.0.1', port: media.port })).toEqual({
    port: media.port,
    url: media.url,
  })
  const response = await fetch(`${media.url}${roomOf(media)}`)
  expect(response.headers.get('connection')).toBe('keep-alive')
  expect(await response.json()).toMatchObject({ ret: 0 })
})

test('a port in use is a named error with listener and port', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  const address = other.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const media = await bench('media')
  await media.listener.stop(1_000)
  const failure = await media.listener.start({ host: '127.0.0.1', port }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(PortInUseError)
  expect(failure).toMatchObject({ code: 'EADDRINUSE', listener: 'media', port, host: '127.0.0.1' })
  expect((await media.listener.start({ host: '127.0.0.1', port: 0 })).port).toBeGreaterThan(0)
})

test('an address of another machine is a named error', async () => {
  const media = await bench('media')
  await media.listener.stop(1_000)
  const failure = await media.listener.start({ host: '203.0.113.7', port: 0 }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(ListenError)
  expect(failure).toMatchObject({ code: 'EADDRNOTAVAIL', listener: 'media' })
})

test('one connection serves many requests, many at a time', async () => {
  const media = await bench('media')
  const answers = await Promise.all(Array.from({ length: 200 }, () => media.get(roomOf(media))))
  expect(new Set(answers.map(({ ret }) => ret))).toEqual(new Set([0]))
})

test('pipelined requests are answered in their order', async () => {
  const media = await bench('media')
  const last = Promise.withResolvers<void>()
  media.behave(async (params) => {
    const { room_id } = params as { room_id: string }
    if (room_id === 'c') last.resolve()
    // The first is done after the last.
    await (room_id === 'a' ? last.promise : undefined)
    return { room_id }
  })
  const requests = ['a', 'b', 'c'].map(
    (id) => `GET ${roomOf(media).replace('=1', `=${id}`)} HTTP/1.1\r\nHost: t\r\n\r\n`,
  )
  const { sendRaw } = await import('../../support/sites/api-site.ts')
  const text = await sendRaw(media.port, requests.join(''), 3)
  expect([...text.matchAll(/"room_id":"(\w)"/g)].map(([, id]) => id)).toEqual(['a', 'b', 'c'])
})

test('connections over the limit are closed at once, the others stay', async () => {
  const media = await bench('media', { limits: { connections: 2, perAddress: 2 } })
  const operation = held(media)
  const atWork = [client(media.port), client(media.port)]
  const answers = atWork.map((socket) => new Promise((resolve) => socket.once('data', resolve)))
  for (const socket of atWork) socket.write(`GET ${roomOf(media)} HTTP/1.1\r\nHost: t\r\n\r\n`)
  await expect.poll(() => media.calls.length).toBe(2)
  const third = client(media.port)
  await new Promise((resolve) => third.once('close', resolve))
  operation.finish()
  for (const answer of await Promise.all(answers)) expect(String(answer)).toContain('"ret":0')
})

test('an idle connection is closed after a while', async () => {
  const media = await bench('media', { timeouts: { keepAliveMs: 50, checkMs: 50 } })
  const socket = client(media.port)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('data', () => undefined)
  socket.write(`GET ${roomOf(media)} HTTP/1.1\r\nHost: t\r\n\r\n`)
  await closed
})

test('a client that disconnects in the middle of a request affects no other', async () => {
  const media = await bench('media')
  const operation = held(media)
  const leaving = new AbortController()
  const answer = fetch(`${media.url}${roomOf(media)}`, { signal: leaving.signal })
  answer.catch(() => undefined)
  await operation.begun
  leaving.abort()
  await expect(answer).rejects.toThrow()
  operation.finish()
  await expect.poll(() => media.listener.connections).toBe(0)
  expect((await media.get('/rtc/room/get?room_id=1')).ret).toBe(602)
  expect(media.logged).toEqual([])
})

test('with a certificate the listener speaks HTTPS', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'roomdesk-tls-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', keyFile, '-out', certFile, ...subject], {
    stdio: 'ignore',
  })
  const cert = readFileSync(certFile, 'utf8')
  const media = await bench('media')
  await media.listener.stop(1_000)
  const tls = { cert, key: readFileSync(keyFile, 'utf8') }
  const { url, port } = await media.listener.start({ host: '127.0.0.1', port: 0, tls })
  expect(url).toBe(`https://127.0.0.1:${port}`)
  const body = await new Promise<string>((resolve, reject) => {
    get(`${url}${roomOf(media)}`, { ca: cert, servername: 'localhost' }, (response) => {
      response.once('data', (chunk) => resolve(String(chunk)))
    }).once('error', reject)
  })
  expect(body).toContain('"ret":0')
  const silent = client(port)
  await new Promise((resolve) => silent.once('connect', resolve))
  await media.listener.stop(2_000)
})
