import { hash } from 'node:crypto'
import { appendFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EventLog } from '../../../server/event-log/event-log.ts'
import { verifyLog } from '../../../server/event-log/verify.ts'
import { eventsFolder } from '../../../server/store/backups/backup-events.ts'
import { createSealer } from '../../../server/store/sealer.ts'
import { edit, joined, openLog, segmentFiles } from '../../support/sites/event-log-site.ts'
import { sealer, temporaryFolder } from '../../support/sites/store-site.ts'

const day = 24 * 60 * 60_000
const verify = (folder: string) => verifyLog(join(folder, eventsFolder), sealer)

describe('The event log', () => {
  test('lists events newest first, also after a restart, with continuing numbers', async () => {
    const folder = await temporaryFolder()
    const log = await openLog(folder)
    log.append(joined('ann'))
    log.append({
      ...joined('bob'),
      level: 'warning',
      actor: { type: 'operator', name: 'console key', address: '10.0.0.1' },
    })
    const first = await log.query({ limit: 10 })
    expect(first.items.map(({ seq, subject }) => [seq, subject.id])).toEqual([
      [3, 'bob'],
      [2, 'ann'],
      [1, ''],
    ])
    await log.close()
    const again = await openLog(folder)
    again.append(joined('cid'))
    const { items, kept, next } = await again.query({ limit: 2 })
    expect(items.map(({ seq, subject }) => [seq, subject.id])).toEqual([
      [4, 'cid'],
      [3, 'bob'],
    ])
    expect(items[1]).toMatchObject({ level: 'warning', actor: { name: 'console key', address: '10.0.0.1' } })
    expect({ kept, next }).toEqual({ kept: 4, next: 3 })
    expect(await again.verify()).toMatchObject({ ok: true, entries: 4, oldest: 1, newest: 4 })
  })

  test('finds events by object, actor, kind, level, time and words, page by page through all files', async () => {
    const folder = await temporaryFolder()
    let now = Date.UTC(2026, 0, 1)
    const log = await openLog(folder, { clock: () => now, segmentBytes: 20_000 })
    for (let index = 0; index < 2_600; index++) {
      now += 1_000
      if (index % 100 === 0) await log.flush()
      log.append(joined(`person-${index % 10}`, `room-${index % 7}`))
      if (index % 1_000 === 0) {
        const actor = { type: 'operator', name: 'console key', address: '10.0.0.9' } as const
        const subject = { type: 'settings', id: 'site', name: '' } as const
        log.append({
          kind: 'site.changed',
          actor,
          subject,
          before: { 'tls.mode': 'off' },
          after: { 'tls.mode': `Fïle "${index}"` },
        })
      }
    }
    await log.flush()
    expect((await segmentFiles(folder)).length).toBeGreaterThan(10)
    const all = async (filter: Parameters<typeof log.query>[0]) => {
      const seqs: number[] = []
      let before: number | undefined
      for (;;) {
        const { items, next } = await log.query({ ...filter, before })
        seqs.push(...items.map(({ seq }) => seq))
        if (next === 0) return seqs
        before = next
      }
    }
    const everything = await all({ limit: 500 })
    expect(everything).toEqual(Array.from({ length: 2_604 }, (_, index) => 2_604 - index))
    expect(await all({ limit: 100, subject: { type: 'person', id: 'person-3' } })).toHaveLength(260)
    expect(await all({ limit: 100, subject: { type: 'room', id: 'room-6' } })).toHaveLength(371)
    expect(await all({ limit: 2, actor: '10.0.0.9' })).toEqual([2_005, 1_004, 3])
    expect(await all({ limit: 2, groups: ['changes', 'nodes'] })).toHaveLength(3)
    expect(await all({ limit: 2, text: 'fïle "1000"' })).toHaveLength(1)
    expect(await all({ limit: 2, text: 'TLS.mode' })).toHaveLength(3)
    expect(await all({ limit: 50, level: 'warning' })).toEqual([])
    const from = Date.UTC(2026, 0, 1) + 100_000
    expect(await all({ limit: 50, from, to: from + 9_000 })).toHaveLength(10)
  })

  test('sends events to all followers, in order', async () => {
    const log = await openLog(await temporaryFolder())
    const told: number[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    log.onAdded((entries) => {
      told.push(...entries.map(({ seq }) => seq))
      if (told.length === 3) resolve()
    })
    log.append(joined('a'))
    log.append(joined('b'))
    await promise
    expect(told).toEqual([1, 2, 3])
  })

  test('keeps events for a number of days and megabytes: whole files are removed, oldest first, and the rest still verifies', async () => {
    const folder = await temporaryFolder()
    let now = Date.UTC(2026, 0, 1)
    const log = await openLog(folder, { clock: () => now, bounds: () => ({ days: 3, megabytes: 200 }) })
    for (let index = 0; index < 10; index++, now += day) {
      log.append(joined(`on-day-${index}`))
      await log.flush()
    }
    expect(await segmentFiles(folder)).toHaveLength(5)
    expect(await log.verify()).toMatchObject({ ok: true, entries: 5, oldest: 7, newest: 11 })
    expect((await log.query({ limit: 100 })).items.map(({ seq }) => seq)).toEqual([11, 10, 9, 8, 7])
    await log.close()
    const small = await openLog(folder, {
      clock: () => now,
      bounds: () => ({ days: 90, megabytes: 0.01 }),
      segmentBytes: 4_000,
    })
    for (let index = 0; index < 100; index++) {
      small.append(joined(`person-${index}`))
      await small.flush()
    }
    const { oldest, ok, newest } = await small.verify()
    expect(ok).toBe(true)
    expect(newest - oldest).toBeLessThan(45)
  })
})

describe('Tampering is detected:', () => {
  /** Makes a closed log of ten entries in two files. */
  async function tenEntries(): Promise<string> {
    const folder = await temporaryFolder()
    let now = Date.UTC(2026, 0, 1)
    const log = await openLog(folder, { clock: () => now })
    for (let index = 2; index <= 10; index++) {
      if (index === 7) now += day
      log.append(joined(`p${index}`))
      await log.flush()
    }
    await log.close()
    expect(await verify(folder)).toMatchObject({ ok: true, entries: 10, unsealed: 0 })
    return folder
  }

  test.each([
    [
      'a word is another',
      (lines: string[]) => lines.map((line) => line.replace('Person p8', 'Person x8')),
      8,
      'changed',
    ],
    ['an entry is removed', (lines: string[]) => lines.filter((line) => !line.includes('"p9"')), 9, 'missing'],
    ['the last entry is cut off', (lines: string[]) => lines.slice(0, -1), 10, 'cutOff'],
    ['the first entry of a file is removed', (lines: string[]) => lines.slice(1), 7, 'missing'],
    ['two entries are swapped', ([a = '', b = '', ...rest]: string[]) => [b, a, ...rest], 7, 'missing'],
    ['an entry is doubled', ([a = '', ...rest]: string[]) => [a, a, ...rest], 8, 'changed'],
    ['a file is emptied', () => [], 7, 'cutOff'],
  ] as const)('%s', async (_, change, bad, fault) => {
    const folder = await tenEntries()
    await edit(folder, (lines) => change(lines))
    expect(await verify(folder)).toMatchObject({ ok: false, first_bad: bad, fault })
    // A start and further entries do not hide it.
    const log = await openLog(folder)
    log.append(joined('later'))
    expect(await log.verify()).toMatchObject({ ok: false })
    await log.close()
    expect(await verify(folder)).toMatchObject({ ok: false })
  })

  test('an entry is rewritten, with new hashes for all later ones', async () => {
    const folder = await tenEntries()
    await edit(folder, (lines) => {
      let prev = ''
      return lines.map((line) => {
        const body = line.replace('Person p8', 'Person x8').replace(/,"hash":"[^"]*"}$/, '')
        const chained = prev === '' ? body : body.replace(/"prev":"[^"]*"/, `"prev":"${prev}"`)
        prev = hash('sha256', chained, 'base64url')
        return `${chained},"hash":"${prev}"}`
      })
    })
    expect(await verify(folder)).toMatchObject({ ok: false, first_bad: 10, fault: 'changed' })
  })

  test('the oldest file is deleted; the newest is deleted; the seal is deleted; the seal is made with another key', async () => {
    const folder = await tenEntries()
    const [oldest = '', newest = ''] = await segmentFiles(folder)
    const [first, last] = [await readFile(oldest), await readFile(newest)]
    await rm(oldest)
    expect(await verify(folder)).toMatchObject({ ok: false, first_bad: 1, fault: 'segmentMissing' })
    await writeFile(oldest, first)
    await rm(newest)
    expect(await verify(folder)).toMatchObject({ ok: false, first_bad: 7, fault: 'cutOff' })
    await writeFile(newest, last)
    expect(await verify(folder)).toMatchObject({ ok: true })
    expect(await verifyLog(join(folder, eventsFolder), createSealer(Buffer.alloc(32, 1)))).toMatchObject({
      ok: false,
      fault: 'headForged',
    })
    await rm(join(folder, eventsFolder, 'head.json'))
    expect(await verify(folder)).toMatchObject({ ok: false, fault: 'headMissing' })
    const log = await openLog(folder)
    expect(await log.verify()).toMatchObject({ ok: false, fault: 'headMissing', first_bad: 11 })
    expect((await log.query({ limit: 1 })).items).toMatchObject([
      { seq: 11, kind: 'log.recovered', level: 'error', params: { fault: 'headMissing' } },
    ])
  })
})

describe('A crash does not count as tampering:', () => {
  test('a partial entry is dropped, and the log continues', async () => {
    const folder = await temporaryFolder()
    const log = await openLog(folder)
    log.append(joined('ann'))
    await log.close()
    const [file = ''] = await segmentFiles(folder)
    const line = (await readFile(file, 'utf8')).split('\n')[1] ?? ''
    await appendFile(file, line.slice(0, 100))
    expect(await verify(folder)).toMatchObject({ ok: true, entries: 2 })
    const again = await openLog(folder)
    again.append(joined('bob'))
    expect(await again.verify()).toMatchObject({ ok: true, entries: 4 })
    expect((await again.query({ limit: 2 })).items[1]).toMatchObject({
      kind: 'log.recovered',
      level: 'info',
      params: { fault: '', dropped: 100 },
    })
  })

  test('a crash in the first second of a log, too', async () => {
    const folder = await temporaryFolder()
    const log = await openLog(folder)
    log.append(joined('ann'))
    await log.flush()
    // State left by a killed process.
    const crashed = await temporaryFolder()
    await cp(folder, crashed, { recursive: true })
    expect(await verify(crashed)).toMatchObject({ ok: true, entries: 2 })
    const again = await openLog(crashed)
    again.append(joined('bob'))
    expect(await again.verify()).toMatchObject({ ok: true, entries: 3 })
  })

  test('written entries without a seal count', async () => {
    const folder = await temporaryFolder()
    const log = await openLog(folder)
    log.append(joined('ann'))
    await log.close()
    const head = await readFile(join(folder, eventsFolder, 'head.json'))
    const more = await openLog(folder)
    more.append(joined('bob'))
    await more.close()
    await writeFile(join(folder, eventsFolder, 'head.json'), head)
    expect(await verify(folder)).toMatchObject({ ok: true, entries: 3, unsealed: 1 })
    const again = await openLog(folder)
    again.append(joined('cid'))
    expect(await again.verify()).toMatchObject({ ok: true, entries: 4, unsealed: 0 })
  })
})

test('A disk that refuses writes blocks no caller: entries wait, and beyond the limit the log says how many are missing', async () => {
  const folder = await temporaryFolder()
  const log = await openLog(folder, { gatherMs: 1 })
  await log.flush()
  await log.close()
  const blocked = await openLog(folder, { clock: () => Date.now() + 2 * day, gatherMs: 1, maxWaiting: 100 })
  // A folder takes the place of the next file of the log.
  const next = join(folder, eventsFolder, 'events-000000000002.ndjson')
  await mkdir(next)
  for (let index = 0; index < 105; index++) blocked.append(joined(`p${index}`))
  await blocked.flush()
  expect(blocked.status()).toMatchObject({ healthy: false, lost: 5 })
  await rm(next, { recursive: true })
  await blocked.flush()
  expect(blocked.status()).toMatchObject({ healthy: true, lost: 5 })
  const { items } = await blocked.query({ limit: 2 })
  expect(items).toMatchObject([{ kind: 'log.gap', level: 'error', params: { count: 5 } }, { subject: { id: 'p99' } }])
  expect(await blocked.verify()).toMatchObject({ ok: true, entries: 102 })
})

test('A log continued by another controller with another key fails verification', async () => {
  const folder = await temporaryFolder()
  const log = await openLog(folder)
  log.append(joined('ann'))
  await log.close()
  const other = await openLog(folder, { sealer: createSealer(Buffer.alloc(32, 3)) })
  expect(await other.verify()).toMatchObject({ ok: false, fault: 'headMissing', first_bad: 3 })
  expect(other).toBeInstanceOf(EventLog)
})

test('A sync is done when the events before it are on disk, although others keep coming', async () => {
  const log = await openLog(await temporaryFolder())
  log.append(joined('ann'))
  let more = 20
  log.onAdded(() => setImmediate(() => more-- > 0 && log.append(joined(`p${more}`))))
  for (let round = 0; round < 5; round++) expect(await log.sync()).toBeDefined()
})
