import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ProcedureInput, ProcedureName, ProcedureOutput } from '../../shared/console/contract.ts'
import type { ConsoleResult } from '../../shared/domain/outcome.ts'
import { DevtoolsPage, devtoolsAddress, forgetPort } from './devtools.ts'
import { until } from './until.ts'

/** Command that starts an app. */
export interface Program {
  executable: string
  /** First arguments: the folder of the app, if the executable is not the app itself. */
  args: readonly string[]
  isStandIn: boolean
}

/** How an app ended. */
export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

/** Time to end after a request, in milliseconds. */
const endMs = 20_000

/** Tells whether a URL is the console's page: on the stand-in a host replaces the scheme. */
export const isConsole = (url: string): boolean => /^(app:\/\/roomdesk|http:\/\/roomdesk\.app\.localhost)\//.test(url)

/** The app in a process of its own, driven like by a person and a client: by its page and its ports. */
export class RunningApp {
  readonly process: ChildProcess
  readonly #page: DevtoolsPage
  readonly #written: () => string

  private constructor(process: ChildProcess, page: DevtoolsPage, written: () => string) {
    this.process = process
    this.#page = page
    this.#written = written
  }

  /** Starts it on free ports and waits for its console. @param more further arguments */
  static async start(program: Program, userData: string, more: readonly string[] = []): Promise<RunningApp> {
    await forgetPort(userData)
    const child = launch(program, userData, ['--remote-debugging-port=0', ...more])
    let written = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (written += chunk.toString()))
    const ended = once(child, 'exit').then(([code, signal]: (number | string | null)[]): never => {
      throw new Error(`it ended with ${signal ?? code} before its console was there; it wrote:\n${lastOf(written)}`)
    })
    ended.catch(() => undefined)
    try {
      const opened = devtoolsAddress(userData, () => written).then((address) => DevtoolsPage.open(address, isConsole))
      const page = await Promise.race([opened, ended])
      const app = new RunningApp(child, page, () => written)
      await Promise.race([app.answers(), ended])
      return app
    } catch (error) {
      await end(child)
      throw new Error(`the console is not there; the end of the log:\n${await logOf(userData)}`, { cause: error })
    }
  }

  /** Resolves when the page has its bridge and the controller answers through it. */
  async answers(limitMs = 60_000): Promise<void> {
    await until('the console answers', async () => (await this.call('overview.get')).product === 'Roomdesk', limitMs)
  }

  /** Calls a procedure like the page. @throws Error with code and message of a refusal */
  async call<N extends ProcedureName>(name: N, input?: ProcedureInput<N>): Promise<ProcedureOutput<N>> {
    const asked = `roomdesk.call(${JSON.stringify(name)}, ${JSON.stringify(input ?? {})})`
    // The controller has validated its answer against the contract.
    const result = (await this.#page.evaluate(asked)) as ConsoleResult<ProcedureOutput<N>>
    if (!result.ok) throw new Error(`${name}: ${result.error.code}: ${result.error.message}`)
    return result.value
  }

  /** URL of a listener. @throws Error while it does not listen */
  async url(listener: 'media' | 'device' | 'node'): Promise<string> {
    const { listeners } = await this.call('overview.get')
    const url = listeners.find(({ name }) => name === listener)?.url ?? ''
    if (url === '') throw new Error(`${listener} does not listen`)
    return url
  }

  get page(): DevtoolsPage {
    return this.#page
  }

  /** Last lines of its output. */
  log(): string {
    return lastOf(this.#written())
  }

  /** Ends it by a signal, and waits for the exit. On Windows, which has no signals, it is killed. */
  async stop(): Promise<Ending> {
    this.#page.close()
    return await end(this.process)
  }

  /** Kills it, as a power cut would. */
  async kill(): Promise<void> {
    this.#page.close()
    const left = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await left
  }

  /** Resolves to how it ended, once it has. */
  async ended(): Promise<Ending> {
    const { exitCode, signalCode } = this.process
    if (exitCode === null && signalCode === null)
      await once(this.process, 'exit', { signal: AbortSignal.timeout(endMs) })
    return { code: this.process.exitCode, signal: this.process.signalCode }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

/** Starts the app again on the same data while it runs; resolves to the end of the second one. @param more further arguments */
export async function launchAgain(program: Program, userData: string, more: readonly string[] = []): Promise<Ending> {
  const child = launch(program, userData, more)
  const left = once(child, 'exit', { signal: AbortSignal.timeout(endMs) })
  try {
    const [code, signal] = (await left) as [number | null, NodeJS.Signals | null]
    return { code, signal }
  } catch (cause) {
    await end(child)
    throw new Error(`the second one still ran after ${endMs / 1_000} s`, { cause })
  }
}

/** Starts the program with these arguments only, without a page and without a display. */
export function launchProgram({ executable, args }: Program, more: readonly string[]): ChildProcess {
  const env = { ...ownEnvironment(), DISPLAY: undefined, WAYLAND_DISPLAY: undefined }
  return spawn(executable, [...args, ...more], { stdio: ['ignore', 'pipe', 'pipe'], env })
}

function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ROOMDESK_')))
}

function launch({ executable, args, isStandIn }: Program, userData: string, more: readonly string[]): ChildProcess {
  const ports = ['media', 'device', 'node'].map((name) => `--${name}-port=0`)
  return spawn(executable, [...args, `--user-data-dir=${userData}`, ...ports, ...more], {
    // The stand-in has one more pipe, and ends when it breaks.
    stdio: ['ignore', 'pipe', 'pipe', ...(isStandIn ? (['pipe'] as const) : [])],
    env: ownEnvironment(),
  })
}

async function end(child: ChildProcess): Promise<Ending> {
  // Without an id it was never started.
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const left = once(child, 'exit')
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), endMs)
    await left
    clearTimeout(timer)
  }
  return { code: child.exitCode, signal: child.signalCode }
}

/** Reads the end of a packed app's log. */
async function logOf(userData: string): Promise<string> {
  // Electron's folder for logs (docs/api/app.md, getPath).
  const folder = process.platform === 'darwin' ? join(homedir(), 'Library/Logs/Roomdesk') : join(userData, 'logs')
  return await readFile(join(folder, 'roomdesk.log'), 'utf8').then(lastOf, () => '(none)')
}

const lastOf = (written: string): string => written.trimEnd().split('\n').slice(-15).join('\n')
