import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { highWaterName } from '../../../../server/store/files/journal/high-water.ts'
import type { Store } from '../../../../server/store/store.ts'
import { crashCopy, createRoom, lastSegment, open, temporaryFolder, topics } from '../../../support/sites/store-site.ts'

/** A site whose files hold 50 rooms, with 50 more confirmed rooms that only the journal has. */
async function site(end: 'killed' | 'closed' = 'killed'): Promise<string> {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await Promise.all(Array.from({ length: 50 }, (_, i) => createRoom(store, `kept-${i}`)))
  await store.backups.make()
  for (let i = 0; i < 50; i++) await createRoom(store, `newest-${i}`)
  // The high-water mark is written beside the answers: it follows a moment later.
  await expect.poll(() => readFile(join(folder, highWaterName), 'utf8')).toContain('"lines":50')
  const copy = await crashCopy(folder)
  await store.close()
  return end === 'killed' ? copy : folder
}

const losses = (store: Store): readonly string[] => store.status().losses.map(({ message }) => message)

/** Finds the byte after this many lines of a segment, header included. */
function endOfLine(bytes: Buffer, lines: number): number {
  let end = 0
  for (let i = 0; i < lines; i++) end = bytes.indexOf(0x0a, end) + 1
  return end
}

test('A missing newest segment of the journal is reported with number and time of the lost changes', async () => {
  const folder = await site()
  const segment = await lastSegment(folder)
  await rm(segment)
  const store = await open(folder)
  expect(store.all('rooms').size).toBe(50)
  expect(losses(store)).toEqual([
    expect.stringMatching(
      new RegExp(
        `^${basename(segment)} is missing: 50 confirmed changes, made between \\d{4}-.*Z and \\d{4}-.*Z, are lost\\.$`,
      ),
    ),
  ])
  expect(store.status().notices).toMatchObject([{ level: 'warning', lost: true }])
  await store.close()
})

test('The log line about a loss says what to do', async () => {
  const folder = await site()
  await rm(await lastSegment(folder))
  const lines: string[] = []
  const line = (_: object, message: string): void => void lines.push(message)
  const store = await open(folder, { logger: { info: line, warn: line, error: line } })
  expect(lines).toContainEqual(
    expect.stringMatching(/is missing: 50 confirmed changes.* Check the disk; then recreate .*, or .*data folder\.$/),
  )
  await store.close()
})

test.for([
  { how: 'emptied', lines: 0, more: 0, lost: '50 lines' },
  { how: 'cut between two lines', lines: 31, more: 0, lost: '20 lines' },
  { how: 'cut within a line', lines: 31, more: 40, lost: '20 lines' },
  { how: 'cut behind its first line', lines: 1, more: 0, lost: '50 lines' },
  { how: 'short of its last line only', lines: 50, more: 0, lost: 'One line' },
])('The newest segment of the journal is $how: what is missing is counted', async ({ lines, more, lost }) => {
  const folder = await site()
  const segment = await lastSegment(folder)
  await truncate(segment, endOfLine(await readFile(segment), lines) + more)
  const store = await open(folder)
  expect(store.all('rooms').size).toBe(50 + Math.max(lines - 1, 0))
  expect(losses(store)).toHaveLength(1)
  expect(losses(store)[0]).toContain(`${lost} of ${basename(segment)} could not be read`)
  await store.close()
})

test('An earlier segment of the journal that is emptied is reported: the next one tells how long it was', async () => {
  const killed = await site()
  const emptied = await lastSegment(killed)
  const later = await open(killed)
  await createRoom(later, 'later')
  await expect.poll(() => readFile(join(killed, highWaterName), 'utf8')).toContain('"lines":1,')
  const folder = await crashCopy(killed)
  await later.close()
  await truncate(join(folder, basename(emptied)), 0)
  const store = await open(folder)
  expect([store.all('rooms').has('later'), store.all('rooms').has('newest-0')]).toEqual([true, false])
  expect(losses(store)[0]).toContain(basename(emptied))
  await store.close()
})

test('Zeros in place of the newest lines are reported as well', async () => {
  const folder = await site()
  const segment = await lastSegment(folder)
  const bytes = await readFile(segment)
  await writeFile(segment, bytes.fill(0, endOfLine(bytes, 41)))
  const store = await open(folder)
  expect(losses(store)[0]).toContain('10 lines')
  await store.close()
})

test('A truncated last write is not a loss: a power failure has the same effect', async () => {
  const folder = await site()
  const segment = await lastSegment(folder)
  const bytes = await readFile(segment)
  const end = endOfLine(bytes, 51)
  await writeFile(segment, Buffer.concat([bytes.subarray(0, end), Buffer.from('0badc0de [["rooms","new')]))
  const store = await open(folder)
  expect(store.all('rooms').size).toBe(100)
  expect(losses(store)).toEqual([])
  expect(store.status().notices).toMatchObject([{ level: 'info', code: 'tornTail' }])
  await store.close()
})

test('A site that was closed or killed without damage reports no loss', async () => {
  for (const end of ['closed', 'killed'] as const) {
    const store = await open(await site(end))
    expect(store.all('rooms').size).toBe(100)
    expect(store.status().notices).toEqual([])
    await store.close()
  }
})

test('A loss stays reported through restarts until the operator dismisses it, together with newer ones', async () => {
  const folder = await site()
  await rm(await lastSegment(folder))
  const first = await open(folder)
  const [loss] = losses(first)
  // The files are rewritten in the background.
  await first.backups.make()
  await createRoom(first, 'again')
  await expect.poll(() => readFile(join(folder, highWaterName), 'utf8')).toContain('"lines":1,')
  const killed = await crashCopy(folder)
  await first.close()

  const second = await open(folder)
  expect(second.status().notices).toEqual([])
  expect(losses(second)).toEqual([loss])
  await second.dismissLosses()
  expect(losses(second)).toEqual([])
  await second.close()
  const third = await open(folder)
  expect(losses(third)).toEqual([])
  await third.close()

  await rm(await lastSegment(killed))
  const more = await open(killed)
  expect(losses(more)).toEqual([loss, expect.stringContaining('1 confirmed change')])
  await more.close()
})

test('Room numbers are not reused after a loss, however many rooms were lost', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  // More rooms than any gap leaves out, created and deleted again.
  for (let i = 0; i < 30_000; i++) store.nextRoomNumber()
  await createRoom(store, 'lost')
  const given = store.get('rooms', 'lost')?.id ?? 0
  expect(given).toBe(30_001)
  await expect.poll(() => readFile(join(folder, highWaterName), 'utf8')).toContain('"lines":1,')
  const copy = await crashCopy(folder)
  await store.close()
  await rm(await lastSegment(copy))
  const again = await open(copy)
  expect(topics(again)).toEqual({})
  expect(again.nextRoomNumber()).toBeGreaterThan(given)
  await again.close()
})

test('The loss of all segments, and restored older files, are reported', async () => {
  const folder = await site()
  const all = await crashCopy(folder)
  for (const name of await readdir(all)) if (name.startsWith('journal-')) await rm(join(all, name))
  const withoutJournal = await open(all)
  expect(losses(withoutJournal)[0]).toContain('50 confirmed changes')
  await withoutJournal.close()

  const closed = await site('closed')
  await writeFile(join(closed, 'rooms.json'), await readFile(join(closed, 'rooms.previous.json')))
  for (const name of await readdir(closed)) if (name.startsWith('journal-')) await rm(join(closed, name))
  const older = await open(closed)
  expect(losses(older)[0]).toContain('50 confirmed changes')
  await older.close()
})

test('A damaged or missing mark neither blocks a start nor causes false reports', async () => {
  for (const hurt of [
    (path: string) => rm(path),
    (path: string) => writeFile(path, ''),
    (path: string) => writeFile(path, Buffer.alloc(512, 'x')),
    (path: string) => truncate(path, 100),
  ]) {
    const folder = await site()
    await hurt(join(folder, highWaterName))
    const store = await open(folder)
    expect(store.all('rooms').size).toBe(100)
    expect(store.status().notices).toEqual([])
    await store.close()
  }
})

test('A start killed while it created a segment has lost nothing, and later starts report nothing', async () => {
  const folder = await site()
  const begun = (Number(/(\d+)\.ndjson$/.exec(await lastSegment(folder))?.[1]) + 1).toString().padStart(6, '0')
  await writeFile(join(folder, `journal-${begun}.ndjson`), '')
  const first = await open(folder)
  expect(first.status().notices).toEqual([])
  await createRoom(first, 'after')
  await first.backups.make()
  await createRoom(first, 'later')
  const killed = await crashCopy(folder)
  await first.close()
  const second = await open(killed)
  expect(second.all('rooms').size).toBe(102)
  expect(second.status().notices).toEqual([])
  await second.close()
})

test('A segment created right after the files were written, and never used, is no gap', async () => {
  const folder = await site('closed')
  const number = 1 + Number(/(\d+)\.ndjson$/.exec(await lastSegment(folder))?.[1])
  await writeFile(join(folder, `journal-${String(number).padStart(6, '0')}.ndjson`), '')
  const first = await open(folder)
  await createRoom(first, 'after')
  const killed = await crashCopy(folder)
  await first.close()
  for (const gone of [false, true]) {
    const copy = await crashCopy(killed)
    if (gone) await rm(join(copy, `journal-${String(number).padStart(6, '0')}.ndjson`))
    const second = await open(copy)
    expect(second.all('rooms').size).toBe(101)
    expect(second.status().notices).toEqual([])
    await second.close()
  }
})
