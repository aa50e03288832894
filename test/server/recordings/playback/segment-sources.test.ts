import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SegmentFiles } from '../../../../server/recordings/playback/segment-sources.ts'

test('A segment completed after it was found is still read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
  onTestFinished(async () => await rm(folder, { recursive: true }))
  await writeFile(join(folder, 'one.mp4.part'), 'media')
  const found = await new SegmentFiles(folder).locate({ file: 'one.mp4' })
  await rename(join(folder, 'one.mp4.part'), join(folder, 'one.mp4'))
  const file = await found.open()
  const bytes = Buffer.alloc(5)
  await file.read(bytes, 0, bytes.length, 0)
  await file.close()
  expect(bytes.toString()).toBe('media')
})
