import { cpSync, mkdirSync, rmSync, truncateSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lockFileName } from '../../server/store/files/folder-lock.ts'
import type { Store } from '../../server/store/store.ts'
import { drivers } from '../server/store/drivers.ts'
import { lastSegment, open, room, temporaryFolder } from '../support/sites/store-site.ts'

/** One change of a transaction: the room's new topic, or its deletion. */
type Step = { key: string; topic: string | undefined }

const step: fc.Arbitrary<Step> = fc.record({
  key: fc.constantFrom('a', 'b', 'c', 'd', '__proto__'),
  topic: fc.option(fc.string({ unit: 'grapheme', maxLength: 40 }), { nil: undefined }),
})
const transaction = fc.array(step, { minLength: 1, maxLength: 4 })
/** Concurrent transactions, then perhaps a rewrite of the files, then perhaps a crash (with a truncated last segment) or a restart. */
const round = fc.record({
  transactions: fc.array(transaction, { minLength: 1, maxLength: 6 }),
  snapshot: fc.boolean(),
  end: fc.constantFrom('nothing', 'nothing', 'restart', 'crash'),
  cut: fc.nat({ max: 5_000 }),
})

type Model = Map<string, string>

function apply(model: Model, steps: readonly Step[]): void {
  for (const { key, topic } of steps) {
    if (topic === undefined) model.delete(key)
    else model.set(key, topic)
  }
}

const present = (store: Store): Model => new Map([...store.all('rooms')].map(([key, { topic }]) => [key, topic]))

function commit(store: Store, steps: readonly Step[]): Promise<void> {
  return store.transact([], (transaction) => {
    for (const { key, topic } of steps) {
      if (topic === undefined) transaction.delete('rooms', key)
      else transaction.put('rooms', key, room(key, store.nextRoomNumber(), topic))
    }
  })
}

let copies = 0
/** Copies the folder at this instant: no code of ours runs meanwhile, so it holds only completed writes. */
function copyNow(base: string, folder: string): string {
  const copy = join(base, `copy-${++copies}`)
  mkdirSync(copy)
  cpSync(folder, copy, { recursive: true })
  rmSync(join(copy, lockFileName), { force: true })
  return copy
}

describe.each(drivers())('In $name', (driver) => {
  test('Whatever happens and whenever it crashes: every acknowledged transaction is stored, every other one completely or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 8 }), async (rounds) => {
        let site = await driver.site()
        const model: Model = new Map<string, string>()
        let store = await site.open()
        for (const { transactions, snapshot, end, cut } of rounds) {
          const done = new Set<number>()
          const all = transactions.map((steps, i) => commit(store, steps).then(() => void done.add(i)))
          const rewritten = snapshot ? store.backups.make() : undefined
          if (end !== 'crash') {
            await Promise.all([...all, rewritten])
            for (const steps of transactions) apply(model, steps)
            expect(present(store)).toEqual(model)
            if (end === 'nothing') continue
            await store.close()
            store = await site.open()
            expect(store.status().notices).toEqual([])
            expect(present(store)).toEqual(model)
            continue
          }
          await Promise.race([...all, new Promise((resolve) => setTimeout(resolve, cut % 3))])
          const acknowledged = new Set(done)
          const copy = await site.crashed()
          await Promise.all([...all, rewritten])
          await store.close()
          site = copy
          store = await site.open()
          // In the order of the journal: the acknowledged ones, and those of the others that were stored.
          const possible: Model[] = []
          for (let count = 0; count <= transactions.length; count++) {
            const outcome: Model = new Map<string, string>(model)
            for (const steps of transactions.slice(0, count)) apply(outcome, steps)
            if ([...acknowledged].every((i) => i < count)) possible.push(outcome)
          }
          expect(possible).toContainEqual(present(store))
          model.clear()
          for (const [key, topic] of present(store)) model.set(key, topic)
        }
        await store.close()
      }),
      { numRuns: driver.name === 'files' ? 25 : 4 },
    )
  }, 60_000)
})

test('A journal truncated at any byte gives exactly the transactions complete before it', async () => {
  const base = await temporaryFolder()
  const folder = join(base, 'site')
  const store = await open(folder)
  const ends: number[] = []
  const models: Model[] = [new Map<string, string>()]
  const path = () => lastSegment(folder)
  for (let i = 0; i < 12; i++) {
    const steps: Step[] = [
      { key: `k${i % 5}`, topic: `会议 ${i}` },
      { key: `k${(i + 2) % 5}`, topic: i % 3 === 0 ? undefined : 'x' },
    ]
    await commit(store, steps)
    const model = new Map(models.at(-1))
    apply(model, steps)
    models.push(model)
    ends.push((await readFile(await path())).lastIndexOf(0x0a) + 1)
  }
  const whole = copyNow(base, folder)
  await store.close()
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: (ends.at(-1) ?? 0) + 100 }), async (size) => {
      const copy = copyNow(base, whole)
      truncateSync(await lastSegment(copy), size)
      const torn = await open(copy)
      expect(present(torn)).toEqual(models[ends.filter((end) => end <= size).length])
      await torn.close()
      await rm(copy, { recursive: true })
    }),
    { numRuns: 40 },
  )
}, 60_000)

test('Any bytes changed in any file: the store opens, reports it, and contains nothing that was never written', async () => {
  const base = await temporaryFolder()
  const folder = join(base, 'site')
  const store = await open(folder)
  for (let i = 0; i < 10; i++) await commit(store, [{ key: `k${i}`, topic: `topic ${i}` }])
  await store.backups.make()
  for (let i = 5; i < 15; i++) await commit(store, [{ key: `k${i}`, topic: `later ${i}` }])
  const whole = copyNow(base, folder)
  await store.close()
  const known = new Set(Array.from({ length: 15 }, (_, i) => [`topic ${i}`, `later ${i}`]).flat())
  const file = fc.constantFrom(
    'site.json',
    'rooms.json',
    'sessions.json',
    'rooms.previous.json',
    'journal-000001.ndjson',
    'journal-000002.ndjson',
  )
  await fc.assert(
    fc.asyncProperty(
      file,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.uint8Array({ minLength: 1, maxLength: 20 }),
      async (name, where, bytes) => {
        const copy = copyNow(base, whole)
        const path = join(copy, name)
        const content = await readFile(path)
        const written = name.startsWith('journal') ? content.lastIndexOf(0x0a) : content.length - 2
        const offset = Math.floor(where * written)
        // Damage that makes a version higher looks like a newer program's file, which is refused: that has its own test.
        if (content.subarray(0, 60).toString().includes('version') && offset < 60) return
        Buffer.from(bytes).copy(content, offset)
        await writeFile(path, content)
        const hurt = await open(copy)
        for (const [key, topic] of present(hurt)) {
          expect(known).toContain(topic)
          expect(topic.split(' ')[1]).toBe(key.slice(1))
        }
        if (!name.startsWith('journal-000002')) expect(hurt.all('rooms').size).toBe(15)
        else expect(hurt.all('rooms').size).toBeGreaterThanOrEqual(10)
        await hurt.close()
        await rm(copy, { recursive: true })
      },
    ),
    { numRuns: 40 },
  )
}, 60_000)
