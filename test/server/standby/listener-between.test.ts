import type { Duplex } from 'node:stream'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientRequest, type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import https from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket as Client, WebSocketServer } from 'ws'
import { unproven } from '../../../server/gate/gate.ts'
import { clientAddress } from '../../../server/edge/client-address.ts'
import { connectionLimits } from '../../../server/edge/limits.ts'
import { RequestProof } from '../../../server/edge/request-proof.ts'
import { EdgeServer } from '../../../server/edge/server.ts'
import { controllerCertificate, type TlsMaterial } from '../../../server/edge/tls.ts'
import { leadBy, openPassing, proof } from './passing.ts'

/** An attacker on the network between a replica and the leader, who reads and changes the traffic. */
interface Listener {
  url: string
  /** Bytes of the replica, by connection. */
  heard: string[]
  /** Changes the bytes in transit; default: unchanged. */
  edit: (bytes: string) => string
}

interface Site {
  media: string
  node: string
  leader: string
  between: Listener
  /** Requests that reached the leader: method, target, client, body. */
  done: string[]
}

async function listenBetween(to: string): Promise<Listener> {
  const sockets = new Set<Socket>()
  const between: Listener = { url: '', heard: [], edit: (bytes) => bytes }
  const server = createServer((replica) => {
    const leader = connect(Number(new URL(to).port), '127.0.0.1')
    const index = between.heard.push('') - 1
    for (const socket of [replica, leader]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        replica.destroy()
        leader.destroy()
      })
    }
    replica.on('data', (bytes) => {
      const said = bytes.toString('latin1')
      between.heard[index] = `${between.heard[index] ?? ''}${said}`
      leader.write(between.edit(said), 'latin1')
    })
    leader.pipe(replica)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  between.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return between
}

/** A replica, the leader, and an attacker between them. @param now clock of the leader @param tls certificate of the leader @param announced PEM in the database */
async function openSite(now?: () => number, tls?: TlsMaterial, announced = tls?.cert): Promise<Site> {
  const done: string[] = []
  const sockets = new WebSocketServer({ noServer: true })
  const leader = new EdgeServer({
    name: 'media',
    log: { warn: () => undefined, error: () => undefined },
    limits: connectionLimits.api,
    maxHeaderSize: 8_192,
    proof: new RequestProof(proof.key, 'one', tls, now),
    request: unproven('no state', async (request: IncomingMessage, response: ServerResponse) => {
      const body = await text(request)
      done.push(`${request.method} ${request.url} ${clientAddress(request)} ${body}`)
      response.end('done')
    }),
    upgrade: unproven('no state', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      done.push(`upgrade ${request.url} ${clientAddress(request)}`)
      sockets.handleUpgrade(request, socket, head, (client) => client.send('hello'))
    }),
  })
  await leader.start({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => leader.stop(0))
  const between = await listenBetween(leader.url)
  const { way, media, node } = await openPassing({ storeMs: 300 })
  leadBy(way, 'one', between.url, announced)
  return { media, node, leader: leader.url, between, done }
}

/** Replays bytes of the replica to the leader. */
async function sendAgain(leader: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(leader).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let got = ''
  socket.on('data', (data) => (got += data.toString('latin1')))
  socket.write(bytes, 'latin1')
  await Promise.race([once(socket, 'close'), sleep(1_000)])
  return got.split('\r\n')[0] ?? ''
}

/** Resolves when its first bytes are handed to the system. */
async function sent(outgoing: ClientRequest): Promise<void> {
  if (outgoing.socket === null) await once(outgoing, 'socket')
  if (outgoing.socket?.connecting === true) await once(outgoing.socket, 'connect')
}

const create = '/rtc/room/create?topic=a&owner_id=o&room_mode=1'

test('A replayed request between two controllers is refused, at this port and any other', async () => {
  const { media, leader, between, done } = await openSite()
  expect(await (await fetch(`${media}${create}`, { method: 'POST', body: 'room' })).text()).toBe('done')
  expect(done).toEqual([`POST ${create} 127.0.0.1 room`])
  const [heard = ''] = between.heard
  expect(await sendAgain(leader, heard)).toContain(' 421 ')
  expect(await sendAgain(leader, heard)).toContain(' 421 ')
  expect(done).toHaveLength(1)
})

test.each([
  ['the method', (said: string) => said.replace(/^POST/, 'PUT')],
  ['the path', (said: string) => said.replace('topic=a', 'topic=b')],
  ['the body', (said: string) => said.replace(/room$/, 'moor')],
  ['a token', (said: string) => said.replace('x-token: mine', 'x-token: ours')],
  ['the client', (said: string) => said.replace('2 127.0.0.1 ', '2 10.9.9.9 ')],
  ['the length', (said: string) => said.replace(/content-length: 4/i, 'Content-Length: 3')],
])('Who listens between two controllers changes %s: nothing of it is done', async (_, edit) => {
  const { media, between, done } = await openSite()
  between.edit = edit
  const answer = await fetch(`${media}${create}`, { method: 'POST', body: 'room', headers: { 'x-token': 'mine' } })
  expect(await answer.text()).not.toBe('done')
  expect(done).toEqual([])
})

test('A request between two controllers that an attacker delays until it has expired is refused', async () => {
  let late = 0
  const { media, between, leader, done } = await openSite(() => Date.now() + late)
  between.edit = () => ''
  void fetch(`${media}${create}`).catch(() => undefined)
  await expect.poll(() => between.heard[0]).toContain('\r\n\r\n')
  late = 31_000
  expect(await sendAgain(leader, between.heard[0] ?? '')).toContain(' 421 ')
  expect(done).toEqual([])
})

test('Requests that arrive out of order are all applied, each once', async () => {
  const { media, between, leader, done } = await openSite()
  between.edit = () => ''
  for (let asked = 0; asked < 3; asked++) {
    void fetch(`${media}/rtc/room/get?asked=${asked}`).catch(() => undefined)
    await expect.poll(() => between.heard[asked]).toContain('\r\n\r\n')
  }
  for (const heard of between.heard.slice(0, 3).reverse()) void sendAgain(leader, heard)
  await expect.poll(() => done.map((line) => line.split(' ')[1])).toHaveLength(3)
  expect(done.map((line) => /asked=(\d)/.exec(line)?.[1])).toEqual(['2', '1', '0'])
})

test('A forwarded WebSocket handshake cannot be replayed', async () => {
  const { node, between, leader, done } = await openSite()
  // The leader of this story has one port for everything: as the node port it refuses requests for others.
  const client = new Client(`${node.replace('http', 'ws')}/signal`)
  onTestFinished(() => client.terminate())
  await once(client, 'error')
  expect(done).toEqual([])
  expect(await sendAgain(leader, between.heard[0] ?? '')).toContain(' 421 ')
})

test('Two thousand endless bodies block no connection to the leader', { timeout: 20_000 }, async () => {
  const { media, between } = await openSite()
  const endless = Array.from({ length: 2_000 }, () => {
    const outgoing = send(`${media}${create}`, {
      method: 'POST',
      agent: false,
      headers: { 'transfer-encoding': 'chunked' },
    })
    outgoing.on('error', () => {})
    outgoing.write('a')
    return outgoing
  })
  onTestFinished(() => {
    for (const outgoing of endless) outgoing.destroy()
  })
  await Promise.all(endless.map((outgoing) => sent(outgoing)))
  const asked = send(`${media}/rtc/room/get?room_id=1`, { agent: false })
  asked.end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  expect(await text(answer)).toBe('done')
  expect(between.heard).toHaveLength(1)
})

async function certificate(): Promise<TlsMaterial> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-certificate-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return await controllerCertificate(folder)
}

test('An eavesdropper between two controllers of a site without a certificate reads nothing, even if its clients use plain HTTP', async () => {
  const { media, leader, between, done } = await openSite(undefined, await certificate())
  const asked = await fetch(`${media}${create}`, { method: 'POST', body: 'room', headers: { 'x-token': 'mine' } })
  expect(await asked.text()).toBe('done')
  expect(done).toEqual([`POST ${create} 127.0.0.1 room`])
  expect(between.heard).toHaveLength(1)
  expect(between.heard[0]?.charCodeAt(0)).toBe(0x16)
  expect(between.heard[0]).not.toMatch(/HTTP|room|mine/)
  expect(await (await fetch(`${leader}/rtc/room/get`)).text()).toBe('done')
})

test('A server with another certificate in place of the leader receives nothing', async () => {
  const announced = await certificate()
  const { media, between, done } = await openSite(undefined, await certificate(), announced.cert)
  expect((await fetch(`${media}${create}`, { method: 'POST', body: 'room' })).status).toBe(200)
  expect(between.heard.join('')).not.toMatch(/HTTP|room/)
  expect(done).toEqual([])
})

test('The certificate of a controller is only for other controllers: a request over it without a proof is refused', async () => {
  const { leader, done } = await openSite(undefined, await certificate())
  const asked = https.get(leader.replace('http', 'https'), { rejectUnauthorized: false, agent: false })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  expect(answer.statusCode).toBe(421)
  expect(done).toEqual([])
})

test('Many large bodies pass unchanged between controllers over TLS', async () => {
  const { media, done } = await openSite(undefined, await certificate())
  const body = 'x'.repeat(1_000_000)
  const bodies = Array.from({ length: 40 }, () => fetch(`${media}${create}`, { method: 'POST', body }))
  for (const asked of await Promise.all(bodies)) expect(await asked.text()).toBe('done')
  expect(done).toHaveLength(40)
  expect(new Set(done)).toEqual(new Set([`POST ${create} 127.0.0.1 ${body}`]))
})
