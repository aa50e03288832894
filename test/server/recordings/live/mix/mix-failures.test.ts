import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { LiveStream } from '../../../../../server/recordings/live/live-streams.ts'
import { MixRun, MixSegments } from '../../../../../server/recordings/live/mix/mix-run.ts'
import { MixVoice, Voices } from '../../../../../server/recordings/live/mix/voices.ts'
import type { SegmentStart } from '../../../../../shared/recordings/segment.ts'

/** What fails in a live mix goes into the log: its listeners only miss something. */

const stream = { roomId: 'room', userId: 'ann', source: 'main', quality: 'main' } as const
const facts: SegmentStart = {
  ...{ ...stream, container: 'mp4' as const, userName: 'Ann', topic: '', device: false, file: 'room/ann.mp4' },
  ...{ startedAt: 0, senderStartedAt: null, videoCodec: '', audioCodec: 'opus', width: 0, height: 0 },
}
const index = { segments: () => [], open: () => [] }
const tables = { of: () => Promise.reject(new Error('there is no segment')) }

/** Stands for ffmpeg. */
async function program(folder: string, script: string): Promise<{ path: string }> {
  const path = join(folder, 'ffmpeg.sh')
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return { path }
}

test('A decoder that fails repeatedly is logged once with the lines of ffmpeg', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mix-'))
  const logger = { warn: vi.fn() }
  const ffmpeg = await program(folder, `echo run >> ${folder}/runs; echo 'no decoder for this' >&2; exit 1`)
  const live = new LiveStream(stream, { index, tables, clock: Date.now })
  const voice = new MixVoice({ stream: live, folder, program: ffmpeg, logger })
  const runs = (): Promise<string> => readFile(join(folder, 'runs'), 'utf8').catch(() => '')
  await expect.poll(async () => (await runs()).split('\n').length, { timeout: 20_000 }).toBeGreaterThan(3)
  await voice.close()
  expect(logger.warn).toHaveBeenCalledTimes(1)
  expect(logger.warn).toHaveBeenCalledWith(
    { err: expect.objectContaining({ message: expect.stringContaining('no decoder for this') }), ...stream },
    'live mix: the decoder of a voice failed',
  )
})

test('A finished file that cannot be renamed is logged, and the mix continues', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mix-'))
  const logger = { warn: vi.fn() }
  const ffmpeg = await program(folder, 'echo mix-0.mp4,0,1; exec cat <&3 >/dev/null')
  const segments = new MixSegments()
  const clock = Date.now
  const voices = new Voices({ roomId: 'room', index, tables, clock, folder, program: ffmpeg, logger })
  const run = await MixRun.start({
    ...{ program: ffmpeg, folder, below: '~mixes/one', name: 'mix', picture: undefined, facts },
    ...{ startedAt: clock(), voices, segments, clock, logger },
  })
  await expect
    .poll(() => logger.warn.mock.calls, { timeout: 20_000 })
    .toEqual([
      [
        { err: expect.objectContaining({ code: 'ENOENT' }), file: '~mixes/one/mix-0.mp4' },
        'live mix: a finished file could not be renamed',
      ],
    ])
  expect(segments.segments({}).map(({ file }) => file)).toEqual(['~mixes/one/mix-0.mp4', '~mixes/one/mix-1.mp4'])
  expect(run.over.aborted).toBe(false)
  await run.end()
})
