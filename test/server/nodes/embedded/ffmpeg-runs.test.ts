import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { controllerMethods } from '../../../../shared/media/controller-methods.ts'
import { type FfmpegPlan, type FfmpegTell, maxRunBytes, runWindow } from '../../../../shared/media/ffmpeg.ts'
import { ffmpegRuns } from '../../../support/media/own-ffmpeg.ts'

const pictures: FfmpegPlan = { video: { codec: 'H264', shownFromMs: 0, interlaced: false, still: false }, audio: false }
const sound: FfmpegPlan = { audio: true }

/** Runs ffmpeg for a media program controlled by the test. */
async function controller(transcoders = 1) {
  const told: FfmpegTell[] = []
  const runs = ffmpegRuns((message) => told.push(message), { transcoders: () => transcoders })
  onTestFinished(() => runs.endAll())
  runs.take({ ask: 'look', id: 1 })
  await vi.waitFor(() => expect(told).toMatchObject([{ tell: 'program', program: { pictures: true } }]), 10_000)
  const ended = (run: number) => told.find((message) => message.tell === 'ended' && message.run === run)
  return { runs, told, ended }
}

/** Lists the process ids of ffmpeg started by this process. */
function ffmpegs(): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,comm='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, name] = /^\s*(\d+)\s+(\d+)\s+(\S+)/.exec(line) ?? []
    return name === 'ffmpeg' && Number(parent) === process.pid ? [Number(pid)] : []
  })
}

test.each([
  ['a path', { ...pictures, program: '/bin/sh' }],
  ['words for the command line', { video: { ...pictures.video, shownFromMs: '0),movie=/etc/passwd' }, audio: false }],
  ['a time that is not a number', { video: { ...pictures.video, shownFromMs: Number.NaN }, audio: false }],
  ['a time before the first picture', { video: { ...pictures.video, shownFromMs: -1 }, audio: false }],
  ['a time in the far future', { video: { ...pictures.video, shownFromMs: 1e15 }, audio: false }],
  ['no output', { audio: false }],
])('a plan with %s is no message', (_, plan) => {
  const { params } = controllerMethods.ffmpeg
  const message = { ask: 'start', run: 1, plan }
  expect(params.safeParse(message).success).toBe(false)
  expect(params.safeParse({ ...message, plan: pictures }).success).toBe(true)
})

test('the number of concurrent runs stays within the settings, for each kind', async () => {
  const { runs, ended } = await controller(1)
  runs.take({ ask: 'start', run: 1, plan: pictures })
  runs.take({ ask: 'start', run: 2, plan: pictures })
  expect(ended(1)).toBeUndefined()
  expect(ended(2)).toMatchObject({ why: 'there are as many ffmpegs as the settings allow' })
  for (let run = 3; run <= 11; run++) runs.take({ ask: 'start', run, plan: sound })
  expect(ended(10)).toBeUndefined()
  expect(ended(11)).toMatchObject({ why: 'there are as many ffmpegs as the settings allow' })
  expect(runs.size).toBe(9)
})

test('repeated starts and ends never leave many processes', async () => {
  const { runs, told } = await controller(1)
  for (let run = 1; run <= 500; run++) {
    runs.take({ ask: 'start', run, plan: pictures })
    runs.take({ ask: 'end', run })
  }
  expect(told.filter(({ tell }) => tell === 'ended').length).toBeGreaterThan(400)
  expect(runs.size).toBe(0)
})

test('with 0 transcoders none runs', async () => {
  const { runs, ended } = await controller(0)
  runs.take({ ask: 'start', run: 1, plan: sound })
  expect(ended(1)).toBeDefined()
})

test('a run id that was used before starts nothing', async () => {
  const { runs, ended } = await controller(4)
  runs.take({ ask: 'start', run: 5, plan: pictures })
  runs.take({ ask: 'start', run: 4, plan: pictures })
  expect(runs.size).toBe(1)
  runs.take({ ask: 'start', run: 5, plan: pictures })
  expect(ended(5)).toMatchObject({ why: 'it used the number of a run twice' })
  expect(runs.size).toBe(0)
})

test('messages for unknown runs change nothing', async () => {
  const { runs, told } = await controller()
  const before = told.length
  runs.take({ ask: 'write', run: 7, bytes: 'AAAA' })
  runs.take({ ask: 'taken', run: 7, bytes: 1 })
  runs.take({ ask: 'finish', run: 7 })
  runs.take({ ask: 'end', run: 7 })
  expect(told).toHaveLength(before)
})

test('a process that writes more than ffmpeg accepts, or confirms more than it produced, has its run ended', async () => {
  const { runs, ended } = await controller(2)
  runs.take({ ask: 'start', run: 1, plan: pictures })
  const bytes = Buffer.alloc(maxRunBytes).toString('base64')
  for (let sent = 0; sent <= runWindow + 2 * maxRunBytes; sent += maxRunBytes)
    runs.take({ ask: 'write', run: 1, bytes })
  expect(ended(1)).toMatchObject({ why: 'it wrote more than it may' })
  runs.take({ ask: 'start', run: 2, plan: pictures })
  runs.take({ ask: 'taken', run: 2, bytes: 1 })
  expect(ended(2)).toMatchObject({ why: 'it took more than there was' })
})

test.skipIf(process.platform !== 'linux')(
  'after the media program has ended no ffmpeg remains, and none starts',
  async () => {
    const { runs, told } = await controller(4)
    for (let run = 1; run <= 4; run++) runs.take({ ask: 'start', run, plan: pictures })
    await vi.waitFor(() => expect(ffmpegs().length).toBeGreaterThan(0), 10_000)
    const before = told.length
    runs.endAll()
    runs.take({ ask: 'start', run: 5, plan: pictures })
    await vi.waitFor(() => expect(ffmpegs()).toEqual([]), 10_000)
    expect(told).toHaveLength(before)
  },
)
