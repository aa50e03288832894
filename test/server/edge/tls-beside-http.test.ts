import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { unproven } from '../../../server/gate/gate.ts'
import { controllerCertificate } from '../../../server/edge/tls.ts'
import { KeptPorts } from '../../../server/edge/kept-ports.ts'
import { connectionLimits } from '../../../server/edge/limits.ts'
import { RequestProof } from '../../../server/edge/request-proof.ts'
import { EdgeServer } from '../../../server/edge/server.ts'

const key = Buffer.alloc(32, 7)

/** Opens a port that uses TLS with other controllers and plain HTTP with everybody else. */
async function openPort({ kept, headersMs = 200 }: { kept?: KeptPorts; headersMs?: number } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-tls-beside-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const port = new EdgeServer({
    name: 'media',
    log: { warn: () => undefined, error: () => undefined },
    limits: connectionLimits.api,
    timeouts: { headersMs, checkMs: 50 },
    maxHeaderSize: 8_192,
    proof: new RequestProof(key, 'one', await controllerCertificate(folder)),
    kept,
    request: unproven('no state', (_: IncomingMessage, response: ServerResponse) => void response.end('answered')),
  })
  return port
}

async function openedAt(port: EdgeServer, at = 0): Promise<number> {
  onTestFinished(() => port.stop(0))
  return (await port.start({ host: '127.0.0.1', port: at })).port
}

/** Opens a connection and collects its data until it ends. */
function connection(port: number): { socket: Socket; got: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  let got = ''
  socket.on('data', (bytes) => (got += bytes.toString('latin1')))
  return { socket, got: once(socket, 'close').then(() => got) }
}

test('A client that sends its request byte by byte is answered in plain HTTP', async () => {
  const { socket, got } = connection(await openedAt(await openPort({ headersMs: 5_000 })))
  socket.setNoDelay(true)
  for (const byte of 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n') {
    socket.write(byte)
    await new Promise(setImmediate)
  }
  expect(await got).toMatch(/^HTTP\/1\.1 200 .*answered$/s)
})

test('A client that sends nothing gets a timeout answer, and its connection closes', async () => {
  const port = await openPort()
  const { got } = connection(await openedAt(port))
  expect(await got).toMatch(/^HTTP\/1\.1 408 /)
  await expect.poll(() => port.connections).toBe(0)
})

test('A client that leaves without a byte is removed', async () => {
  const port = await openPort({ headersMs: 5_000 })
  const { socket, got } = connection(await openedAt(port))
  socket.end()
  expect(await got).toBe('')
  await expect.poll(() => port.connections).toBe(0)
})

test.each([
  ['is invalid', Buffer.from([0x16, 0x03, 0x01, 0x00, 0x05, 1, 2, 3, 4, 5])],
  ['never continues', Buffer.from([0x16])],
])('A handshake that %s ends its connection, and the port serves on', async (_, bytes) => {
  const port = await openPort()
  const at = await openedAt(port)
  const { socket, got } = connection(at)
  socket.write(bytes)
  await got
  await expect.poll(() => port.connections).toBe(0)
  expect(await (await fetch(`http://127.0.0.1:${at}`)).text()).toBe('answered')
})

test('A port that changes its owner keeps both protocols, and its next owner stops it with its TLS connections', async () => {
  const kept = new KeptPorts()
  const before = await openPort({ kept })
  const at = await openedAt(before)
  expect(before.letGo()).toBe(true)
  const next = await openPort({ kept })
  expect(await openedAt(next, at)).toBe(at)
  expect(await (await fetch(`http://127.0.0.1:${at}`)).text()).toBe('answered')
  const peer = connectTls({ host: '127.0.0.1', port: at, rejectUnauthorized: false })
  peer.on('error', () => {})
  await once(peer, 'secureConnect')
  const ended = once(peer, 'close')
  await next.stop(0)
  await ended
  expect(next.connections).toBe(0)
})
