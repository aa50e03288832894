/** The index of a site's recordings with 8,000,000 segments: `npm run bench -- recording-index`. 200 cameras, each with four weeks of minutes. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { StoredIndex } from '../../server/recordings/index/stored-index.ts'
import { segmentPath } from '../../shared/recordings/segment-path.ts'
import { type RecordedStream, type Segment, type SegmentStart, segmentMs } from '../../shared/recordings/segment.ts'
import { report } from './table.ts'

const segmentCount = Number(process.env.ROOMDESK_INDEXED_SEGMENTS ?? 8_000_000)
const cameras = 200
const minutes = segmentCount / cameras
const firstAt = 1_790_000_000_000
const dayMs = 24 * 60 * 60_000
const changes = 20_000
const days = 2_000
/** Bytes of a minute at 2 Mbit/s. */
const segmentBytes = 15_000_000
/** A call that takes longer delays answers of the APIs, which share its thread; in milliseconds. */
const goalChangeMs = 5
const goalDayMs = 15

/** Measures the index into the table. */
export async function measureRecordingIndex(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-bench-index-'))
  const open = (): StoredIndex =>
    new StoredIndex({
      folder,
      kept: { covers: () => false },
      onDamage: (reason) => {
        throw new Error(reason)
      },
    })
  try {
    open().close()
    fill(join(folder, 'index.sqlite'))
    const began = performance.now()
    const index = open()
    const opened = performance.now() - began
    const what = `index of ${segmentCount.toLocaleString('en')} recorded segments`
    report(`${what}: open`, `${opened.toFixed(0)} ms`, 'under 500 ms', opened < 500)
    const [changed, changedMax] = await changesOf(index)
    const changeText = `p99 ${changed.toFixed(1)} ms, longest ${changedMax.toFixed(0)} ms`
    report(
      `${what}: a segment begins or ends`,
      changeText,
      `p99 at most ${goalChangeMs} ms, longest 50 ms`,
      changed <= goalChangeMs && changedMax <= 50,
    )
    const [day, dayMax] = await daysOf(index)
    const dayText = `p99 ${day.toFixed(1)} ms, longest ${dayMax.toFixed(0)} ms`
    report(`${what}: a camera's day`, dayText, `p99 at most ${goalDayMs} ms`, day <= goalDayMs)
    index.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function streamOf(camera: number): RecordedStream {
  return { roomId: `room-${camera % 20}`, userId: `cam-${camera}`, source: 'main', quality: 'main' }
}

function startOf(camera: number, minute: number): number {
  return firstAt + minute * segmentMs + camera * 300
}

/** Fills the tables as years of reports would, in the order of time. */
function fill(path: string): void {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; BEGIN')
  const stream = database.prepare(
    `INSERT INTO streams VALUES (?, ?, ?, 'main', 'main', ?, 'Yard', 1, ?, ?, ?, ?, 0, ${segmentMs + 2_000})`,
  )
  for (let camera = 0; camera < cameras; camera++) {
    const { roomId, userId } = streamOf(camera)
    const [from, to] = [startOf(camera, 0), startOf(camera, minutes)]
    stream.run(camera + 1, roomId, userId, userId, from, to, minutes * segmentBytes, minutes)
  }
  database.exec(`
    INSERT INTO forms VALUES (1, 'mp4', 'avc1.42c01e', 'opus', 1280, 720, 'cam', 'Yard', 1);
    INSERT INTO facts VALUES ('next_id', '${segmentCount + 1}');
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${segmentCount - 1})
    INSERT INTO segments SELECT n + 1, n % ${cameras} + 1, ${firstAt} + n / ${cameras} * ${segmentMs} + n % ${cameras} * 300,
      ${firstAt} + (n / ${cameras} + 1) * ${segmentMs} + n % ${cameras} * 300, ${segmentBytes}, 0, 1, 12.5, 'length', 'local', NULL, 0, NULL FROM numbers;
    COMMIT; PRAGMA wal_checkpoint(TRUNCATE);
  `)
  database.close()
  // The measured calls do not wait for the bytes of the fill.
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** Lets segments begin and end as 200 cameras do. @returns p99 and longest call, in milliseconds */
async function changesOf(index: StoredIndex): Promise<[number, number]> {
  const took: number[] = []
  const timed = (call: () => void): void => {
    const began = performance.now()
    call()
    took.push(performance.now() - began)
  }
  for (let number = 0; number < changes; number++) {
    const camera = number % cameras
    const minute = minutes + Math.floor(number / cameras)
    const stream = streamOf(camera)
    const startedAt = startOf(camera, minute)
    const start: SegmentStart = {
      ...{ ...stream, file: segmentPath(stream, startedAt, 'mp4'), container: 'mp4' as const, userName: stream.userId },
      ...{ topic: 'Yard', device: true, startedAt, senderStartedAt: startedAt + 12.5 },
      ...{ videoCodec: 'avc1.42c01e', audioCodec: 'opus', width: 1_280, height: 720 },
    }
    const segment: Segment = { ...start, endedAt: startedAt + segmentMs, bytes: segmentBytes, end: 'length' }
    timed(() => index.writer.began(start))
    timed(() => index.writer.ended(segment))
    if (number % 10 === 0) await setImmediate()
  }
  return figures(took)
}

/** Reads a day of a camera, as its time line does. */
async function daysOf(index: StoredIndex): Promise<[number, number]> {
  const took: number[] = []
  for (let number = 0; number < days; number++) {
    const stream = streamOf((number * 37) % cameras)
    const from = firstAt + ((number * 7_919) % Math.max(1, Math.floor((minutes * segmentMs) / dayMs))) * dayMs
    const began = performance.now()
    const found = index.extents(stream, from, from + dayMs, 100_000)
    index.gaps({ ...stream, from, to: from + dayMs })
    took.push(performance.now() - began)
    if (found.length < Math.min(minutes, 1_440) - 2) throw new Error(`a day of ${found.length} segments`)
    await setImmediate()
  }
  return figures(took)
}

function figures(took: number[]): [number, number] {
  took.sort((a, b) => a - b)
  return [took[Math.floor(took.length * 0.99)] ?? 0, took.at(-1) ?? 0]
}
