import { cp, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventsFolder } from '../../../server/store/backups/backup-events.ts'
import { type Headless, removeFolder, siteWithoutMedia, startHeadless } from '../../support/headless.ts'
import { joined, openLog, segmentFiles } from '../../support/sites/event-log-site.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'
import { verifiedByProgram } from './verify-program.ts'

/** Makes a stopped site with some events. */
async function stoppedSite(): Promise<string> {
  const server = await startHeadless({ site: siteWithoutMedia })
  onTestFinished(() => removeFolder(server.folder))
  for (const topic of ['One', 'Two', 'Three']) await server.rpc('rooms.create', { topic, owner_id: 'ann' })
  await server.stop()
  return server.folder
}

async function startedAgain(folder: string): Promise<Headless> {
  const server = await startHeadless({ folder })
  onTestFinished(async () => void (await server.stop()))
  return server
}

test('a log removed while the site was stopped is reported at the next start and by every later check', async () => {
  const folder = await stoppedSite()
  expect((await verifiedByProgram(folder)).said).toContain('The event log is whole')
  await rm(join(folder, eventsFolder), { recursive: true })
  const checked = await verifiedByProgram(folder)
  expect(checked).toMatchObject({ code: 1 })
  expect(checked.said).toContain('ends before it')

  const server = await startedAgain(folder)
  const { items } = await server.rpc('events.list', { limit: 100 })
  expect(items.find(({ kind }) => kind === 'log.recovered')?.params).toMatchObject({ fault: 'shortened' })
  expect(await server.rpc('events.verify', {})).toMatchObject({ ok: false })
  await server.rpc('rooms.create', { topic: 'Four', owner_id: 'ann' })
  expect(await server.rpc('events.verify', {})).toMatchObject({ ok: false })
})

test('an older copy of the whole log with its seal fails verification', async () => {
  const server = await startHeadless({ site: siteWithoutMedia })
  onTestFinished(() => removeFolder(server.folder))
  const [events, copy] = [join(server.folder, eventsFolder), join(server.folder, 'older')]
  await server.rpc('events.verify', {})
  await mkdir(copy)
  await cp(events, copy, { recursive: true })
  for (const topic of ['One', 'Two', 'Three']) await server.rpc('rooms.create', { topic, owner_id: 'ann' })
  await server.stop()
  await rm(events, { recursive: true })
  await cp(copy, events, { recursive: true })
  expect((await verifiedByProgram(server.folder)).said).toContain('ends before it')
})

test('a log can be longer than the store expects, as after a crash', async () => {
  const folder = await temporaryFolder()
  const bound = { read: () => 2, note: () => {} }
  const log = await openLog(folder, { gatherMs: 1 })
  for (const id of ['a', 'b', 'c', 'd']) log.append(joined(id))
  await log.close()
  const again = await openLog(folder, { highWaterMark: bound })
  expect(await again.verify()).toMatchObject({ ok: true })
})

test('the end of the log is stored once a minute, and when it closes', async () => {
  const notes: number[] = []
  const folder = await temporaryFolder()
  const log = await openLog(folder, {
    highWaterMark: { read: () => 0, note: (seq) => void notes.push(seq) },
    gatherMs: 1,
  })
  for (let times = 0; times < 50; times++) {
    log.append(joined(`p${times}`))
    await log.flush()
  }
  await log.verify()
  expect(notes.length).toBe(1)
  await log.close()
  expect(notes.length).toBe(2)
  const [file = ''] = await segmentFiles(folder)
  expect(notes.at(-1)).toBe((await readFile(file, 'utf8')).trim().split('\n').length)
})
