import http, { type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { getEventListeners, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type WebSocket, WebSocketServer, WebSocket as Client } from 'ws'
import { ownCertificate } from '../../../server/edge/own-certificate.ts'
import { fakeLeader, leadBy, openPassing, proof, provedTo } from './passing.ts'

const create = '/rtc/room/create?topic=a&owner_id=o&room_mode=1'
const read = '/rtc/room/get?room_id=1'

async function get(url: string, init?: RequestInit): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(url, init)
  return { status: response.status, text: await response.text(), headers: response.headers }
}

/** Opens a raw connection and collects its data. */
async function raw(url: string): Promise<{ socket: Socket; got: () => string }> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let got = ''
  socket.on('data', (chunk) => (got += chunk.toString('latin1')))
  await once(socket, 'connect')
  return { socket, got: () => got }
}

test('A request reaches the leader as its client wrote it, and the answer reaches the client as the leader wrote it', async () => {
  const { way, media } = await openPassing()
  const leader = await fakeLeader((request, response) => {
    response.writeHead(299, 'Fine', [
      'X-Of-Leader',
      'a',
      'X-Of-Leader',
      'b',
      'Connection',
      'keep-alive, x-hop',
      'X-Hop',
      '1',
    ])
    void text(request).then((body) => response.end(`${request.method} ${request.url} ${body}`))
  })
  leadBy(way, 'one', leader.url)
  const { socket, got } = await raw(media)
  const headers =
    'Host: my.site\r\nX-Mine: 1\r\nX-Mine: 2\r\nRoomdesk-Client: 6.6.6.6 1 forged\r\nConnection: close, X-Secret\r\nX-Secret: 3\r\n'
  socket.write(
    `POST /rtc/room/get?room_id=1&x=\xe9 HTTP/1.1\r\n${headers.replace(', X-Secret', '')}Content-Length: 4\r\n\r\nbody`.replace(
      '\xe9',
      '%C3%A9',
    ),
  )
  await once(socket, 'end')
  const [head = '', body] = got().split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 299 Fine\r\n/)
  expect(head.match(/X-Of-Leader: [ab]/g)).toHaveLength(2)
  expect(head).not.toContain('X-Hop')
  expect(body).toContain('POST /rtc/room/get?room_id=1&x=%C3%A9 body')
  const [seen] = leader.requests
  expect(seen?.rawHeaders.slice(0, 1)).toEqual(['Roomdesk-Client'])
  expect(provedTo(seen)).toBe('127.0.0.1')
  // Valid once.
  expect(provedTo(seen)).toBe('replayed')
  expect(seen?.rawHeaders.filter((name) => name === 'Roomdesk-Client')).toHaveLength(1)
  expect(seen?.headers).toMatchObject({ host: 'my.site', 'x-mine': '1, 2' })
})

test('Without a leader, a request waits for one; after the deadline it is answered 700, in JSONP if requested', async () => {
  const { way, media } = await openPassing({ storeMs: 300 })
  const began = performance.now()
  expect(await get(`${media}${create}`)).toMatchObject({
    status: 200,
    text: expect.stringContaining('"ret":700') as string,
  })
  expect(performance.now() - began).toBeGreaterThan(280)
  const wrapped = await get(`${media}${create}&callback=told`, { headers: { accept: '*/*' } })
  expect(wrapped.text).toMatch(/^(\/\*\*\/)?\s*told\(\{"ret":700/)
  expect(wrapped.headers.get('content-type')).toContain('text/javascript')
  const leader = await fakeLeader((_, response) => response.end('done'))
  const waiting = get(`${media}${create}`)
  await vi.waitFor(() => expect(way.waiting).toBe(1))
  leadBy(way, 'one', leader.url)
  expect((await waiting).text).toBe('done')
  expect(way.waiting).toBe(0)
})

test('A leader that refuses connections is retried until it accepts one: nothing of the request was sent before', async () => {
  const { way, media } = await openPassing()
  const first = await fakeLeader((_, response) => response.end('first'))
  leadBy(way, 'one', first.url)
  const { port } = new URL(first.url)
  first.close()
  const waiting = get(`${media}${create}`)
  await vi.waitFor(() => expect(way.waiting).toBe(1))
  const again = await fakeLeader((_, response) => response.end('again'), undefined, Number(port))
  expect((await waiting).text).toBe('again')
  expect(again.requests).toHaveLength(1)
})

test('A leader that dies during a change leaves its outcome open: 700 without a retry; a read is sent to the next leader', async () => {
  const { way, media } = await openPassing()
  const dying = await fakeLeader((request) => request.socket.destroy())
  const next = await fakeLeader((_, response) => response.end('next'))
  leadBy(way, 'one', dying.url)
  const lost = await get(`${media}${create}`)
  expect(lost.text).toMatch(/"ret":700.*not known/)
  expect(dying.requests).toHaveLength(1)
  const reading = get(`${media}${read}`)
  await vi.waitFor(() => expect(dying.requests.length).toBeGreaterThan(1))
  leadBy(way, 'two', next.url)
  expect((await reading).text).toBe('next')
  expect(next.requests).toHaveLength(1)
})

test('An operation that only a newer leader has may change something: it is not sent again; the join page is', async () => {
  const { way, media } = await openPassing()
  const dying = await fakeLeader((request) => request.socket.destroy())
  const next = await fakeLeader((_, response) => response.end('next'))
  leadBy(way, 'one', dying.url)
  expect((await get(`${media}/rtc/room/purge?room_id=1`)).text).toMatch(/"ret":700.*not known/)
  expect(dying.requests).toHaveLength(1)
  const page = get(`${media}/join/1`)
  await vi.waitFor(() => expect(dying.requests.length).toBeGreaterThan(2))
  leadBy(way, 'two', next.url)
  expect((await page).text).toBe('next')
})

test('A leader that freezes during a read is abandoned as soon as another leads; a change gets a last second for its answer', async () => {
  const { way, media } = await openPassing()
  const held: http.ServerResponse[] = []
  const frozen = await fakeLeader((_, response) => void held.push(response))
  const next = await fakeLeader((_, response) => response.end('next'))
  leadBy(way, 'one', frozen.url)
  const reading = get(`${media}${read}`)
  const changing = get(`${media}${create}`)
  const answered = get(`${media}${create}&last=word`)
  await vi.waitFor(() => expect(frozen.requests).toHaveLength(3))
  leadBy(way, 'two', next.url)
  expect((await reading).text).toBe('next')
  held[frozen.requests.findIndex(({ url }) => url?.endsWith('last=word'))]?.end('stored')
  expect((await answered).text).toBe('stored')
  expect((await changing).text).toContain('"ret":700')
  expect(next.requests).toHaveLength(1)
})

test('A truncated answer ends its connection: no client takes a part as complete', async () => {
  const { way, media } = await openPassing()
  const leader = await fakeLeader((request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('a part')
    setTimeout(() => request.socket.destroy(), 20)
  })
  leadBy(way, 'one', leader.url)
  await expect(get(`${media}${read}`)).rejects.toThrow()
})

test('A client that leaves before its request is forwarded, during its body or its answer, leaves nothing behind', async () => {
  const { way, media } = await openPassing()
  const closed: IncomingMessage[] = []
  const leader = await fakeLeader((request, response) => {
    response.once('close', () => closed.push(request))
    request.on('error', () => {})
    request.resume()
    if (request.url?.includes('answer') === true) response.write('the first part')
  })
  const head = (target: string, length: number): string =>
    `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`
  // Without a leader.
  const before = await raw(media)
  before.socket.write(`GET ${create} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await vi.waitFor(() => expect(way.waiting).toBe(1))
  before.socket.resetAndDestroy()
  await vi.waitFor(() => expect(way.waiting).toBe(0))
  leadBy(way, 'one', leader.url)
  // With a short body, which is read first; with a long one, which is in transit.
  const short = await raw(media)
  short.socket.write(`${head(create, 100)}half`)
  const long = await raw(media)
  long.socket.write(`${head('/long', 10_000_000)}${'x'.repeat(100_000)}`)
  const answer = await raw(media)
  answer.socket.write('GET /answer HTTP/1.1\r\nHost: a\r\n\r\n')
  await vi.waitFor(() => {
    expect(answer.got()).toContain('the first part')
    expect(leader.requests.map(({ url }) => url).sort()).toEqual(['/answer', '/long'])
  })
  for (const { socket } of [short, long, answer]) socket.resetAndDestroy()
  await vi.waitFor(() => expect(closed).toHaveLength(2))
  // The replica still serves.
  const fine = get(`${media}/answer`)
  await vi.waitFor(() => expect(leader.requests).toHaveLength(3))
  leader.server.closeAllConnections()
  await expect(fine).rejects.toThrow()
})

test('Bodies of any size pass in both directions; a refusal of a long one reaches its sender', async () => {
  const { way, media } = await openPassing()
  const leader = await fakeLeader((request, response) => {
    if (request.url === '/refused') {
      response.writeHead(413, { connection: 'close', 'content-length': 3 }).end('big')
      return
    }
    void buffer(request).then((body) => response.end(body))
  })
  leadBy(way, 'one', leader.url)
  for (const size of [1, 64 * 1024, 64 * 1024 + 1, 8_000_000]) {
    const sent = Buffer.alloc(size, 'abcdefg')
    const response = await fetch(`${media}/echo`, { method: 'POST', body: sent })
    expect(Buffer.from(await response.arrayBuffer()).equals(sent)).toBe(true)
  }
  // Without a length.
  const outgoing = http.request(`${media}/echo`, { method: 'POST' })
  outgoing.write('one ')
  setTimeout(() => outgoing.end('two'), 20)
  const [chunked] = (await once(outgoing, 'response')) as [IncomingMessage]
  expect(await text(chunked)).toBe('one two')
  const refused = await raw(media)
  refused.socket.write(`POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n${'x'.repeat(200_000)}`)
  await vi.waitFor(() => expect(refused.got()).toContain('413'))
  expect(refused.got()).toMatch(/big$/)
})

test('A malformed request, or one without a target, is refused as by the APIs', async () => {
  const { media } = await openPassing({ storeMs: 100 })
  for (const [bytes, ret] of [
    ['BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 404],
    ['nonsense\r\n\r\n', 610],
    ['GET http://[ HTTP/1.1\r\nHost: a\r\n\r\n', 610],
  ] as const) {
    const { socket, got } = await raw(media)
    socket.write(bytes)
    await once(socket, 'end')
    expect(got()).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(got()).toMatch(new RegExp(`"ret":(${ret}|\\d+)`))
    expect(got()).not.toContain('700')
  }
})

test("Over TLS only the server with the leader's certificate receives anything", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [own, strange] = await Promise.all([ownCertificate(join(folder, 'a')), ownCertificate(join(folder, 'b'))])
  const { way, media } = await openPassing({ storeMs: 400 })
  const leader = await fakeLeader((_, response) => response.end('secret'), own)
  leadBy(way, 'one', leader.url, own.cert)
  expect((await get(`${media}${read}`)).text).toBe('secret')
  const before = leader.requests.length
  leadBy(way, 'two', leader.url, strange.cert)
  expect((await get(`${media}${read}`)).text).toContain('"ret":700')
  leadBy(way, 'three', leader.url)
  expect((await get(`${media}${read}`)).text).toContain('"ret":700')
  expect(leader.requests).toHaveLength(before)
})

test('A WebSocket is forwarded to the leader; it closes when either side closes and when the leader changes', async () => {
  const { way, node } = await openPassing({ storeMs: 300 })
  const leader = await fakeLeader((_, response) => response.writeHead(404).end('none'))
  const sockets = new WebSocketServer({ noServer: true })
  const joined: WebSocket[] = []
  leader.server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (request.url === '/refused') return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno')
    sockets.handleUpgrade(request, socket, head, (client) => {
      joined.push(client)
      client.on('message', (data: Buffer, binary) => client.send(data, { binary }))
    })
  })
  const open = (path: string): Client => {
    const client = new Client(`${node.replace('http', 'ws')}${path}`, 'a-protocol')
    client.on('error', () => {})
    onTestFinished(() => client.terminate())
    return client
  }
  const alone = open('/signal')
  const [, refusal] = (await once(alone, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(refusal.statusCode).toBe(503)
  leadBy(way, 'one', leader.url)
  const client = open('/signal')
  await once(client, 'open')
  expect(client.protocol).toBe('a-protocol')
  const big = Buffer.alloc(1_000_000, 'z')
  client.send(big)
  const [echoed] = (await once(client, 'message')) as [Buffer]
  expect(echoed.equals(big)).toBe(true)
  const refused = open('/refused')
  const [, answer] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(answer.statusCode).toBe(403)
  client.terminate()
  await vi.waitFor(() => expect(joined[0]?.readyState).toBe(Client.CLOSED))
  // Nothing of it is kept until the leader changes.
  const target = await way.next('node', performance.now() + 1_000, new AbortController().signal)
  await vi.waitFor(() => expect(target && getEventListeners(target.gone, 'abort')).toHaveLength(0))
  const second = open('/signal')
  await once(second, 'open')
  const gone = once(second, 'close')
  leadBy(way, 'two', 'http://127.0.0.1:1')
  await gone
})

test('A request forwarded by another controller is not forwarded again: the answer is to ask for the leader', async () => {
  const { way, media } = await openPassing()
  const leader = await fakeLeader((_, response) => response.end('done'))
  leadBy(way, 'one', leader.url)
  const headers = (): string[] => {
    const said = { receiver: 'self', listener: 'media', method: 'GET', target: create, client: '10.0.0.9' }
    return ['Roomdesk-Client', proof.valueFor({ ...said, headers: ['Host', 'a'], body: undefined }), 'Host', 'a']
  }
  const sent = http.get(`${media}${create}`, { headers: headers(), agent: false })
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  expect(response.statusCode).toBe(421)
  expect(leader.requests).toHaveLength(0)
  // Once this controller leads, the request goes to its own ports, with its client still known.
  way.lead(
    { id: 'self', place: { media: leader.url, device: '', node: '', console: '', event: '', certificate: '' } },
    true,
  )
  const own = http.get(`${media}${create}`, { headers: headers(), agent: false })
  const [answer] = (await once(own, 'response')) as [IncomingMessage]
  expect(await text(answer)).toBe('done')
  expect(provedTo(leader.requests[0], proof)).toBe('10.0.0.9')
})
