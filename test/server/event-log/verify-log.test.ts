import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { removeFolder, startHeadless } from '../../support/headless.ts'
import { edit } from '../../support/sites/event-log-site.ts'
import { verifiedByProgram as verify } from './verify-program.ts'

test('--verify-log says whether the log of a site is unchanged, or which entry fails', async () => {
  const server = await startHeadless({ site: { nodes: [{ name: 'lab', kind: 'simulated' }] } })
  onTestFinished(() => removeFolder(server.folder))
  await server.rpc('rooms.create', { topic: 'Hall' })
  // Works while the controller runs, too.
  expect(await verify(server.folder)).toMatchObject({ code: 0 })
  await server.stop()
  const whole = await verify(server.folder)
  expect(whole).toMatchObject({
    code: 0,
    said: expect.stringMatching(/^The event log is whole: \d+ entries/) as unknown,
  })
  await edit(server.folder, (lines) =>
    lines.map((line, index) => (index === 2 ? line.replace('"info"', '"error"') : line)),
  )
  expect(await verify(server.folder)).toEqual({
    code: 1,
    said: 'The event log is not as it was written: first bad entry 3 (events-000000000001.ndjson): the entry was changed.',
  })
})

test('--verify-log creates nothing in a folder without a key', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-no-log-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { code, said } = await verify(folder)
  expect(code).toBe(1)
  expect(said).toContain('seal.key is missing')
  expect(await readdir(folder)).toEqual([])
})
