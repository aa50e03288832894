import { beforeEach, expect, test, vi } from 'vitest'
import { unproven } from '../../../../server/gate/gate.ts'
import { EmbeddedMedia } from '../../../../server/nodes/embedded/embedded-media.ts'
import { LocalFfmpeg } from '../../../../server/nodes/embedded/ffmpeg/ffmpeg-program.ts'
import type { NodeEvent } from '../../../../server/nodes/port/media-node-port.ts'
import { controlVersion } from '../../../../shared/media/control.ts'
import type { ControlMessage } from '../../../../shared/media/control-link.ts'
import { defaultSettings } from '../../../../shared/settings.ts'
import { storedNode } from '../../../support/stored-records.ts'
import { ScriptedProcess } from './scripted-process.ts'

const { udp_port: _port, public_url: _url, link_life_ms: _life, ...media } = defaultSettings().media
const settings = {
  ...media,
  site_ports: [],
  other_nodes: [],
  page_origins: [],
  lease_ms: 0,
  restarts_at: 0,
  hosts_record: false,
  recording_aloud: true,
  test_cameras: [],
  test_people: [],
}
const minute = 60_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})

/** The site's embedded node, with processes that listen, and answer as long as the test lets them. */
async function embeddedNode() {
  const processes: ScriptedProcess[] = []
  const log: string[] = []
  const write = (_: object, message: string): void => void log.push(message)
  const hanging = new Set<ScriptedProcess>()
  let crippled = false
  const logger = { debug: write, info: write, warn: write, error: write }
  const media = new EmbeddedMedia({
    ffmpeg: new LocalFfmpeg('', logger),
    spawn() {
      const process = new ScriptedProcess()
      process.answers = (message: ControlMessage) => {
        if (message.type === 'notification' && message.method === 'stop') process.ends('it ended with exit code 0')
        if (message.type !== 'request' || hanging.has(process)) return
        const result = message.method === 'start' ? { port: 1, udp_port: 1 } : { rooms: 0, users: 0, pulls: 0 }
        queueMicrotask(() => process.says({ type: 'answer', id: message.id, result }))
      }
      processes.push(process)
      queueMicrotask(() => {
        if (crippled) process.ends('it ended with exit code 3')
        else process.says({ type: 'notification', method: 'hello', params: { version: controlVersion } })
      })
      return process
    },
    pageFolder: '',
    configuration: () => ({ tokenKey: '', udpPort: 0, settings }),
    removals: () => [],
    removed: () => undefined,
    answers: {
      open: unproven('no state', () => ({ refusal: null })),
      look: unproven('no state', () => ({ by_number: false, host_password: false, topic: '' })),
      lock: unproven('no state', () => false),
      invite: unproven('no state', () => undefined),
      testEntry: unproven('no state', () => ({ room_id: '', token: '', problem: 'no lab' })),
      record: unproven('no state', () => false),
    },
    guessed: () => undefined,
    logger,
  })
  const driver = media.driver(storedNode('here', { kind: 'embedded' }))
  const told: NodeEvent['type'][] = []
  driver.onEvent((event) => told.push(event.type))
  await media.listen({ host: '127.0.0.1', port: 0, tls: undefined })
  return {
    media,
    driver,
    processes,
    log,
    told,
    /** Makes the current process hang, or answer again. */
    hang(on: boolean) {
      const running = processes.at(-1)
      if (running === undefined) throw new Error('no process was started')
      if (on) hanging.add(running)
      else hanging.delete(running)
    },
    /** Makes the program exit before its first message, or not. */
    cripple(on: boolean) {
      crippled = on
    },
    /** Polls once, with a timeout of 2 s. */
    async poll() {
      const caller = new AbortController()
      const polled = driver.health(caller.signal).catch(() => 'given up')
      await vi.advanceTimersByTimeAsync(2_000)
      caller.abort(new Error('no answer'))
      return await polled
    },
  }
}

test('after repeated crashes the first delays are short, and users and cameras are never away for more than 5 s', async () => {
  const { media, processes } = await embeddedNode()
  const waits: number[] = []
  for (let crash = 0; crash < 8; crash++) {
    await vi.advanceTimersByTimeAsync(1_000)
    const before = processes.length
    const endedAt = performance.now()
    processes.at(-1)?.ends('it ended with exit code 70')
    while (processes.length === before) await vi.advanceTimersByTimeAsync(100)
    waits.push(performance.now() - endedAt)
  }
  expect(waits).toEqual([1_000, 1_000, 2_000, 2_000, 3_000, 3_000, 3_000, 3_000])
  // After some time without a crash the delay is short again.
  await vi.advanceTimersByTimeAsync(20_000)
  processes.at(-1)?.ends('it ended with exit code 70')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(processes).toHaveLength(10)
  await media.stopListening()
})

test('a program that never answers is restarted after increasing delays, up to 30 s', async () => {
  const { media, processes, cripple } = await embeddedNode()
  cripple(true)
  processes.at(-1)?.ends('it ended with exit code 70')
  const waits: number[] = []
  let endedAt = performance.now()
  for (let start = 0; start < 8; start++) {
    const before = processes.length
    while (processes.length === before) await vi.advanceTimersByTimeAsync(100)
    waits.push(performance.now() - endedAt)
    await vi.advanceTimersByTimeAsync(0)
    endedAt = performance.now()
  }
  expect(waits).toEqual([1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  cripple(false)
  await vi.advanceTimersByTimeAsync(31_000)
  processes.at(-1)?.ends('it ended with exit code 70')
  const before = processes.length
  await vi.advanceTimersByTimeAsync(1_000)
  expect(processes).toHaveLength(before + 1)
  await media.stopListening()
})

test('a node that is polled once a minute and misses one poll keeps running', async () => {
  const { media, processes, hang, poll } = await embeddedNode()
  await vi.advanceTimersByTimeAsync(minute)
  hang(true)
  expect(await poll()).toBe('given up')
  hang(false)
  await vi.advanceTimersByTimeAsync(minute)
  expect(processes.map(({ killed }) => killed)).toEqual([false])
  await media.stopListening()
})

test('a node that hangs is detected within 15 s, however rarely it is polled', async () => {
  const { media, processes, hang, log, told } = await embeddedNode()
  await vi.advanceTimersByTimeAsync(minute)
  told.length = 0
  hang(true)
  await vi.advanceTimersByTimeAsync(9_000)
  expect(processes.map(({ killed }) => killed)).toEqual([false])
  await vi.advanceTimersByTimeAsync(6_000)
  expect(processes[0]?.killed).toBe(true)
  expect(log).toContain('embedded node hangs: restarting it')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(processes.map(({ killed }) => killed)).toEqual([true, false])
  expect(told).toEqual(['restarted', 'restarted'])
  await media.stopListening()
})

test('with replicas, the process is regularly notified that this controller leads, until it no longer does', async () => {
  const node = await embeddedNode()
  const tellings = (): number =>
    node.processes.at(-1)?.sent.filter((message) => message.type === 'request' && message.method === 'leads').length ??
    0
  await vi.advanceTimersByTimeAsync(3_000)
  expect(tellings()).toBe(0)
  settings.lease_ms = 3_000
  node.media.configure()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(tellings()).toBeGreaterThanOrEqual(5)
  settings.lease_ms = 0
  node.media.configure()
  await vi.advanceTimersByTimeAsync(500)
  const before = tellings()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(tellings()).toBe(before)
  expect(node.processes).toHaveLength(1)
})
