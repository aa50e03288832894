import type { Duplex } from 'node:stream'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from 'node:events'
import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { get } from 'node:https'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { unproven } from '../../../server/gate/gate.ts'
import { connectionLimits } from '../../../server/edge/limits.ts'
import { EdgeServer } from '../../../server/edge/server.ts'
import { certificateFiles } from './certificates.ts'

/** Opens a port that speaks TLS. @returns its number */
async function openPort(headersMs = 5_000): Promise<{ at: number; port: EdgeServer }> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-redirect-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { cert_file, key_file } = await certificateFiles(folder)
  const port = new EdgeServer({
    name: 'media',
    log: { warn: () => undefined, error: () => undefined },
    limits: connectionLimits.api,
    timeouts: { headersMs, checkMs: 50 },
    maxHeaderSize: 8_192,
    request: unproven('no state', (_: IncomingMessage, response: ServerResponse) => void response.end('answered')),
    upgrade: unproven('no state', (_: IncomingMessage, socket: Duplex) => void socket.end('upgraded')),
  })
  onTestFinished(() => port.stop(0))
  const tls = { cert: await readFile(cert_file, 'utf8'), key: await readFile(key_file, 'utf8') }
  return { at: (await port.start({ host: '127.0.0.1', port: 0, tls })).port, port }
}

/** Sends bytes over a plain connection. @returns everything that came until its end */
async function plainly(port: number, bytes: string | readonly string[]): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.setNoDelay(true)
  let got = ''
  socket.on('data', (chunk) => (got += chunk.toString('latin1')))
  const closed = once(socket, 'close')
  for (const byte of bytes) {
    socket.write(byte)
    if (typeof bytes !== 'string') await new Promise(setImmediate)
  }
  if (typeof bytes === 'string') socket.write('')
  await closed
  return got
}

const overTls = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    get({ port, host: '127.0.0.1', rejectUnauthorized: false, agent: false }, (response) => {
      response.setEncoding('utf8')
      response.on('data', resolve)
    }).on('error', reject)
  })

const locationOf = (answer: string): string | undefined => /^location: (.*)\r$/im.exec(answer)?.[1]

test('Plain HTTP on a port with TLS is redirected to the same place at https, however its bytes come; TLS is served as before', async () => {
  const { at } = await openPort()
  const asked = `GET /room/?roomId=1&a=b HTTP/1.1\r\nHost: rooms.example.org:${at}\r\n\r\n`
  for (const bytes of [asked, [...asked]]) {
    const answer = await plainly(at, bytes)
    expect(answer).toMatch(/^HTTP\/1\.1 308 /)
    expect(locationOf(answer)).toBe(`https://rooms.example.org:${at}/room/?roomId=1&a=b`)
  }
  const posted = await plainly(at, 'POST /rpc/x HTTP/1.1\r\nHost: [::1]:7083\r\nContent-Length: 4\r\n\r\n{}{}')
  expect(locationOf(posted)).toBe('https://[::1]:7083/rpc/x')
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n'
  const refused = await plainly(at, `GET /signal HTTP/1.1\r\nHost: 10.0.0.5\r\n${upgrade}\r\n`)
  expect(refused).toMatch(/^HTTP\/1\.1 308 /)
  expect(locationOf(refused)).toBe('https://10.0.0.5:80/signal')
  expect(await overTls(at)).toBe('answered')
})

test('A forged Host redirects nowhere else; invalid requests are refused; a silent or slow client is bounded', async () => {
  const { at, port } = await openPort(200)
  for (const host of ['evil.example/@x', 'a b', '', 'x\ty'])
    expect(locationOf(await plainly(at, `GET //y HTTP/1.1\r\nHost: ${host}\r\n\r\n`))).toBe(
      `https://127.0.0.1:${at}//y`,
    )
  expect(await plainly(at, 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  expect(await plainly(at, '')).toBe('')
  expect(await plainly(at, 'GET / HTTP/1.1\r\nHost: a')).toBe('')
  await expect.poll(() => port.connections).toBe(0)
  expect(await overTls(at)).toBe('answered')
})
