import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { display } from './desktop.ts'

const root = resolve(import.meta.dirname, '../..')
const executable = join(root, 'test/standin/electron')

/** The app without a test driver, followed through restarts: a driver would end with the first process. On the stand-in only. */
export interface LoneApp {
  /** Id of the first process. */
  pid: number
  userData: string
  /** Exit code and signal of the first process. */
  ended: Promise<unknown[]>
  /** Resolves to the first matching line of stderr, of any of its processes, after the first `from` lines. */
  line: (matches: RegExp, from?: number) => Promise<string>
  /** Number of lines so far. */
  readonly seen: number
  /** Resolves when the app answers. */
  answers: () => Promise<void>
  /** Id of the current process; 0: none. */
  current: () => Promise<number>
  /** Ends the current process, and removes data created for it. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface LoneAppOptions {
  userData?: string
  env?: Readonly<Record<string, string>>
  /** CommonJS files to run in the main process before the app. */
  before?: readonly string[]
}

/** Starts the built app with its window hidden. */
export async function startAlone({ env = {}, before = [], ...given }: LoneAppOptions = {}): Promise<LoneApp> {
  const userData = given.userData ?? (await mkdtemp(join(tmpdir(), 'roomdesk-desktop-')))
  // Opened last: once it answers, all listeners do.
  const devicePort = await freePort()
  const flags = [
    `--user-data-dir=${userData}`,
    '--hidden',
    '--media-port=0',
    `--device-port=${devicePort}`,
    '--node-port=0',
  ]
  const child = spawn(executable, [...before.flatMap((file) => ['-r', join(root, file)]), root, ...flags], {
    env: { ...process.env, ...display, ...env },
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
      // A relaunched process waits for the end of its predecessor.
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
