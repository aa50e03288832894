import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { silenceWatch } from '../../../renderer/kit/media/silence-watch.ts'

/** A connection that counts packets, and records the alarms. */
class Watched {
  readonly told: string[] = []
  /** The server answers requests. */
  answers = true
  asked = 0
  #packets = 0
  #over = new AbortController()
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(everyMs: number) {
    this.receives(everyMs)
    const connection = {
      connectionState: 'connected',
      getStats: () => Promise.resolve(new Map([['t', { type: 'transport', packetsReceived: this.#packets }]])),
    }
    silenceWatch.add(connection as unknown as RTCPeerConnection, this.#over.signal, {
      reach: async () => {
        this.asked += 1
        if (!this.answers) throw new TypeError('no network')
        await Promise.resolve()
      },
      silent: () => this.told.push('silent'),
      lost: () => this.told.push('lost'),
    })
    open.push(this)
  }

  /** Receives a packet at this interval in milliseconds from now on; 0: none. */
  receives(everyMs: number): void {
    clearInterval(this.#timer)
    if (everyMs > 0) this.#timer = setInterval(() => (this.#packets += 1), everyMs)
  }

  close(): void {
    this.receives(0)
    this.#over.abort()
  }
}

const open: Watched[] = []
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
/** Time of the start, long after the alarms of an earlier story. */
let began = 0
beforeEach(() => {
  began += 10 * 60_000
  vi.useFakeTimers()
  vi.spyOn(performance, 'now').mockImplementation(() => began + Date.now())
})
afterEach(() => {
  for (const watched of open.splice(0)) watched.close()
})

test('a lost network path is reported to each connection once within 2 s, and again if no other path is found', async () => {
  const [camera, own, quiet] = [new Watched(30), new Watched(50), new Watched(0)]
  await pass(10_000)
  for (const watched of open) watched.receives(0)
  await pass(2_000)
  expect(open.map(({ told }) => told)).toEqual([['silent'], ['silent'], ['silent']])
  own.receives(50)
  await pass(10_000)
  expect([camera.told, own.told, quiet.told]).toEqual([['silent', 'lost'], ['silent'], ['silent', 'lost']])
})

test('one connection with packets is a sign of life for all: a camera may be silent', async () => {
  const [camera, other] = [new Watched(30), new Watched(40)]
  await pass(10_000)
  camera.receives(0)
  await pass(30_000)
  other.receives(0)
  camera.receives(40)
  await pass(30_000)
  expect(open.map(({ told }) => told)).toEqual([[], []])
})

test('one connection with occasional packets is a sign of life, too', async () => {
  for (let at = 0; at < 1_000; at += 125) {
    const [camera, other] = [new Watched(30), new Watched(0)]
    await pass(10_000 + at)
    other.receives(600)
    await pass(250)
    camera.receives(0)
    await pass(10_000)
    expect([camera.told, other.told]).toEqual([[], []])
    camera.close()
    other.close()
  }
})

test('one report per second is enough: the only watched camera may be silent', async () => {
  const camera = new Watched(30)
  await pass(10_000)
  camera.receives(1_020)
  await pass(60_000)
  expect(camera.told).toEqual([])
})

test('while the node does not answer, no connection restarts: the watch asks again and reports the answer at once', async () => {
  const camera = new Watched(30)
  camera.answers = false
  await pass(10_000)
  camera.receives(0)
  await pass(6_000)
  expect(camera.told).toEqual([])
  expect(camera.asked).toBeGreaterThan(2)
  camera.answers = true
  await pass(1_500)
  expect(camera.told).toEqual(['silent'])
})

test('unstable paths raise alarms at growing intervals', async () => {
  const camera = new Watched(30)
  for (let turn = 0; turn < 30; turn++) {
    await pass(4_000)
    camera.receives(0)
    await pass(2_000)
    camera.receives(30)
  }
  expect(camera.told.length).toBeGreaterThan(1)
  expect(camera.told.length).toBeLessThan(7)
  expect(camera.told).not.toContain('lost')
})

test('a page that was suspended has not measured, so nothing counts as silence', async () => {
  const camera = new Watched(30)
  await pass(10_000)
  camera.receives(0)
  for (let late = 0; late < 2; late++) {
    began += 5_000
    await pass(250)
  }
  camera.receives(30)
  await pass(10_000)
  expect(camera.told).toEqual([])
})
