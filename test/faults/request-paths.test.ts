import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenedController, openController } from '../support/sites/controller-site.ts'
import { removeFolder } from '../support/headless.ts'

/** No path of a request, however it is written, reads a file outside the folders that are served. */

let folder = ''
let opened: OpenedController
let key = ''
const canary = randomBytes(24).toString('hex')
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-paths-'))
  const [data, page, recordings] = ['data', 'page', 'recordings'].map((name) => join(folder, name))
  if (data === undefined || page === undefined || recordings === undefined) throw new Error('no folders')
  for (const each of [data, page, recordings]) await mkdir(each, { mode: 0o700 })
  await writeFile(join(folder, 'secret.html'), canary)
  await writeFile(join(folder, 'secret.mp4'), canary)
  await writeFile(join(page, 'index.html'), '<!doctype html><title>Console</title>')
  // Links inside that point out: of a file, and of a folder.
  for (const each of [page, recordings]) {
    await symlink(join(folder, 'secret.mp4'), join(each, '1-abc.mp4'))
    await symlink(folder, join(each, 'out'))
  }
  opened = await openController({
    dataFolder: data,
    consolePage: page,
    playerPage: page,
    recordingsDir: recordings,
  })
  key = (await readFile(join(data, 'console.key'), 'utf8')).trim()
})
afterAll(async () => {
  await opened.controller.stop(0)
  await removeFolder(opened.folder)
  await rm(folder, { recursive: true, force: true })
})

/** Sends a request line as it is. @returns everything that the port answers */
async function raw(port: 'media' | 'device' | 'console', path: string): Promise<string> {
  const { hostname, port: number, host } = new URL(opened.controller.listeners.url(port))
  const socket = connect(Number(number), hostname)
  socket.on('error', () => {})
  const parts: Buffer[] = []
  socket.on('data', (part: Buffer) => parts.push(part))
  const head = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`
  socket.end(Buffer.from(head, 'latin1'))
  await once(socket, 'close')
  return Buffer.concat(parts).toString('latin1')
}

const prefix = fc.constantFrom(
  ...['/', '//', '/console/', '/assets/', '/help/', '/room/', '/jroom/', '/live/', '/recorded/', '/record/'],
  ...[
    '/recordings/segments/',
    '/recordings/exports/',
    '/recordings/',
    '/thumbnails/',
    '/backups/',
    '/rpc/',
    '/player/',
  ],
  ...['http://other.example/', 'file:///'],
)
const up = fc.constantFrom('..', '%2e%2e', '%2E.', '..;', '....', '%252e%252e', '%c0%ae%c0%ae', '\u00ff..', '.', '')
const slash = fc.constantFrom('/', '%2f', '%5c', '\\', '%252f', '//', '/./')
const name = fc.oneof(
  fc.constantFrom('secret.html', 'secret.mp4', 'out/secret.html', '1-abc.mp4', 'out/data/console.key', 'data/seal.key'),
  fc.constantFrom(
    'console.key',
    'seal.key',
    'secret.html%00.mp4',
    'secret.html\0',
    'secret.html%20',
    'secret.html::$DATA',
  ),
  fc.string({ maxLength: 8 }),
)
const path = fc
  .tuple(prefix, fc.array(fc.tuple(up, slash), { maxLength: 6 }), name, fc.constantFrom('', '?a=/../b', '#x'))
  .map(([first, climbs, last, query]) => first + climbs.flat().join('') + last + query)
  // A line break would begin another header.
  .filter((text) => !/[\r\n]/.test(text))

test('Raw paths with every spelling of "up", of separators and of names leave no folder on any port', async () => {
  const seal = await readFile(join(folder, 'data', 'seal.key'))
  const secrets = [canary, key, seal.toString('latin1').trim(), seal.toString('hex')]
  await fc.assert(
    fc.asyncProperty(
      path,
      fc.constantFrom('media' as const, 'device' as const, 'console' as const),
      async (at, port) => {
        const answer = await raw(port, at)
        for (const secret of secrets) expect(answer).not.toContain(secret)
      },
    ),
    { numRuns: 200 },
  )
})

test('Names of backups, uploads, archives and exports are no paths either', async () => {
  const hostile = fc
    .tuple(fc.array(fc.tuple(up, slash), { maxLength: 4 }), name)
    .map(([climbs, last]) => climbs.flat().join('') + last)
  const call = async (procedure: string, input: object): Promise<string> => {
    const answer = await fetch(`${opened.controller.listeners.url('console')}/rpc/${procedure}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    })
    return await answer.text()
  }
  const before = await sums()
  await fc.assert(
    fc.asyncProperty(hostile, async (given) => {
      for (const [procedure, input] of [
        ['backups.read', { name: given, offset: 0 }],
        ['backups.preview', { name: given }],
        ['backups.delete', { name: given }],
        ['backups.keep', { name: given, kept: true }],
        ['backups.restore', { name: given }],
        ['backups.add', { upload: given }],
        ['diagnostics.read', { name: given, offset: 0 }],
        ['exports.cancel', { id: given }],
      ] as const) {
        const text = await call(procedure, input)
        expect(text).not.toContain('"ok":true,"value":{"data"')
        expect(text).not.toContain(Buffer.from(canary).toString('base64'))
      }
    }),
    { numRuns: 15 },
  )
  expect(await sums()).toEqual(before)
})

/** Hashes of files that nothing may change. */
async function sums(): Promise<string[]> {
  const files = ['secret.html', 'secret.mp4', 'data/seal.key', 'data/console.key', 'page/index.html']
  return await Promise.all(
    files.map(async (file) =>
      createHash('sha256')
        .update(await readFile(join(folder, file)))
        .digest('hex'),
    ),
  )
}
