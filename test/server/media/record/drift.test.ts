import { expect, test, vi } from 'vitest'
import type { SegmentEnd } from '../../../../shared/recordings/segment.ts'
import type { SegmentStartFacts, SegmentTarget } from '../../../../server/media/record/open-segment.ts'
import { Segmenter } from '../../../../server/media/record/segmenter.ts'
import type { PictureFormat, SoundFormat } from '../../../../server/media/record/track-format.ts'

vi.setConfig({ testTimeout: 120_000 })

const picture: PictureFormat = {
  codec: 'avc',
  codecString: 'avc1.42c01e',
  width: 640,
  height: 360,
  description: undefined,
}
const sound: SoundFormat = {
  codec: 'opus',
  codecString: 'opus',
  sampleRate: 48_000,
  channels: 2,
  description: undefined,
  silence: { data: Buffer.from([0xfc, 0xff, 0xfe]), durationMs: 20 },
}

interface Written {
  facts: SegmentStartFacts
  end: SegmentEnd | undefined
  /** True moment of each frame at its place in the segment: places in milliseconds. */
  pictures: { place: number; mark: number }[]
  sounds: { place: number; mark: number }[]
}

/** Segmenter whose frames hold in their bytes the true moment at which they were taken. */
function scene(): { segmenter: Segmenter; segments: Written[] } {
  const segments: Written[] = []
  const markOf = (data: Buffer): number => (data.length === 8 ? data.readDoubleBE(0) : -1)
  const targets = new Map<SegmentTarget, Written>()
  const segmenter = new Segmenter(
    {
      open: (facts) => {
        const written: Written = { facts, end: undefined, pictures: [], sounds: [] }
        segments.push(written)
        const target: SegmentTarget = {
          trouble: undefined,
          addPicture: (data, place) => void written.pictures.push({ place, mark: markOf(data) }),
          addSound: (data, place) => void written.sounds.push({ place, mark: markOf(data) }),
        }
        targets.set(target, written)
        return target
      },
      close: (target, end) => {
        const written = targets.get(target)
        if (written !== undefined) written.end = end
      },
    },
    sound,
    48_000,
    true,
  )
  return { segmenter, segments }
}

function mark(moment: number): Buffer {
  const data = Buffer.alloc(8)
  data.writeDoubleBE(moment)
  return data
}

/** A camera whose clocks run at their own speeds, behind a network that delays. Moments are true milliseconds. */
class DriftingCamera {
  readonly #segmenter: Segmenter
  /** Speeds of the clocks: 1 is right. */
  pictureSpeed = 1
  soundSpeed = 1
  /** Added to the camera's wall clock, and to its timestamps, in milliseconds. */
  wallStep = 0
  /** Added to the reports of its sound alone. */
  soundReportOff = 0
  pictureStep = 0
  /** Offset between the true moment and that of this machine's clock. */
  delay = (random: number, _at: number): number => 20 + random * 60
  reports = true
  soundOn = true
  pictureOn = true
  #random = 1

  constructor(segmenter: Segmenter) {
    this.#segmenter = segmenter
  }

  /** Sends from one moment to another: pictures ten times a second, with a key frame each two seconds, sound each 60 ms. */
  run(from: number, to: number): void {
    for (let at = from; at < to; at += 20) {
      if (at % 100 === 0 && this.pictureOn) {
        const now = at + 300 + this.delay(this.#next(), at)
        const ticks = this.#segmenter.received('picture', this.#pictureTime(at), now)
        const key = at % 2_000 === 0
        this.#segmenter.picture({ ticks, data: mark(at), key, format: key ? picture : undefined }, now)
      }
      if (at % 60 === 0 && this.soundOn) {
        const now = at + this.delay(this.#next(), at)
        const ticks = this.#segmenter.received('sound', this.#soundTime(at), now)
        this.#segmenter.sound({ ticks, data: mark(at), durationMs: 60 }, now)
      }
      if (at % 240 === 0) this.#segmenter.tick(at + 100)
      if (at % 5_000 === 0 && this.reports) {
        const ntp = 1_700_000_000_000 + at + this.wallStep
        this.#segmenter.reported('picture', { ntp, timestamp: this.#pictureTime(at), middle: 0 })
        this.#segmenter.reported('sound', { ntp: ntp + this.soundReportOff, timestamp: this.#soundTime(at), middle: 0 })
      }
    }
  }

  #pictureTime(at: number): number {
    return Math.round((at * this.pictureSpeed + this.pictureStep) * 90) >>> 0
  }

  #soundTime(at: number): number {
    return Math.round(at * this.soundSpeed * 48) >>> 0
  }

  #next(): number {
    this.#random = (this.#random * 48_271) % 2_147_483_647
    return this.#random / 2_147_483_647
  }
}

/** Largest distance between picture and sound that were taken at one moment, in milliseconds. */
function apart({ pictures, sounds }: Written): number {
  const shift = (frames: Written['pictures']): number[] =>
    frames.filter(({ mark: moment }) => moment >= 0).map(({ place, mark: moment }) => place - moment)
  const [seen, heard] = [shift(pictures), shift(sounds)]
  if (seen.length === 0 || heard.length === 0) return 0
  return Math.max(Math.max(...seen) - Math.min(...heard), Math.max(...heard) - Math.min(...seen))
}

const minute = 60_000
const day = 24 * 60 * minute

test('clocks of picture and sound that drift apart by 17 s a day stay within 40 ms in every segment of a day', () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  Object.assign(camera, { pictureSpeed: 1.0001, soundSpeed: 0.9999 })
  let worst = 0
  let count = 0
  let lengths = 0
  for (let at = 0; at < day; at += 30 * minute) {
    camera.run(at, at + 30 * minute)
    for (const segment of segments.splice(0, segments.length - 1)) {
      // Before the first report there are only arrivals to go by.
      if (count > 0) worst = Math.max(worst, apart(segment))
      if (segment.end === 'length') lengths += 1
      count += 1
    }
  }
  expect(worst).toBeLessThan(40)
  expect(count).toBeGreaterThan(1_400)
  expect(lengths).toBeGreaterThan(count - 5)
})

test('without sender reports the drift is no larger than arrival times show', () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  // The picture really comes 300 ms later than the sound: without reports nobody can know that.
  Object.assign(camera, { pictureSpeed: 1.0001, soundSpeed: 0.9999, reports: false })
  camera.run(0, 6 * 60 * minute)
  const complete = segments.slice(1, -1)
  const shifts = complete.map(apart)
  expect(Math.max(...shifts) - Math.min(...shifts)).toBeLessThan(60)
})

test('moments of segments follow the clock of this machine, without gap or overlap, for a day', () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  Object.assign(camera, { pictureSpeed: 1.0002, soundSpeed: 1.0002 })
  camera.run(0, 4 * 60 * minute)
  for (const [index, segment] of segments.slice(0, -1).entries()) {
    const first = segment.pictures[0] ?? expect.fail('no picture')
    // 320 ms is the least delay of the picture.
    expect(Math.abs(segment.facts.at - (first.mark + 320))).toBeLessThan(30)
    const last = segment.pictures.at(-1) ?? expect.fail('no picture')
    const next = segments[index + 1]
    expect(next?.pictures[0]?.mark).toBe(last.mark + 100)
  }
})

test('timestamps that jump begin a segment, and nothing is stretched', () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  camera.run(0, 70_000)
  camera.pictureStep = 3_600_000
  camera.run(70_000, 90_000)
  camera.pictureStep = -500_000
  camera.run(90_000, 110_000)
  expect(segments.filter(({ end }) => end === 'clock').length).toBeGreaterThanOrEqual(2)
  for (const { pictures } of segments) {
    for (const [index, { place, mark: moment }] of pictures.slice(1).entries()) {
      expect(place - (pictures[index]?.place ?? 0)).toBeCloseTo(moment - (pictures[index]?.mark ?? 0), 0)
    }
  }
})

test("setting a sender's wall clock begins a segment with the new time", () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  camera.run(0, 30_000)
  camera.wallStep = 3_600_000
  camera.run(30_000, 60_000)
  const [before, after] = [segments.at(0), segments.at(-1)]
  expect(before?.end).toBe('clock')
  expect((after?.facts.senderAt ?? 0) - (after?.pictures[0]?.mark ?? 0)).toBeCloseTo(1_700_003_600_000, -1)
  expect(apart(after ?? expect.fail('no segment'))).toBeLessThan(40)
})

test('a report of a busy sender that is off by a third of a second begins no segment, and moves no sound', () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  camera.run(0, 30_000)
  camera.soundReportOff = 300
  camera.run(30_000, 35_000)
  camera.soundReportOff = 0
  camera.run(35_000, 55_000)
  // The next segment begins before the next report.
  camera.soundReportOff = -300
  camera.run(55_000, 60_000)
  camera.soundReportOff = 0
  camera.run(60_000, 130_000)
  expect(segments.map(({ end }) => end)).not.toContain('clock')
  for (const segment of segments.slice(1)) expect(apart(segment)).toBeLessThan(40)
})

test("setting a sender's wall clock by a third of a second begins a segment once a second report confirms it", () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  camera.run(0, 30_000)
  camera.wallStep = 300
  camera.run(30_000, 50_000)
  expect(segments.at(0)?.end).toBe('clock')
  const after = segments.at(-1) ?? expect.fail('no segment')
  expect((after.facts.senderAt ?? 0) - (after.pictures[0]?.mark ?? 0)).toBeCloseTo(1_700_000_000_300, -1)
  expect(apart(after)).toBeLessThan(40)
})

test("setting a sender's wall clock during sound alone begins a segment of sound", () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  camera.run(0, 10_000)
  segmenter.endPicture()
  camera.pictureOn = false
  camera.run(10_000, 20_000)
  camera.wallStep = 3_600_000
  camera.run(20_000, 30_000)
  camera.pictureOn = true
  camera.run(30_000, 40_000)
  expect(segments.slice(0, -1).map(({ end, facts }) => [facts.picture !== undefined, end])).toEqual([
    [true, 'track'],
    [false, 'clock'],
    [false, 'track'],
  ])
})

test('sound that pauses is silence, and the picture continues in the same segment', () => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  camera.run(0, 20_000)
  camera.soundOn = false
  camera.run(20_000, 40_000)
  camera.soundOn = true
  camera.run(40_000, 50_000)
  segmenter.end('stopped', 50_500)
  const [segment, ...others] = segments.slice(-1)
  expect(others).toEqual([])
  const { sounds = [] } = segment ?? {}
  const steps = sounds.slice(1).map(({ place }, index) => place - (sounds[index]?.place ?? 0))
  expect(Math.max(...steps)).toBeLessThan(65)
  expect(sounds.filter(({ mark: moment }) => moment < 0).length).toBeGreaterThan(800)
  expect(sounds.at(-1)?.mark).toBeGreaterThan(49_000)
})

test.each([
  ['a camera sends at once what it kept of a group of pictures', 1_900],
  ['the machine stalls while a camera begins', 1_300],
])('%s: recorded from its first key frame, in one segment, at its true time', (_, lateMs) => {
  const { segmenter, segments } = scene()
  const camera = new DriftingCamera(segmenter)
  // Everything of the first moments arrives together.
  camera.delay = (_random, at) => Math.max(0, lateMs - at) + 20
  camera.run(0, 20_000)
  segmenter.end('stopped', 21_000)
  expect(segments.map(({ end }) => end)).toEqual(['stopped'])
  expect(segments[0]?.pictures.map(({ mark: moment }) => moment)).toEqual(
    Array.from({ length: 200 }, (_, index) => index * 100),
  )
  const trueDelay = 320
  expect(Math.abs((segments[0]?.facts.at ?? 0) - trueDelay)).toBeLessThan(100)
})
