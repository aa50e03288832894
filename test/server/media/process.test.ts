import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { generate } from 'selfsigned'
import { afterEach, expect, test } from 'vitest'
import { messagesOf } from '../../../shared/media/control-link.ts'
import { startTestCamera } from '../../support/camera/test-camera.ts'
import { TestMediaNode } from '../../support/media/media-node.ts'
import { mediaProgram } from '../../support/media/media-program.ts'
import { offerSdp } from '../../support/media/offer.ts'
import { SignalClient } from '../../support/media/signal-client.ts'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

async function startNode(options: Parameters<typeof TestMediaNode.start>[0] = {}): Promise<TestMediaNode> {
  const node = await TestMediaNode.start(options)
  children.push(node.child)
  return node
}

function isFailure(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'failure'
}

/** Starts a node with a camera, a publisher and a room, so that every kind of resource has to end. */
async function busyNode(cameraUrl: string): Promise<TestMediaNode> {
  const node = await startNode()
  await node.openRoom('busy')
  await node.addDevice('busy', 'cam', cameraUrl)
  for (const path of ['/whip/busy', '/whep/busy/cam']) {
    const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${node.token('busy')}` }
    const direction = path.startsWith('/whip') ? 'sendonly' : 'recvonly'
    const response = await fetch(`${node.url}${path}`, { method: 'POST', headers, body: offerSdp({ direction }) })
    expect(response.status).toBe(201)
  }
  return node
}

test('the process says hello, listens, answers and exits with 0 when requested, whatever it serves', async () => {
  await using camera = await startTestCamera()
  const node = await busyNode(camera.url)
  expect(node.port).toBeGreaterThan(0)
  expect(node.udpPort).toBe(node.port)
  expect(await node.request('health', {})).toMatchObject({ rooms: 1, users: 3, pulls: 1 })
  // Bytes of cameras are counted once a second; the viewer never connects, so nothing is sent.
  const idle = async (): Promise<string[]> =>
    Object.entries((await node.request('health', {})).load).flatMap(([name, value]) =>
      typeof value === 'object' || value > 0 ? [] : [name],
    )
  await expect.poll(idle, { timeout: 5_000 }).toEqual(['bytes_out'])
  expect(await node.request('rooms', {})).toEqual({ roomIds: ['busy'] })
  expect(await node.stop()).toBe(0)
  expect(node.complaints).toEqual([])
})

test('the process of a frozen controller ends once another controller may lead, and asks users to reconnect; without replicas it keeps running', async () => {
  const leaseMs = 900
  const alone = await startNode()
  const node = await startNode({ settings: { lease_ms: leaseMs } })
  const exited = once(node.child, 'exit')
  await node.openRoom('led')
  const ann = await SignalClient.join(node.url, 'led', { token: node.token('led', { userId: 'ann', userName: 'Ann' }) })
  for (let told = 0; told < 10; told++) {
    await node.request('leads', {})
    await sleep(leaseMs / 6)
  }
  expect(ann.messages.map(({ type }) => type)).toEqual(['joined'])
  expect(await ann.next('removed')).toEqual({ type: 'removed', reason: 'restarting' })
  expect(await exited).toEqual([0, null])
  expect(node.complaints).toEqual([expect.stringContaining('another one leads')])
  expect(await alone.request('health', {})).toMatchObject({ rooms: 0 })
})

test('it ends when its controller is gone, and on SIGTERM; SIGINT of the terminal is left to the controller', async () => {
  await using camera = await startTestCamera()
  const orphan = await busyNode(camera.url)
  orphan.child.disconnect()
  expect(await once(orphan.child, 'exit')).toEqual([0, null])
  const node = await busyNode(camera.url)
  node.child.kill('SIGINT')
  expect((await node.request('health', {})).users).toBe(3)
  node.child.kill('SIGTERM')
  expect(await once(node.child, 'exit')).toEqual([0, null])
})

test('it also communicates through Electron’s parentPort', async () => {
  const node = await startNode({ program: join(import.meta.dirname, '../../support/media/utility-process.ts') })
  await node.openRoom('port')
  expect(await node.request('rooms', {})).toEqual({ roomIds: ['port'] })
  expect(await node.stop()).toBe(0)
})

test('an invalid, unknown or premature request fails alone', async () => {
  const child = fork(mediaProgram, [], { stdio: 'inherit' })
  children.push(child)
  const answers: unknown[] = []
  const heard = Promise.withResolvers<void>()
  child.on('message', (received) => {
    for (const message of messagesOf(received)) if (isFailure(message)) answers.push(message)
    if (answers.length === 3) heard.resolve()
  })
  child.send('hello')
  child.send({ type: 'request' })
  child.send({ type: 'cancel', id: 99 })
  child.send({ type: 'request', id: 1, method: 'rooms', params: {} })
  child.send({ type: 'request', id: 2, method: 'toString', params: {} })
  child.send({ type: 'request', id: 3, method: 'start', params: { version: 1 } })
  await heard.promise
  expect(answers).toHaveLength(3)
  for (const failure of [
    { type: 'failure', id: 1, failure: { reason: 'other', message: 'there is no handler for rooms' } },
    { type: 'failure', id: 2, failure: { reason: 'other', message: 'there is no handler for toString' } },
    { type: 'failure', id: 3, failure: { reason: 'other', message: expect.stringContaining('token_key') } },
  ]) {
    expect(answers).toContainEqual(failure)
  }
})

test('a port in use is reported, and the process can start on another', async () => {
  const taken = createServer()
  taken.listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const child = fork(mediaProgram, [], { stdio: 'inherit' })
  children.push(child)
  const answer = async (id: number): Promise<Record<string, unknown>> => {
    for (;;) {
      const [received] = await once(child, 'message')
      for (const message of messagesOf(received) as readonly Record<string, unknown>[]) {
        if (message.id === id) return message
      }
    }
  }
  const start = { version: 1, host: '127.0.0.1', token_key: 'k'.repeat(44) }
  child.send({ type: 'request', id: 1, method: 'start', params: { ...start, port } })
  expect(await answer(1)).toMatchObject({
    type: 'failure',
    failure: { message: expect.stringContaining('EADDRINUSE') },
  })
  child.send({ type: 'request', id: 2, method: 'start', params: { ...start, port: 0 } })
  expect(await answer(2)).toMatchObject({ type: 'answer' })
  taken.close()
})

test('a UDP port of its own is used, and another one if it is in use', async () => {
  const first = await startNode()
  const second = await startNode({ udpPort: first.udpPort })
  expect(second.udpPort).not.toBe(first.udpPort)
  expect(second.complaints).toEqual([expect.stringContaining('UDP port is taken')])
  await Promise.all([first.stop(), second.stop()])
})

test('HTTPS uses the given certificate', async () => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'node' }], { keySize: 2048 })
  const node = await startNode({ tls: { cert, key } })
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request({ host: '127.0.0.1', port: node.port, path: '/room/', rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
  expect(status).toBe(200)
  await node.stop()
})
