import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { describe, expect, onTestFinished, test as base } from 'vitest'
import { WebSocket } from 'ws'
import { startHeadless } from '../../support/headless.ts'
import { begunCookie, bothHalves } from '../../support/page-session.ts'
import { disposed } from '../../support/fixtures.ts'

/** Status of the console's first page for a Host and an Origin, which fetch would not send. */
function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  const { protocol } = new URL(url)
  const request = protocol === 'https:' ? tlsRequest : plainRequest
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end()
  })
}

const test = base.extend('server', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(
    onCleanup,
    await startHeadless({ site: { settings: { media: { public_url: 'https://Rooms.example.com.:8443' } } } }),
  ),
)

describe('A console behind a reverse proxy, with a public address', () => {
  test.for(['rooms.example.com', 'ROOMS.example.com:8443', 'rooms.example.com.'])(
    'opens as %s',
    async (host, { server }) => {
      expect(await statusOf(server.ready.console, { host })).toBe(200)
    },
  )

  test.for(['https://rooms.example.com:8443', 'https://rooms.example.com.:8443'])(
    'opens where the proxy replaces Host and passes the origin %s on',
    async (origin, { server }) => {
      expect(await statusOf(server.ready.console, { origin })).toBe(200)
    },
  )

  test.for(['https://rooms.example.com', 'http://rooms.example.com:8443', 'https://evil.example', 'null'])(
    'rejects the origin %s',
    async (origin, { server }) => {
      expect(await statusOf(server.ready.console, { origin })).toBe(403)
    },
  )

  test.for(['evil.example', 'rooms.example.com.evil.example', 'sub.rooms.example.com'])(
    'rejects the name %s',
    async (host, { server }) => {
      expect(await statusOf(server.ready.console, { host })).toBe(403)
    },
  )

  test('pushes events to the page through the proxy', async ({ server }) => {
    const key = (await readFile(join(server.folder, 'console.key'), 'utf8')).trim()
    const signedIn = await fetch(`${server.ready.console}/session`, { method: 'POST', body: JSON.stringify({ key }) })
    const cookie = begunCookie(signedIn.headers)
    const open = (origin: string): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${server.ready.console.replace('http', 'ws')}/ws`, {
          headers: { ...bothHalves(cookie), origin },
        })
        onTestFinished(() => socket.terminate())
        socket.on('open', () => resolve(true))
        socket.on('error', () => resolve(false))
      })
    expect(await open('https://rooms.example.com:8443')).toBe(true)
    expect(await open('https://evil.example')).toBe(false)
  })
})

test('A console with a certificate opens under each name of the certificate, and under no other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-names-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const made = await generate([{ name: 'commonName', value: 'common.example.com' }], {
    keyType: 'ec',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'console.example.com' },
          { type: 2, value: '*.site.example.com' },
        ],
      },
    ],
  })
  const tls = { mode: 'file' as const, cert_file: join(folder, 'site.crt'), key_file: join(folder, 'site.key') }
  await writeFile(tls.cert_file, made.cert)
  await writeFile(tls.key_file, made.private)
  const server = await startHeadless({ site: { settings: { tls } } })
  onTestFinished(() => server.remove())
  const statuses = async (...hosts: string[]): Promise<number[]> =>
    await Promise.all(hosts.map((host) => statusOf(server.ready.console, { host })))
  expect(await statuses('console.example.com', 'a.site.example.com:7083')).toEqual([200, 200])
  expect(await statuses('common.example.com', 'a.b.site.example.com', 'site.example.com')).toEqual([403, 403, 403])
})
