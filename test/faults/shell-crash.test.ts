import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { isGenuine } from '../e2e/desktop.ts'
import { freePort } from '../support/free-port.ts'

const root = resolve(import.meta.dirname, '../..')
const executable = join(root, 'test/standin/electron')

/** Processes to end, the apps that took another's place among them. */
const pids = new Set<number>()
afterEach(() => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It is gone already.
    }
  }
  pids.clear()
})

/** Lines of the app and of whichever follows it, until one matches. */
async function line(app: ChildProcess, lines: string[], matches: RegExp, from = 0): Promise<string> {
  for (;;) {
    const found = lines.slice(from).find((each) => matches.test(each))
    if (found !== undefined) return found
    if (app.stderr === null) throw new Error('its lines are not read')
    await once(app.stderr, 'data')
  }
}

/** The last port that a start opens is there. */
async function answers(port: number): Promise<void> {
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/`)).status, { timeout: 30_000 }).toBe(200)
}

/** The process that started this one. */
const processOf = (pid: number) =>
  Number(
    readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /, '')
      .split(' ')[1],
  )

// The stand-in alone tells by its own environment which program fails; Electron's relaunch itself is Electron's.
test.skipIf(isGenuine)(
  'an error that nobody foresaw in the main process: the app starts again by itself, where it was',
  async () => {
    const userData = await mkdtemp(join(tmpdir(), 'roomdesk-desktop-'))
    const devicePort = await freePort()
    const ports = ['--media-port=0', `--device-port=${devicePort}`, '--node-port=0']
    const before = ['-r', join(root, 'test/support/fail-on-signal.cjs')]
    const env = { ...process.env, FAILING_PROGRAM: root }
    const app = spawn(executable, [...before, root, `--user-data-dir=${userData}`, '--hidden', ...ports], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(app, 'exit')
    if (app.pid !== undefined) pids.add(app.pid)
    const lines: string[] = []
    app.stderr.on('data', (chunk: Buffer) => lines.push(...chunk.toString().split('\n')))
    const media = (text: string) => JSON.parse(text) as { pid: number; port: number }
    const first = media(await line(app, lines, /the embedded node runs/))
    await answers(devicePort)
    const seen = lines.length
    process.kill(app.pid ?? 0, 'SIGUSR2')
    expect(await line(app, lines, /"unforeseen error"/)).toContain('fail-on-signal.cjs')
    expect(await ended).toEqual([0, null])
    const second = media(await line(app, lines, /the embedded node runs/, seen))
    expect(second.port).toBe(first.port)
    expect(second.pid).not.toBe(first.pid)
    await answers(devicePort)
    const successor = processOf(second.pid)
    pids.add(successor)
    process.kill(successor, 'SIGTERM')
    await expect.poll(() => isRunning(successor)).toBe(false)
    await rm(userData, { recursive: true, force: true, maxRetries: 5 })
  },
)

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
