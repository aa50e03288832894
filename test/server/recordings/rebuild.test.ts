import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { rebuildIndex } from '../../../server/recordings/index/rebuild-index.ts'
import { StoredIndex } from '../../../server/recordings/index/stored-index.ts'
import { record } from '../../support/recordings/recorded-files.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

vi.setConfig({ testTimeout: 60_000 })
const logger = pino({ level: 'silent' })
const noon = Date.UTC(2026, 10, 25, 12)

function open(folder: string): StoredIndex {
  const index = new StoredIndex({ folder, isKept: () => false, onDamage: vi.fn() })
  onTestFinished(() => index.close())
  return index
}

test('a lost index is rebuilt from the files alone, a cut-off one repaired, the newest first', async () => {
  const folder = await temporaryFolder()
  const whole = await record({ folder, userId: 'yard', startedAt: noon })
  const cut = await record({ folder, userId: 'gate', startedAt: noon + 60_000, growing: true })
  const index = open(folder)
  const order: string[] = []
  index.onChange((streams) => order.push(...streams.map(({ userId }) => userId)))
  const progress = vi.fn()
  const signal = AbortSignal.timeout(30_000)
  const rebuilt = await rebuildIndex({ folder, index, isOpen: () => false, progress, signal, logger })
  expect(rebuilt).toMatchObject({ segments: whole.length + cut.length, repaired: 1, unreadable: 0 })
  const read = whole.length + cut.length - 1
  expect(progress).toHaveBeenLastCalledWith(read, read)
  const found = index.segments({ userId: 'yard' })
  expect(found.map(({ file, startedAt, bytes, videoCodec }) => ({ file, startedAt, bytes, videoCodec }))).toEqual(
    whole.map(({ file, startedAt, bytes, videoCodec }) => ({ file, startedAt, bytes, videoCodec })),
  )
  for (const [position, { endedAt }] of found.entries())
    expect(Math.abs(endedAt - (whole[position]?.endedAt ?? 0))).toBeLessThan(100)
  expect(index.segments({ userId: 'gate' }).at(-1)?.end).toBe('cut')
  expect(order.at(-1)).toBe('yard')
})

test('a file that is gone or of another program does not end the rebuild', async () => {
  const folder = await temporaryFolder()
  const [first, second] = await record({ folder, userId: 'yard', startedAt: noon })
  await rm(join(folder, first?.file ?? ''))
  const index = open(folder)
  const signal = AbortSignal.timeout(30_000)
  await rebuildIndex({ folder, index, isOpen: () => false, progress: () => {}, signal, logger })
  expect(index.segments({})[0]?.startedAt).toBe(second?.startedAt)
})
