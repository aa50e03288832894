import { soleLeadership } from '../../../../server/store/leadership.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test as base, vi } from 'vitest'
import { RecordingRetention } from '../../../../server/recordings/retention.ts'
import { StoredIndex } from '../../../../server/recordings/index/stored-index.ts'
import { SpanExport } from '../../../../server/recordings/export/span-export.ts'
import { recordingSettingsSchema } from '../../../../shared/settings/recording.ts'
import { pino } from 'pino'
import { ObjectServer } from '../../../support/objects/object-server.ts'
import { type UploadedSite, uploadedSite } from '../../../support/objects/uploaded-site.ts'
import { beginning, cameraStream, complete } from '../../../support/recordings/segment-facts.ts'
import { temporaryFolder } from '../../../support/sites/store-site.ts'
import { insideOf } from '../../../../shared/files/own-path.ts'
import { disposed } from '../../../support/fixtures.ts'

/** A site without records that nobody else can lead. */
const empty = { get: () => undefined, all: () => new Map() }
const alone = { ...empty, leadership: soleLeadership(empty) }

vi.setConfig({ testTimeout: 30_000 })
const logger = pino({ level: 'silent' })
const startedAt = Date.UTC(2026, 10, 20, 12)
const film = { seconds: 4 }
/** Objects of the site itself. */
const ownObjects = ['roomdesk-index.json', 'roomdesk-recordings.json']

const test = base.extend('server', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(onCleanup, await ObjectServer.start()),
)

test('finished segments are uploaded, leave the disk, and are played, exported and deleted as before', async ({
  server,
}) => {
  const folder = await temporaryFolder()
  const settings = () => server.settings({ prefix: 'played/' })
  const site = uploadedSite(folder, settings)
  const files = await site.record({ startedAt, film })
  const whole = await Promise.all(files.map((file) => readFile(join(folder, file))))
  await expect.poll(() => site.places()).toEqual(files.map(() => 'both'))
  const names = async () => (await server.names()).filter((name) => name.startsWith('played/'))
  expect(await names()).toEqual([...files, ...ownObjects].map((name) => `played/${name}`).toSorted())

  await site.release()
  expect(await Promise.all(files.map((file) => site.isOnDisk(file)))).toEqual(files.map(() => false))
  const [segment] = site.index.segments({})
  const id = segment?.id ?? 0
  const downloaded = await site.ask(`/recordings/segments/${id}`)
  expect(Buffer.from(await downloaded.arrayBuffer())).toEqual(whole[0])
  const played = await site.ask(`/recordings/segments/${id}/media?from=1`)
  expect(played.status).toBe(200)
  expect((await played.arrayBuffer()).byteLength).toBe(Number(played.headers.get('content-length')))
  const { index, files: segments, tables } = site
  const span = new SpanExport({ files: segments, index, tables, ffmpeg: async () => undefined })
  const { roomId = '', userId = '' } = segment ?? {}
  const stream = { roomId, userId, source: 'main', quality: 'main' } as const
  const wish = { ...stream, from: startedAt, to: startedAt + 60_000, picture: true, sound: true }
  const exported = await span.writeFile(wish, insideOf(folder, 'export.mp4'))
  expect(exported.durationMs).toBeGreaterThan(3_000)

  index.deletions.deleteSpan(stream, { from: 0, to: startedAt * 2 }, 100)
  await expect.poll(names).toEqual(ownObjects.map((name) => `played/${name}`))
})

test('without the storage, a remote recording says why it cannot be played, and local ones play', async () => {
  const own = await ObjectServer.start()
  try {
    const site = uploadedSite(await temporaryFolder(), () => own.settings())
    await site.record({ startedAt, film })
    await expect.poll(() => new Set(site.places())).toEqual(new Set(['both']))
    await site.release()
    await own.vanish()
    await site.record({ startedAt: startedAt + 60_000, film, userId: 'gate' })
    const status = async (userId?: string) => {
      const found = site.index.segments({}).find((each) => (userId === undefined) === (each.userId !== 'gate'))
      const answer = await site.ask(`/recordings/segments/${found?.id ?? 0}/media?from=0`)
      const body = answer.status === 200 ? '' : await answer.text()
      await answer.body?.cancel().catch(() => {})
      return [answer.status, body]
    }
    expect(await status()).toEqual([502, expect.stringContaining('The object storage cannot be reached.')])
    expect((await status('gate'))[0]).toBe(200)
    await expect.poll(() => site.objects.status().problem).toBe('unreachable')
    expect(site.index.places.oldestWaiting).toBeGreaterThan(startedAt)
    await own.listen()
    await expect.poll(() => site.places().filter((place) => place === 'local')).toEqual([])
    expect(site.objects.status().problem).toBeNull()
  } finally {
    await own.remove()
  }
})

test('the index of a lost folder recovers segments that are only in the storage', async ({ server }) => {
  const settings = () => server.settings({ prefix: 'rebuilt/' })
  const before = uploadedSite(await temporaryFolder(), settings)
  await before.record({ startedAt, film })
  await expect.poll(() => new Set(before.places())).toEqual(new Set(['both']))
  const known = before.index.segments({}).map(({ id: _, stored: __, ...facts }) => facts)
  await before.stop()

  const asked = server.requests.length
  const after = uploadedSite(await temporaryFolder(), settings)
  await expect.poll(() => after.places()).toEqual(known.map(() => 'remote'))
  // One request for each object.
  const ofSegments = server.requests.slice(asked).filter((request) => /^GET .*\.(mp4|webm)/.test(request))
  expect(ofSegments).toHaveLength(known.length)
  expect(after.index.segments({}).map(({ id: _, stored: __, ...facts }) => facts)).toEqual(known)
  const played = await after.ask(`/recordings/segments/${after.index.segments({})[0]?.id ?? 0}/media?from=0`)
  expect(played.status).toBe(200)
  await played.body?.cancel()
})

test('two controllers of a site, each with its own folder, alternate: the leader has the uploads of the other', async ({
  server,
}) => {
  const settings = () => server.settings({ prefix: 'turns/' })
  const [folderA, folderB] = [await temporaryFolder(), await temporaryFolder()]
  const minutes = (site: UploadedSite): number[] =>
    site.index.segments({}).map((segment) => (segment.startedAt - startedAt) / 60_000)
  for (const [turn, folder] of [folderA, folderB, folderA, folderB].entries()) {
    const site = uploadedSite(folder, settings)
    await expect.poll(() => minutes(site)).toEqual(Array.from({ length: turn }, (_, minute) => minute))
    await site.record({ startedAt: startedAt + turn * 60_000, film })
    await expect.poll(() => site.places().includes('local')).toBe(false)
    await site.stop()
  }
  // Nobody else was there meanwhile: the bucket is not read again.
  const asked = server.requests.length
  const site = uploadedSite(folderB, settings)
  await site.record({ startedAt: startedAt + 240_000, film })
  await expect.poll(() => site.places().includes('local')).toBe(false)
  expect(server.requests.slice(asked).filter((request) => request.includes('list-type'))).toEqual([])
})

test('a bucket of another site is neither read nor written', async ({ server }) => {
  const settings = () => server.settings({ prefix: 'other/' })
  const { ObjectClient } = await import('../../../../server/recordings/objects/object-client.ts')
  const client = new ObjectClient(settings(), () => [])
  await client.putBytes('roomdesk-recordings.json', Buffer.from('{"site":"of somebody else"}'))
  client.close()
  const site = uploadedSite(await temporaryFolder(), settings)
  await site.record({ startedAt, film })
  await expect.poll(() => site.objects.status().problem).toBe('otherSite')
  expect(site.failures).toEqual(['otherSite'])
  expect((await server.names()).filter((name) => name.startsWith('other/'))).toEqual(['other/roomdesk-recordings.json'])
})

test('when the disk needs space, uploaded segments are removed from it first, and the oldest others are deleted', async () => {
  const folder = await temporaryFolder()
  const index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: vi.fn() })
  const yard = cameraStream('yard')
  const gigabyte = 1_000_000_000
  for (const [minute, stored] of (['local', 'both', 'both', 'local', 'local'] as const).entries())
    index.writer.ended(complete(beginning(yard, startedAt + minute * 60_000), { bytes: gigabyte }), false, stored)
  const retention = new RecordingRetention({
    ...{ index, logger, localHours: () => 24, isUploading: () => false, notUploaded: () => {}, deleted: () => {} },
    store: alone,
    settings: () => recordingSettingsSchema.parse({}),
  })
  const places = (): string[] => index.segments(yard).map(({ stored }) => stored)
  const space = { free: 4 * gigabyte, capacity: 100 * gigabyte, reserve: 5 * gigabyte, margin: 0 }
  retention.makeRoom(space, 0)
  await expect.poll(places).toEqual(['local', 'remote', 'both', 'local', 'local'])
  expect(index.deletions.waitingRemovals()).toEqual({ files: 1, bytes: gigabyte })
  await retention.stop()
  const other = new RecordingRetention({
    ...{ index, logger, localHours: () => 24, isUploading: () => false, notUploaded: () => {}, deleted: () => {} },
    store: alone,
    settings: () => recordingSettingsSchema.parse({}),
  })
  other.makeRoom({ ...space, free: 3 * gigabyte }, 0)
  await expect.poll(places).toEqual(['remote', 'remote', 'local', 'local'])
  await other.stop()
  index.close()
})

test('the disk fills while the storage is unreachable: the oldest segments go, which is reported once, and the rest is uploaded when it returns', async () => {
  const own = await ObjectServer.start()
  onTestFinished(() => own.remove())
  await own.vanish()
  const site = uploadedSite(await temporaryFolder(), () => own.settings())
  for (const minute of [0, 1, 2, 3]) await site.record({ startedAt: startedAt + minute * 60_000, film })
  await expect.poll(() => site.objects.status().problem).toBe('unreachable')
  const notUploaded = vi.fn()
  const retention = new RecordingRetention({
    ...{ index: site.index, logger, localHours: () => 24, isUploading: () => true, notUploaded },
    deleted: () => site.removal.begin(),
    store: alone,
    settings: () => recordingSettingsSchema.parse({}),
  })
  const [first, second] = site.index.segments({})
  const space = { free: 0, capacity: 1_000_000, reserve: first?.bytes ?? 0, margin: 0 }
  retention.makeRoom(space, 0)
  await expect.poll(() => notUploaded.mock.calls).toEqual([[first?.bytes]])
  expect(site.places()).toHaveLength(3)
  retention.makeRoom(space, 0)
  await expect.poll(() => site.places()).toHaveLength(2)
  // A disk that stays full deletes every few seconds: nobody wants to hear that each time.
  expect(notUploaded).toHaveBeenCalledOnce()
  await retention.stop()
  await own.listen()
  await expect.poll(() => site.places(), { timeout: 20_000 }).toEqual(['both', 'both'])
  const inBucket = (await own.names()).filter((name) => name.includes('~main/'))
  expect(inBucket).toEqual(site.index.segments({}).map(({ file }) => file))
  expect(inBucket).not.toContain(second?.file)
})

test('an index of the previous version is migrated', async () => {
  const folder = await temporaryFolder()
  const onDamage = vi.fn()
  const open = () => new StoredIndex({ folder, kept: { covers: () => false }, onDamage })
  const index = open()
  for (const minute of [0, 1, 2])
    index.writer.ended(complete(beginning(cameraStream('yard'), startedAt + minute * 60_000)))
  index.close()
  const database = new DatabaseSync(join(folder, 'index.sqlite'))
  database.exec(`DROP TRIGGER segment_added; DROP TRIGGER segment_deleted; DROP TRIGGER segment_moved;
    DROP TABLE places; DROP TABLE uploads; DROP INDEX segments_by_place; DROP TABLE removals;
    DROP INDEX segments_lacking; DROP TABLE lacks; ALTER TABLE segments DROP COLUMN lack;
    CREATE TABLE removals (id INTEGER PRIMARY KEY, file TEXT NOT NULL, bytes INTEGER NOT NULL);
    INSERT INTO removals VALUES (900, 'a/b~main/2026-11-20/1.mp4', 5); PRAGMA user_version = 1`)
  database.close()
  const again = open()
  expect([again.isNew, onDamage.mock.calls]).toEqual([false, []])
  expect(again.places.sums().local).toEqual({ segments: 3, bytes: 45_000_000 })
  expect(again.deletions.waitingRemovals()).toEqual({ files: 1, bytes: 5 })
  again.close()
})
