import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from 'mediabunny'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Playback } from '../../server/media/feeds/feed.ts'
import { YieldingScheduler } from '../../server/media/record/yielding-scheduler.ts'
import { RecordingDisk } from '../../server/media/record/recording-disk.ts'
import { Segmenter } from '../../server/media/record/segmenter.ts'
import { StreamFiles } from '../../server/media/record/stream-files.ts'
import type { PictureFormat } from '../../server/media/record/track-format.ts'
import { FileRemoval } from '../../server/recordings/recording-storage.ts'
import { findRecordings, repairOpen } from '../../server/recordings/index/recorded-files.ts'
import { rebuildIndex } from '../../server/recordings/index-recovery.ts'
import { StoredIndex } from '../../server/recordings/index/stored-index.ts'
import { RecordingNotes } from '../../server/recordings/recording-notes.ts'
import { RecorderIntake } from '../../server/recordings/recorder-intake.ts'
import { RecordingRate } from '../../server/recordings/disk-space.ts'
import { RecordingRetention } from '../../server/recordings/retention.ts'
import { recordingSettingsSchema } from '../../shared/settings/recording.ts'
import { filmOf, smallFilm } from '../support/recordings/film.ts'
import { readRecorded } from '../support/recordings/recorded-file.ts'
import { cameraStream } from '../support/recordings/segment-facts.ts'
import { temporaryFolder, temporaryStore } from '../support/sites/store-site.ts'

const logger = pino({ level: 'silent' })
const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const fps = 2
/** Time between two retention rounds. */
const roundMs = 10 * minute
/** Less than the day takes, so that the retention has to delete the oldest again and again. */
const gigabytes = 0.28

vi.setConfig({ testTimeout: 600_000 })

/** A camera's pictures, as they come out of its packets: key frames every two seconds. */
async function pictures(width: number): Promise<{ format: PictureFormat; frames: { data: Buffer; key: boolean }[] }> {
  const height = (width * 9) / 16
  const film = { ...smallFilm, width, height, fps, gop: 2 * fps, sound: 'none' } as const
  using input = new Input({ source: new FilePathSource(await filmOf(film)), formats: ALL_FORMATS })
  const track = await input.getPrimaryVideoTrack()
  const config = await track?.getDecoderConfig()
  if (!track || !config) throw new Error('the film has no picture')
  const frames: { data: Buffer; key: boolean }[] = []
  for await (const { data, type } of new EncodedPacketSink(track).packets())
    frames.push({ data: Buffer.from(data), key: type === 'key' })
  const description = Buffer.from(config.description as Uint8Array)
  return { format: { codec: 'avc', codecString: config.codec, width, height, description }, frames }
}

/** A recorder with its controller's part, whose clocks the test sets. */
async function scene() {
  const [folder, { store }] = [await temporaryFolder(), await temporaryStore()]
  const clock = { now: 0, wall: Date.now() - 25 * hour }
  const stream = cameraStream('yard')
  const names = { userName: 'Yard', topic: 'Room', device: true }
  const notes = new RecordingNotes(folder, logger)
  const index = new StoredIndex({ folder, kept: { covers: () => false }, onDamage: vi.fn(), notes })
  const removal = new FileRemoval({ folder, store, index, logger })
  const settings = recordingSettingsSchema.parse({ gigabytes, retention: { days: 0, gigabytes: 0 } })
  const retention = new RecordingRetention({
    ...{ store, index, logger, settings: () => settings, localHours: () => 24 },
    ...{ isUploading: () => false, notUploaded: () => {} },
    deleted: () => removal.begin(),
    now: () => clock.wall,
  })
  const intake = new RecorderIntake({
    ...{ index, rate: new RecordingRate(), logger, now: () => clock.wall },
    orders: { covers: () => true, wants: () => false, windowOf: () => undefined },
    ...{ space: { isLow: false }, namesOf: () => names },
    repair: (segment) => repairOpen(folder, segment, logger),
    ...{ changed: () => {}, failing: () => {}, repaired: () => {}, late: () => {} },
  })
  const failures: string[] = []
  const log = {
    debug: () => {},
    info: () => {},
    warn: () => {},
    error: (...text: unknown[]) => void failures.push(text.join(' ')),
  }
  const disk = new RecordingDisk(folder, {
    failed: (message, error) => void failures.push(`${message} ${String(error)}`),
    late: () => {},
  })
  const files = new StreamFiles(() => ({ ...stream, ...names }), new Playback(), {
    ...{ disk, scheduler: new YieldingScheduler(), log, now: () => clock.now, wall: () => clock.wall },
    controller: { notify: (_, { event }) => intake.take('here', event) },
  })
  const segmenter = new Segmenter(files, undefined, 48_000, true)
  onTestFinished(() => index.close())
  return { folder, clock, stream, notes, index, removal, retention, intake, disk, files, segmenter, failures }
}

test('a day of a camera that drops out, changes its size and has its clock set is on the disk as retention allows, and in the index', async () => {
  const { folder, clock, stream, notes, index, removal, retention, intake, disk, files, segmenter, failures } =
    await scene()
  const kinds = [await pictures(320), await pictures(192)]
  const pass = (ms: number): void => {
    clock.now += ms
    clock.wall += ms
  }
  let recorded = 0
  for (let at = 0; at < 24 * hour; at += second / fps) {
    // It is away for the first 30 s of each hour, sends another size every other two hours, and the machine's clock is an hour ahead for a while.
    if (at === 12 * hour) clock.wall += hour
    if (at === 14 * hour) clock.wall -= hour
    const kind = kinds[Math.floor(at / (2 * hour)) % 2]
    const number = at / (second / fps)
    const frame = kind?.frames[number % kind.frames.length]
    if (at % hour >= 30 * second && frame !== undefined) {
      const ticks = segmenter.received('picture', (at * 90) >>> 0, clock.now)
      segmenter.picture({ ticks, ...frame, format: frame.key ? kind?.format : undefined }, clock.now)
      recorded += second / fps
    }
    if (at % second === 0) {
      segmenter.tick(clock.now)
      if (files.isClockSet) segmenter.endAtKeyFrame('clock')
    }
    pass(second / fps)
    if (at % minute === 0) await disk.sync()
    if (at % roundMs === 0) {
      await retention.round()
      expect(index.totals().bytes).toBeLessThan(gigabytes * 1e9 * 1.2)
    }
  }
  segmenter.end('stopped', clock.now)
  await files.end()
  await disk.close()
  await retention.round()
  await retention.stop()
  await expect.poll(() => index.deletions.waitingRemovals().files, { timeout: 60_000 }).toBe(0)
  await removal.stop()
  await intake.settled()
  await notes.close()
  expect(failures).toEqual([])

  // Exactly what is in the index is on the disk, and the newest was kept.
  const segments = index.segments({ ...stream, limit: 5_000 })
  const onDisk: string[] = []
  for await (const { file, isPart } of findRecordings(folder)) {
    expect(isPart).toBe(false)
    onDisk.push(file)
  }
  expect(onDisk.sort()).toEqual(segments.map(({ file }) => file).sort())
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  expect(index.totals().bytes).toBe(bytes)
  expect(bytes).toBeLessThanOrEqual(gigabytes * 1e9)
  expect(bytes).toBeGreaterThan(gigabytes * 1e9 * 0.9)
  const kept = segments.reduce((sum, { startedAt, endedAt }) => sum + endedAt - startedAt, 0)
  console.log(`kept ${(kept / hour).toFixed(1)} h of ${(recorded / hour).toFixed(1)} h in ${segments.length} segments`)
  expect(kept).toBeLessThan(recorded * 0.75)
  // Back to before the clock was set.
  expect(kept).toBeGreaterThan(12 * hour)
  expect(Math.abs((segments.at(-1)?.endedAt ?? 0) - clock.wall)).toBeLessThan(2 * second)
  // Between two segments, once the clock is right, there is nothing but the half minutes in which the camera was away.
  const steady = segments.filter(({ startedAt }) => startedAt > clock.wall - 9 * hour + minute)
  const holes = steady.slice(1).map(({ startedAt }, position) => startedAt - (steady[position]?.endedAt ?? 0))
  expect(holes.length).toBeGreaterThan(500)
  for (const hole of holes) expect(Math.abs(hole) < second || Math.abs(hole - 30 * second) < 3 * second).toBe(true)
  for (const segment of segments.filter((_, position) => position % 20 === 0)) {
    const { duration, width } = await readRecorded(join(folder, segment.file))
    expect(width).toBe(segment.width)
    expect(Math.abs(duration * 1_000 - (segment.endedAt - segment.startedAt))).toBeLessThan(100)
    expect((await stat(join(folder, segment.file))).size).toBe(segment.bytes)
  }
  // Another index of the same folder holds the same.
  const other = new StoredIndex({ folder: await temporaryFolder(), kept: { covers: () => false }, onDamage: vi.fn() })
  onTestFinished(() => other.close())
  const signal = AbortSignal.timeout(300_000)
  await rebuildIndex({ folder, index: other, isOpen: () => false, progress: () => {}, signal, logger })
  const facts = (of: StoredIndex) => of.segments({ ...stream, limit: 5_000 }).map(({ id: _, ...segment }) => segment)
  expect(facts(other)).toEqual(facts(index))
})
