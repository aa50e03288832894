import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockFileName } from '../../server/store/files/folder-lock.ts'
import { highWaterName } from '../../server/store/files/journal/high-water.ts'
import { loadKeyFile } from '../../server/store/files/key-file.ts'
import type { CollectionName, Store } from '../../server/store/store.ts'
import { createRoom, credential, lastSegment, open, session, temporaryFolder } from '../support/sites/store-site.ts'
import { seededRandom } from '../../shared/seeded-random.ts'
import { storedNode } from '../support/stored-records.ts'

/** Number of damaged places in each file; another seed damages others. */
const places = Number(process.env.ROOMDESK_DAMAGE_PLACES ?? 300)
const seed = Number(process.env.ROOMDESK_DAMAGE_SEED ?? Date.now() % 1_000_000)

const collections: readonly CollectionName[] = [
  'settings',
  'licence',
  'credentials',
  'nodes',
  'devices',
  'rooms',
  'sessions',
]

/** Lists all records of a store, one line each. */
function records(store: Store): string[] {
  return collections.flatMap((name) => [...store.all(name)].map(([key, value]) => JSON.stringify([name, key, value])))
}

/** A site after a power failure: files, their predecessors, a backup, a segment whose end a later one records, and one that grew. */
async function site(): Promise<{ folder: string; whole: readonly string[]; ever: ReadonlySet<string> }> {
  const folder = await temporaryFolder()
  const ever = new Set<string>()
  let store = await open(folder)
  const note = (): void => {
    for (const record of records(store)) ever.add(record)
  }
  await store.transact([], (transaction) => {
    transaction.put('licence', 'site', { expires_at: '', max_rooms: 500, max_users: 0 })
    for (let i = 0; i < 5; i++) transaction.put('credentials', `key-${i}`, credential(`key-${i}`))
    for (let i = 0; i < 3; i++) transaction.put('nodes', `node-${i}`, storedNode(`node-${i}`))
  })
  for (const part of ['first', 'second', 'third', 'fourth']) {
    for (let i = 0; i < 12; i++) {
      await createRoom(store, `${part}-${i}`, `${part} 会议 ${i}`)
      note()
    }
    store.writeBehind('sessions', part, session())
    note()
    await store.transact([], (transaction) => transaction.delete('rooms', `${part}-3`))
    // A session may reach the disk a moment after its answer: losing it then is no damage.
    await expect.poll(() => store.status().backlog).toBe(0)
    if (part === 'first' || part === 'second') await store.backups.make()
    if (part === 'third') {
      // Killed and started again: the next segment records the end of this one.
      const killed = await temporaryFolder()
      await expect.poll(() => readFile(join(folder, highWaterName), 'utf8')).toContain('"lines":14')
      await cp(folder, killed, { recursive: true, filter: (path) => !path.endsWith(lockFileName) })
      await store.close()
      await rm(folder, { recursive: true })
      await cp(killed, folder, { recursive: true })
      store = await open(folder)
    }
  }
  const lines = (await readFile(await lastSegment(folder), 'utf8'))
    .split('\n')
    .filter((line) => line.includes('[[')).length
  await expect.poll(() => readFile(join(folder, highWaterName), 'utf8')).toContain(`"lines":${lines}`)
  const copy = await temporaryFolder()
  await cp(folder, copy, { recursive: true })
  const whole = records(store)
  await store.close()
  return { folder: copy, whole, ever }
}

/** Damages a file at a place (0 to 1). */
const harms: Record<string, (bytes: Buffer, place: number) => Buffer> = {
  flip: (bytes, place) => {
    const at = Math.floor(place * bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8))
    return bytes
  },
  cut: (bytes, place) => bytes.subarray(0, Math.floor(place * bytes.length)),
  zero: (bytes, place) => {
    const at = Math.floor(place * bytes.length)
    return bytes.fill(0, at, Math.min(at + 64, bytes.length))
  },
  insert: (bytes, place) => {
    const at = Math.floor(place * bytes.length)
    return Buffer.concat([bytes.subarray(0, at), Buffer.from('some other bytes'), bytes.subarray(at)])
  },
}

test(`Every file of the data folder damaged at ${places} places (seed ${seed}): the site starts, or says in one line what to do, and every loss is reported`, {
  timeout: 1_800_000,
}, async () => {
  const { folder, whole, ever } = await site()
  const random = seededRandom(seed)
  const expected = [...whole].sort()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
  expect(paths.length).toBeGreaterThanOrEqual(12)
  const base = await temporaryFolder()
  const table: Record<string, Record<string, number>> = {}
  const faults: string[] = []
  let run = 0
  for (const path of paths) {
    const counts = { whole: 0, 'whole, told': 0, 'lost, told': 0, refused: 0 }
    table[path] = counts
    const content = await readFile(join(folder, path))
    const cases: { name: string; hurt: (target: string) => Promise<void> }[] = [
      { name: 'missing', hurt: (target) => rm(target) },
      { name: 'empty', hurt: (target) => truncate(target, 0) },
    ]
    // The preallocated rest of a segment holds nothing to damage.
    const written = path.startsWith('journal-') ? content.lastIndexOf(0x0a) + 1 : content.length
    for (let i = 0; i < places; i++) {
      const [name, harm] = Object.entries(harms)[i % 4] ?? []
      if (name === undefined || harm === undefined) throw new Error('There is no such harm.')
      const place = (random() * written) / Math.max(content.length, 1)
      cases.push({
        name: `${name} at ${place}`,
        hurt: (target) => writeFile(target, harm(Buffer.from(content), place)),
      })
    }
    for (const { name, hurt } of cases) {
      const where = `${path}: ${name}`
      const copy = join(base, String(++run))
      await mkdir(copy, { mode: 0o700 })
      await cp(folder, copy, { recursive: true })
      await hurt(join(copy, path))
      let store: Store
      try {
        store = await open(copy)
      } catch (error) {
        const message = error instanceof Error ? error.message : ''
        if (!/: .*(start|stop|choose|put)/.test(message) || message.includes('\n'))
          faults.push(`${where}: ${String(error)}`)
        counts.refused++
        await rm(copy, { recursive: true })
        continue
      }
      const now = records(store)
      const { losses, notices } = store.status()
      const same = JSON.stringify([...now].sort()) === JSON.stringify(expected)
      if (!same && losses.length === 0) faults.push(`${where}: lost in silence`)
      if (now.some((record) => !ever.has(record))) faults.push(`${where}: holds what was never written`)
      if (same) counts[notices.length === 0 ? 'whole' : 'whole, told']++
      else counts['lost, told']++
      for (const backup of await store.backups.list()) {
        await store.restore.preview(backup.name).catch((error: unknown) => {
          if (!(error instanceof Error) || error.message.includes('\n')) faults.push(`${where}: ${String(error)}`)
        })
      }
      if (run % 10 === 0) {
        await createRoom(store, 'after')
        await store.close()
        const again = await open(copy)
        if (!again.all('rooms').has('after')) faults.push(`${where}: a room made afterwards is gone`)
        await again.close()
      } else await store.close()
      await rm(copy, { recursive: true })
    }
  }
  console.table(table)
  expect(faults).toEqual([])
})

test('A damaged sealing key is refused with the remedy, or counts as another key: no start replaces it', async () => {
  const folder = await temporaryFolder()
  const path = join(folder, 'seal.key')
  await loadKeyFile(path)
  const content = await readFile(path)
  const random = seededRandom(seed)
  for (let i = 0; i < places; i++) {
    const [, harm] = Object.entries(harms)[i % 4] ?? []
    const hurt = harm?.(Buffer.from(content), random()) ?? content
    await writeFile(path, hurt)
    await loadKeyFile(path).catch((error: unknown) => {
      expect(error).toMatchObject({
        name: 'KeyFileError',
        message: expect.stringMatching(/^[^\n]*put the right file back[^\n]*$/),
      })
    })
    expect(await readFile(path)).toEqual(hurt)
  }
})
