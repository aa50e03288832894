import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test as base } from 'vitest'
import { hiddenSecret } from '../../../shared/hidden-secret.ts'
import { removeFolder } from '../../support/headless.ts'
import { ObjectServer } from '../../support/objects/object-server.ts'
import { record } from '../../support/recordings/recorded-files.ts'
import { openControllerSite } from '../../support/sites/controller-site.ts'
import { disposed } from '../../support/fixtures.ts'

const test = base.extend('server', { scope: 'file' }, async ({}, { onCleanup }) =>
  disposed(onCleanup, await ObjectServer.start()),
)

test('an admin tests and sets object storage without revealing its secret, and recordings are uploaded and marked as such', async ({
  server,
}) => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'roomdesk-uploaded-'))
  const folder = join(dataFolder, 'recordings')
  const startedAt = Date.now() - 3_600_000
  const segments = await record({ folder, startedAt, roomId: '1000', userId: 'dock', film: { seconds: 4 } })
  const site = await openControllerSite(undefined, { dataFolder })
  try {
    const key = await site.key()
    await expect.poll(async () => (await site.call(key, 'recordings.sources', {})).total).toBe(1)
    expect((await site.call(key, 'recordings.status', {})).objects).toBeNull()
    const wanted = server.settings({ keep_local_hours: 0 })
    await site.create('olivia', 'operator')
    const operator = await site.signIn('olivia')
    expect((await site.result(operator, 'recordings.test_objects', wanted)).status).toBe(403)

    const wrong = await site.call(key, 'recordings.test_objects', { ...wanted, secret_access_key: 'wrong' })
    expect(wrong).toMatchObject({ problem: 'signature', step: 'list', message: expect.stringContaining('secret key') })
    const own = { ...wanted, endpoint: site.url }
    expect(await site.call(key, 'recordings.test_objects', own)).toMatchObject({ problem: 'ownPort' })
    expect(await site.call(key, 'recordings.test_objects', wanted)).toMatchObject({ problem: null, message: '' })

    const saved = await site.call(key, 'settings.set', { object_storage: wanted })
    expect(saved.object_storage.secret_access_key).toBe(hiddenSecret)
    const status = async () => (await site.call(key, 'recordings.status', {})).objects
    await expect.poll(status).toMatchObject({ enabled: true, waiting: 0, stored: segments.length, problem: null })
    const names = await server.names()
    for (const { file } of segments) expect(names).toContain(file)

    // The placeholder stands for the stored secret, in a test and when it is saved again.
    const hidden = { ...wanted, secret_access_key: hiddenSecret }
    expect(await site.call(key, 'recordings.test_objects', hidden)).toMatchObject({ problem: null })
    await site.call(key, 'settings.set', { object_storage: hidden })
    // Another key id has no secret until it is entered, and the overview says that nothing is uploaded.
    await site.call(key, 'settings.set', { object_storage: { access_key_id: 'another' } })
    expect((await site.call(key, 'settings.get', {})).object_storage.secret_access_key).toBe('')
    await expect.poll(status).toMatchObject({ problem: 'incomplete' })
    const { attention } = await site.call(key, 'overview.get', {})
    expect(attention.map(({ code }) => code)).toContain('recordingObjects')
    const { items } = await site.call(key, 'events.list', { limit: 200 })
    const noted = items.flatMap(({ after = {} }) => Object.entries(after))
    const secrets = noted.filter(([field]) => field.endsWith('secret_access_key')).map(([, value]) => value)
    expect(secrets.toSorted()).toEqual(['', '[redacted]'])
    const metrics = await (await fetch(`${site.url}/metrics`)).text()
    expect(metrics).toMatch(/roomdesk_recording_objects_bytes [1-9]/)
    expect(await readdir(folder)).toContain('roomdesk-recordings.json')
  } finally {
    await site.remove()
    await removeFolder(dataFolder)
  }
})
