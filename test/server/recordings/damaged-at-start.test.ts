import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { record } from '../../support/recordings/recorded-files.ts'
import { MediaSite } from '../../support/sites/media-site.ts'

vi.setConfig({ testTimeout: 60_000 })

const stream = { room_id: '1000', user_id: 'yard' }
const noon = Date.UTC(2026, 10, 25, 12)

/** Overwrites a part of the index of a stopped site. Returns the folder of the index. */
async function damage(dataFolder: string, from: number, to: number): Promise<string> {
  const all = join(dataFolder, 'recordings-index')
  const [name = expect.fail('there is no index')] = await readdir(all)
  const file = await open(join(all, name, 'index.sqlite'), 'r+')
  try {
    await file.write(Buffer.alloc(to - from, 0xa5), 0, to - from, from)
  } finally {
    await file.close()
  }
  return join(all, name)
}

// The header is checked when the file is opened, the first page when its tables are read (sqlite.org/fileformat2.html).
test.for([
  ['header', 0, 100],
  ['list of tables', 100, 4_096],
] as const)(
  'An operator sees all recordings again soon after a start with a damaged index: its %s',
  async ([_, from, to]) => {
    const recordings = await mkdtemp(join(tmpdir(), 'roomdesk-recordings-'))
    onTestFinished(() => rm(recordings, { recursive: true }))
    const recorded = await record({ folder: recordings, userId: 'yard', startedAt: noon })
    const spans = async (site: MediaSite) => {
      const asked = { streams: [stream], from: noon - 60_000, to: noon + 3_600_000 }
      return (await site.rpc('recordings.segments', asked)).items[0]?.spans ?? []
    }
    const before = await MediaSite.start({ recordings, nodes: [] })
    await expect
      .poll(async () => (await spans(before)).reduce((sum, { segments }) => sum + segments, 0))
      .toBe(recorded.length)
    const shown = await spans(before)
    await before.stop()

    const folder = await damage(before.folder, from, to)
    await using site = await MediaSite.start({ recordings, nodes: [], folder: before.folder })
    await expect.poll(() => spans(site), { timeout: 20_000 }).toEqual(shown)
    expect(site.logged.join('')).toContain('the index of the recordings is damaged')
    expect(await readdir(folder)).toContain('index.sqlite.damaged')
    const pieces = await site.rpc('recordings.pieces', { stream, from: noon - 60_000, to: noon + 3_600_000 })
    expect(pieces.items.map(({ from: startedAt }) => startedAt)).toEqual(recorded.map(({ startedAt }) => startedAt))
  },
)
