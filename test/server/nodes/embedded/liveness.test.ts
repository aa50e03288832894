import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EmbeddedMedia } from '../../../../server/nodes/embedded/embedded-media.ts'
import type { NodeEvent } from '../../../../server/nodes/media-node.ts'
import { controlVersion, type ToNode } from '../../../../shared/media/control.ts'
import { defaultSettings } from '../../../../shared/settings.ts'
import { storedNode } from '../../../support/stored-records.ts'
import { ScriptedProcess } from './scripted-process.ts'

const { udp_port: _port, public_url: _url, link_life_ms: _life, ...media } = defaultSettings().media
const settings = { ...media, site_ports: [], join_ms: 4_000 }
const minute = 60_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** The site's embedded node, with processes that listen, and answer while they are told to. */
async function embeddedNode() {
  const processes: ScriptedProcess[] = []
  const log: string[] = []
  const write = (_: object, message: string): void => void log.push(message)
  const hanging = new Set<ScriptedProcess>()
  const media = new EmbeddedMedia({
    spawn() {
      const process = new ScriptedProcess()
      process.answers = (message: ToNode) => {
        if (message.type === 'stop') process.ends('it ended with exit code 0')
        if (message.type !== 'request' || hanging.has(process)) return
        const result = message.method === 'start' ? { port: 1, udp_port: 1 } : { rooms: 0, users: 0, pulls: 0 }
        queueMicrotask(() => process.says({ type: 'answer', id: message.id, result }))
      }
      processes.push(process)
      queueMicrotask(() => process.says({ type: 'hello', version: controlVersion }))
      return process
    },
    pageFolder: '',
    configuration: () => ({ tokenKey: '', udpPort: 0, settings }),
    removals: { list: () => [], keep: () => undefined },
    openWanted: () => Promise.resolve(null),
    logger: { debug: write, info: write, warn: write, error: write },
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
    /** The process that runs answers nothing from now on, or again. */
    hang(on: boolean) {
      const running = processes.at(-1)
      if (running === undefined) throw new Error('no process was started')
      if (on) hanging.add(running)
      else hanging.delete(running)
    },
    /** One poll, which is given up after 2 s. */
    async poll() {
      const caller = new AbortController()
      const polled = driver.health(caller.signal).catch(() => 'given up')
      await vi.advanceTimersByTimeAsync(2_000)
      caller.abort(new Error('no answer'))
      return await polled
    },
  }
}

test('a node that is polled once a minute, and misses one poll, goes on', async () => {
  const { media, processes, hang, poll } = await embeddedNode()
  await vi.advanceTimersByTimeAsync(minute)
  hang(true)
  expect(await poll()).toBe('given up')
  hang(false)
  await vi.advanceTimersByTimeAsync(minute)
  expect(processes.map(({ killed }) => killed)).toEqual([false])
  await media.stopListening()
})

test('a node that hangs is found within 15 s, however rarely it is polled', async () => {
  const { media, processes, hang, log, told } = await embeddedNode()
  await vi.advanceTimersByTimeAsync(minute)
  told.length = 0
  hang(true)
  await vi.advanceTimersByTimeAsync(9_000)
  expect(processes.map(({ killed }) => killed)).toEqual([false])
  await vi.advanceTimersByTimeAsync(6_000)
  expect(processes[0]?.killed).toBe(true)
  expect(log).toContain('the embedded node hangs: it is started anew')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(processes.map(({ killed }) => killed)).toEqual([true, false])
  expect(told).toEqual(['restarted', 'restarted'])
  await media.stopListening()
})
