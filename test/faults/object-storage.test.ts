import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ObjectClient } from '../../server/recordings/objects/object-client.ts'
import { StoredIndex } from '../../server/recordings/index/stored-index.ts'
import { ObjectServer } from '../support/objects/object-server.ts'
import { uploadedSite } from '../support/objects/uploaded-site.ts'
import { beginning, cameraStream, complete } from '../support/recordings/segment-facts.ts'
import { seededRandom } from '../../shared/seeded-random.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

vi.setConfig({ testTimeout: 300_000 })
const seed = Number(process.env.ROOMDESK_HISTORY_SEED ?? Date.now() % 100_000)
const startedAt = Date.UTC(2026, 10, 20, 12)
const yard = cameraStream('yard')

async function storage(): Promise<ObjectServer> {
  const server = await ObjectServer.start()
  onTestFinished(() => server.remove())
  return server
}

/** Writes segments of random bytes as the recorder leaves them. @returns digest by path */
async function recordBytes(folder: string, index: StoredIndex, count: number, from = 0): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  for (let minute = from; minute < from + count; minute++) {
    const start = beginning(yard, startedAt + minute * 60_000)
    const bytes = randomBytes(100_000 + (minute % 7) * 50_000)
    await mkdir(dirname(join(folder, start.file)), { recursive: true })
    await writeFile(join(folder, start.file), bytes)
    index.writer.ended(complete(start, { bytes: bytes.length }))
    digests.set(start.file, digestOf(bytes))
  }
  return digests
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Digests of all objects in the bucket. */
async function held(server: ObjectServer, files: Iterable<string>): Promise<Map<string, string>> {
  const client = new ObjectClient(server.settings(), () => [])
  const found = new Map<string, string>()
  for (const file of files) found.set(file, digestOf((await client.read(file, 0, 8_000_000)).bytes))
  client.close()
  return found
}

test('whatever the network and the storage do, every segment is on the disk or complete in the bucket, and all are uploaded in the end', async () => {
  const random = seededRandom(seed)
  const server = await storage()
  const folder = await temporaryFolder()
  let site = uploadedSite(folder, () => server.settings())
  const digests = await recordBytes(folder, site.index, 30)
  const faults = ['none', 'away', 'cut', 'refuses', 'lies', 'slow', 'restart'] as const
  for (let round = 0; round < 40; round++) {
    const fault = faults[Math.floor(random() * faults.length)] ?? 'none'
    server.fault = ({ method, socket }, response) => {
      if (random() < 0.5 || method !== 'PUT') return false
      if (fault === 'cut') setTimeout(() => socket.destroy(), 3)
      else if (fault === 'refuses') response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
      else if (fault === 'lies') response.writeHead(200, { etag: `"${'f'.repeat(32)}"` }).end()
      else return false
      return fault !== 'cut'
    }
    if (fault === 'away') await server.vanish()
    if (fault === 'restart') {
      await site.stop()
      site = uploadedSite(folder, () => server.settings())
    }
    for (const [file, digest] of await recordBytes(folder, site.index, 2, 30 + 2 * round)) digests.set(file, digest)
    await new Promise((resolve) => setTimeout(resolve, 20 + random() * 80))
    await site.release()
    if (fault === 'away') await server.listen()
    server.fault = undefined
    // Each segment that left the disk is whole in the bucket.
    const gone = site.index.segments({}).filter(({ stored }) => stored !== 'local')
    const objects = await held(
      server,
      gone.map(({ file }) => file),
    )
    for (const { file } of gone)
      expect(objects.get(file), `seed ${seed}, round ${round}, ${fault}`).toBe(digests.get(file))
    for (const { file, stored } of site.index.segments({}))
      if (stored === 'local') expect(digestOf(await readFile(join(folder, file)))).toBe(digests.get(file))
  }
  // Files that were set aside because the storage lied are tried again with the next start.
  await site.stop()
  site = uploadedSite(folder, () => server.settings())
  await expect.poll(() => site.places().filter((place) => place === 'local'), { timeout: 60_000 }).toEqual([])
  expect(site.index.segments({})).toHaveLength(digests.size)
  expect(await held(server, digests.keys())).toEqual(digests)
})

test('a controller that is killed between upload and mark uploads again, and a recording deleted meanwhile leaves no object', async () => {
  const server = await storage()
  const folder = await temporaryFolder()
  const isKept = (): boolean => false
  let index = new StoredIndex({ folder, kept: { covers: isKept }, onDamage: () => {} })
  const digests = await recordBytes(folder, index, 12)
  index.close()
  const script = join(import.meta.dirname, '../support/objects/upload-process.ts')
  for (const round of [1, 2, 3]) {
    const child = spawn(process.execPath, [script, folder, JSON.stringify(server.settings())], { stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const killed = once(child, 'exit')
    let uploads = 0
    server.fault = ({ method, url = '' }) => {
      // The object is there; its uploader dies before it hears so.
      if (method === 'HEAD' && url.includes('~main/') && ++uploads === round) child.kill('SIGKILL')
      return child.killed
    }
    await killed
    server.fault = undefined
    index = new StoredIndex({ folder, kept: { covers: isKept }, onDamage: () => {} })
    const uploaded = index.segments({}).filter(({ stored }) => stored === 'both')
    const objects = await held(
      server,
      uploaded.map(({ file }) => file),
    )
    for (const { file } of uploaded) expect(objects.get(file)).toBe(digests.get(file))
    index.close()
  }
  // One that is in the bucket while the index does not say so is deleted with its segment.
  const site = uploadedSite(folder, () => server.settings({ enabled: false }))
  const names = async () => new Set((await server.names()).filter((name) => name.includes('~main/')))
  const before = await names()
  const orphan = site.index.segments({}).find(({ file, stored }) => stored === 'local' && before.has(file))
  expect(orphan).toBeDefined()
  site.index.deletions.deleteSpan(yard, { from: 0, to: startedAt * 2 }, 1_000)
  site.removal.begin()
  await expect.poll(names, { timeout: 30_000 }).toEqual(new Set())
})

test('hours without network: recordings accumulate on the disk, and are uploaded once the network returns', async () => {
  const server = await storage()
  const folder = await temporaryFolder()
  await server.vanish()
  const site = uploadedSite(folder, () => server.settings())
  const digests = await recordBytes(folder, site.index, 240)
  await expect.poll(() => site.objects.status().problem).toBe('unreachable')
  expect(new Set(site.places())).toEqual(new Set(['local']))
  await server.listen()
  await expect.poll(() => new Set(site.places()), { timeout: 120_000 }).toEqual(new Set(['both']))
  expect(await held(server, digests.keys())).toEqual(digests)
})
