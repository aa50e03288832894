/**
 * Setup file of the projects whose test files share a process: restores what a test replaced, and fails a test file that
 * leaves something behind for the next one.
 */
import { getActiveResourcesInfo } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, aroundAll, expect, vi } from 'vitest'

/** Time in milliseconds for servers to end. */
const endMs = 8_000
/** Playwright listens to these as long as a browser runs, and browsers are shared by the files of a process. */
const signals = new Set<string | symbol>(['exit', 'SIGHUP', 'SIGINT', 'SIGTERM'])

/** Open resources of a kind, as Node names it. */
const open = (kind: string): number => getActiveResourcesInfo().filter((name) => name === kind).length
const resources = (): Record<string, number> => ({
  servers: open('TCPServerWrap'),
  'UDP sockets': open('UDPWrap'),
  watchers: open('FSEventWrap') + open('StatWatcher'),
})

/** What a test file may change in its process, by name. Libraries define globals that begin with `__`. */
const state = (): Map<string, unknown> =>
  new Map<string, unknown>([
    ['working directory', process.cwd()],
    ['platform', process.platform],
    ...Object.entries(process.env).map(([name, value]) => [`variable ${name}`, value] as const),
    ...Object.getOwnPropertyNames(globalThis)
      .filter((name) => !name.startsWith('__'))
      .map((name) => [`global ${name}`, true] as const),
    ...process
      .eventNames()
      .filter((name) => !signals.has(name))
      .map((name) => [`listeners of ${String(name)}`, process.listenerCount(name)] as const),
  ])

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

aroundAll(async (runFile) => {
  const [open, before] = [resources(), state()]
  await runFile()
  const left = (): string[] => {
    const now = resources()
    return Object.keys(now).filter((kind) => (now[kind] ?? 0) > (open[kind] ?? 0))
  }
  const end = performance.now() + endMs
  while (left().length > 0 && performance.now() < end) await sleep(20)
  const now = state()
  const changed = [...new Set([...before.keys(), ...now.keys()])].filter((name) => now.get(name) !== before.get(name))
  expect([...left(), ...changed], 'what the test file left behind').toEqual([])
}, 2 * endMs)
