import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openControllerSite } from '../../support/sites/controller-site.ts'
import { removeFolder } from '../../support/headless.ts'
import { record, recordedFileOf } from '../../support/recordings/recorded-files.ts'
import { bothHalves } from '../../support/page-session.ts'

test('The console port plays and exports recordings for authorised users, and the event log records it', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'roomdesk-recorded-'))
  const folder = join(dataFolder, 'recordings')
  const startedAt = Date.now() - 3_600_000
  await record({ folder, startedAt, roomId: '1000', userId: 'dock', userName: 'Loading dock', film: { seconds: 4 } })
  await record({ folder, startedAt, roomId: '1000', userId: 'anna', device: false, film: { seconds: 4 } })
  const site = await openControllerSite(undefined, { dataFolder })
  try {
    const key = await site.key()
    await expect.poll(async () => (await site.call(key, 'recordings.sources', {})).total).toBe(2)
    const idOf = async (user_id: string): Promise<number> => {
      const stream = { room_id: '1000', user_id }
      const { items } = await site.call(key, 'recordings.pieces', { stream, from: startedAt, to: Date.now() })
      return items[0]?.id ?? 0
    }
    const [dock, anna] = [await idOf('dock'), await idOf('anna')]
    await site.create('olivia', 'operator')
    const viewer = await site.create('victor', 'viewer')
    const cookies = { operator: await site.signIn('olivia'), viewer: await site.signIn('victor') }
    const status = async (headers: Record<string, string>, path: string): Promise<number> => {
      const answer = await fetch(`${site.url}/recordings/${path}`, { headers })
      await answer.body?.cancel()
      return answer.status
    }

    // Nobody signed in, an operator, a viewer, tokens with and without the scope.
    expect(await status({}, `segments/${dock}`)).toBe(401)
    for (const id of [dock, anna]) expect(await status(bothHalves(cookies.operator), `segments/${id}`)).toBe(200)
    expect(await status(bothHalves(cookies.viewer), `segments/${dock}`)).toBe(200)
    expect(await status(bothHalves(cookies.viewer), `segments/${anna}`)).toBe(404)
    const token = async (scope: 'recordings:read' | 'rooms:read'): Promise<string> => {
      const made = await site.call(key, 'accounts.create_token', { id: viewer.id, label: scope, scopes: [scope] })
      return `Bearer ${made.token}`
    }
    expect(await status({ authorization: await token('recordings:read') }, `segments/${dock}`)).toBe(200)
    expect(await status({ authorization: await token('rooms:read') }, `segments/${dock}`)).toBe(403)
    const part = await fetch(`${site.url}/recordings/segments/${dock}`, {
      headers: { ...bothHalves(cookies.operator), range: 'bytes=4-7' },
    })
    expect([part.status, await part.text()]).toEqual([206, 'ftyp'])
    const played = await fetch(`${site.url}/recordings/segments/${dock}/media?from=1.5`, {
      headers: bothHalves(cookies.operator),
    })
    expect(Number(played.headers.get('recording-from'))).toBeCloseTo(1, 1)
    expect((await played.arrayBuffer()).byteLength).toBe(Number(played.headers.get('content-length')))

    const snapshot = await fetch(`${site.url}/recordings/segments/${dock}/snapshot?at=1.5`, {
      headers: bothHalves(cookies.operator),
    })
    expect([snapshot.status, snapshot.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    expect(
      Buffer.from(await snapshot.arrayBuffer())
        .subarray(0, 3)
        .toString('hex'),
    ).toBe('ffd8ff')

    // An export belongs to whoever asked for it.
    const streams = [{ room_id: '1000', user_id: 'dock' }]
    const { id } = await site.call(cookies.operator, 'exports.start', { streams, from: startedAt, to: Date.now() })
    const state = async (): Promise<string> =>
      (await site.call(cookies.operator, 'exports.list', {})).items[0]?.state ?? ''
    await expect.poll(state).toBe('done')
    for (let part = 0; part < 3; part++) expect(await status(bothHalves(cookies.operator), `exports/${id}`)).toBe(200)
    const downloads = async (): Promise<string[]> => {
      const { items } = await site.call(key, 'events.list', { groups: ['access'], limit: 50 })
      return items
        .filter(({ kind }) => kind === 'link.used')
        .map(({ actor, params }) => `${actor.name}: ${params.link} of ${params.made_by}`)
    }
    expect(await downloads()).toEqual(['olivia: export of olivia'])
    expect(await status({ authorization: `Bearer ${key}` }, `exports/${id}`)).toBe(200)
    expect((await downloads()).toSorted()).toEqual(['console key: export of olivia', 'olivia: export of olivia'])
    expect(await status(bothHalves(cookies.viewer), `exports/${id}`)).toBe(404)
    expect(
      (await site.result(cookies.viewer, 'exports.start', { streams, from: startedAt, to: Date.now() })).status,
    ).toBe(403)

    // A revoked export is deleted with its file, and one that is cancelled leaves no access behind.
    const open = async () => (await site.call(key, 'capabilities.list', {})).items
    const [shown, ...none] = await open()
    expect([shown?.kind, none]).toEqual(['export', []])
    expect(shown?.last_used_at).toBeGreaterThan(0)
    expect(await readdir(join(folder, '.exports'))).toEqual([id])
    await site.call(key, 'capabilities.revoke', { ids: [shown?.id ?? ''] })
    expect((await site.call(cookies.operator, 'exports.list', {})).items).toEqual([])
    await expect.poll(() => readdir(join(folder, '.exports'))).toEqual([])
    const again = await site.call(cookies.operator, 'exports.start', { streams, from: startedAt, to: Date.now() })
    expect(await open()).toHaveLength(1)
    await site.call(cookies.operator, 'exports.cancel', { id: again.id })
    await expect.poll(open).toEqual([])

    // A failed export stays in the list without its capability, until it is dismissed, and leaves an event.
    const empty = { streams: [{ room_id: '1000', user_id: 'nobody' }], from: startedAt, to: Date.now() }
    const failed = await site.call(cookies.operator, 'exports.start', empty)
    await expect.poll(state).toBe('failed')
    await expect.poll(open).toEqual([])
    expect((await site.call(cookies.operator, 'exports.list', {})).items).toMatchObject([
      { id: failed.id, state: 'failed', failure: 'nothingRecorded', error: expect.stringContaining('Nothing') },
    ])
    const events = async () => (await site.call(key, 'events.list', { groups: ['recordings'], limit: 50 })).items
    expect((await events()).filter(({ kind }) => kind === 'recording.exportFailed')).toMatchObject([
      { level: 'warning', subject: { id: '1000/nobody' }, params: { reason: 'nothingRecorded', made_by: 'olivia' } },
    ])
    await site.call(cookies.operator, 'exports.cancel', { id: failed.id })
    expect((await site.call(cookies.operator, 'exports.list', {})).items).toEqual([])

    // A file that was deleted by hand is missing in the export, which says so, and leaves the time line.
    const [annaFile, dockFile] = await Promise.all(['anna', 'dock'].map((user) => recordedFileOf(folder, user)))
    await rm(annaFile ?? '')
    const both = [...streams, { room_id: '1000', user_id: 'anna' }]
    const ended = async (id: string) => {
      const job = async () => (await site.call(cookies.operator, 'exports.list', {})).items.find((one) => one.id === id)
      await expect.poll(async () => (await job())?.state).toMatch(/done|failed/)
      return await job()
    }
    const exported = async (some: typeof streams) =>
      await ended(
        (await site.call(cookies.operator, 'exports.start', { streams: some, from: startedAt, to: Date.now() })).id,
      )
    expect(await exported(both)).toMatchObject({ state: 'done', lost: 1 })
    await expect.poll(async () => (await site.call(key, 'recordings.sources', {})).total).toBe(1)
    expect((await events()).find(({ kind }) => kind === 'recording.filesMissing')).toMatchObject({
      subject: { id: '1000/anna' },
      params: { segments: 1 },
    })
    const problems = async () => (await site.call(key, 'recordings.status', {})).problems.map(({ code }) => code)
    expect(await problems()).toContain('filesMissing')

    // Without its mark, the folder may be that of a disk that is not mounted: nothing leaves the time line.
    await rename(join(folder, 'roomdesk-recordings.json'), join(folder, 'moved.json'))
    await rename(dockFile ?? '', join(folder, 'moved.mp4'))
    expect(await exported(streams)).toMatchObject({ state: 'failed', failure: 'filesLost', lost: 1 })
    expect((await site.call(key, 'recordings.sources', {})).total).toBe(1)

    const items = await events()
    const acts = items.map(({ kind, actor, subject }) => `${actor.name} ${kind} ${subject.id}`)
    expect(acts).toEqual(
      expect.arrayContaining([
        'olivia recording.watched 1000/dock',
        'olivia recording.watched 1000/anna',
        'victor recording.watched 1000/dock',
        'olivia recording.exported 1000/dock',
      ]),
    )
    expect(acts).not.toContain('victor recording.watched 1000/anna')
    const named = (kind: string) => new Set(items.filter((one) => one.kind === kind).map(({ subject }) => subject.name))
    expect(named('recording.exported')).toContain('Loading dock')
  } finally {
    await site.remove()
    await removeFolder(dataFolder)
  }
})
