import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Headless, startHeadless } from '../support/headless.ts'
import { record } from '../support/recordings/recorded-files.ts'

async function started(folder: string): Promise<Headless> {
  const site = await startHeadless({ site: { nodes: [] }, flags: ['--recordings-dir', folder] })
  onTestFinished(() => site.remove('SIGKILL'))
  return site
}

test('Recordings of a machine that is lost for good play on another one with a copy of its disk', {
  timeout: 120_000,
}, async () => {
  const place = await mkdtemp(join(tmpdir(), 'roomdesk-disks-'))
  onTestFinished(() => rm(place, { recursive: true, force: true }))
  const [disk, copy] = [join(place, 'disk'), join(place, 'copy')]
  await mkdir(disk)
  const startedAt = Date.now() - 3_600_000
  await record({ folder: disk, startedAt, roomId: '1000', userId: 'dock', userName: 'Dock' })
  const first = await started(disk)
  const sources = async (site: Headless) => await site.rpc('recordings.sources', {})
  await expect.poll(async () => (await sources(first)).items[0]?.segments, { timeout: 30_000 }).toBe(3)
  const known = (await sources(first)).items
  await first.stop('SIGKILL')
  await cp(disk, copy, { recursive: true })
  await rm(disk, { recursive: true })

  // Another site does not take a folder by accident: it names the file to remove.
  const second = await started(copy)
  expect((await second.rpc('recordings.status', {})).problems).toMatchObject([
    { code: 'folderOfOtherSite', message: expect.stringContaining('remove roomdesk-recordings.json') },
  ])
  await second.stop()
  await rm(join(copy, 'roomdesk-recordings.json'))
  const third = await started(copy)
  // The index is rebuilt at first.
  await expect
    .poll(async () => await third.rpc('recordings.status', {}), { timeout: 30_000 })
    .toMatchObject({ usable: true, problems: [] })
  await expect.poll(async () => (await sources(third)).items, { timeout: 30_000 }).toEqual(known)
  const span = { from: startedAt, to: Date.now() }
  const { items } = await third.rpc('recordings.pieces', { stream: { room_id: '1000', user_id: 'dock' }, ...span })
  expect(items).toHaveLength(3)
  const authorization = `Bearer ${(await readFile(join(third.folder, 'console.key'), 'utf8')).trim()}`
  for (const { id } of items) {
    const played = await fetch(`${third.ready.console}/recordings/segments/${id}/media?from=0`, {
      headers: { authorization },
    })
    expect(played.status).toBe(200)
    expect((await played.arrayBuffer()).byteLength).toBeGreaterThan(50_000)
  }
})
