import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { freePort } from '../support/free-port.ts'

const root = resolve(import.meta.dirname, '../..')
const executable = join(root, 'test/standin/electron')

/** The app on its own, followed through the apps that take its place: a test driver would end with the first. On the stand-in only. */
export interface LoneApp {
  /** Of the app that was started. */
  pid: number
  userData: string
  /** Exit code and signal of the app that was started. */
  ended: Promise<unknown[]>
  /** The first line of stderr, its own or of whichever followed it, that matches; of those behind the first `from`. */
  line: (matches: RegExp, from?: number) => Promise<string>
  /** How many lines there are. */
  readonly seen: number
  /** Resolves when it answers. */
  answers: () => Promise<void>
  /** Process of the app that runs now; 0 for none. */
  current: () => Promise<number>
  /** Ends whichever runs, and removes its data where they were made for it. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface LoneAppOptions {
  userData?: string
  env?: Readonly<Record<string, string>>
  /** CommonJS files to run in the main process before the app. */
  before?: readonly string[]
}

/** Starts the built app, its window hidden. */
export async function startAlone({ env = {}, before = [], ...given }: LoneAppOptions = {}): Promise<LoneApp> {
  const userData = given.userData ?? (await mkdtemp(join(tmpdir(), 'roomdesk-desktop-')))
  // Opened last: where it answers, everything does.
  const devicePort = await freePort()
  const flags = [
    `--user-data-dir=${userData}`,
    '--hidden',
    '--media-port=0',
    `--device-port=${devicePort}`,
    '--node-port=0',
  ]
  const child = spawn(executable, [...before.flatMap((file) => ['-r', join(root, file)]), root, ...flags], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  const lines: string[] = []
  let rest = ''
  child.stderr.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
  const current = async (): Promise<number> => {
    const pid = Number(await readFile(join(userData, 'standin-instance.pid'), 'utf8').catch(() => 0))
    return pid !== 0 && isRunning(pid) ? pid : 0
  }
  return {
    pid: child.pid ?? 0,
    userData,
    ended,
    async line(matches, from = 0) {
      for (;;) {
        const found = lines.slice(from).find((each) => matches.test(each))
        if (found !== undefined) return found
        await once(child.stderr, 'data')
      }
    },
    get seen() {
      return lines.length
    },
    async answers() {
      const status = (): Promise<number> =>
        fetch(`http://127.0.0.1:${devicePort}/openapi.json`).then(
          (response) => response.status,
          () => 0,
        )
      await expect.poll(status, { timeout: 30_000 }).toBeGreaterThan(0)
    },
    current,
    async [Symbol.asyncDispose]() {
      // One that is about to take its place waits for its end.
      for (let quiet = 0; quiet < 3; quiet++) {
        const pid = await current()
        if (pid === 0) await sleep(50)
        else {
          process.kill(pid, 'SIGKILL')
          await expect.poll(() => isRunning(pid)).toBe(false)
          quiet = 0
        }
      }
      if (given.userData === undefined) await rm(userData, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
