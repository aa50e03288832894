import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '..')
/** Folders that the controller and its media node run from. */
const sources = ['server', 'shared']
/** Time in milliseconds in which further saved files belong to the same restart: an editor may write several. */
const settleMs = 100
/** Time in milliseconds after which a controller that does not stop is killed. */
const stopMs = 10_000

/** A controller that runs from source, and restarts when a file of `server/` or `shared/` changes. */
export class ControllerProcess {
  readonly #flags: readonly string[]
  readonly #onReady: () => void
  readonly #watchers: FSWatcher[] = []
  #child: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #queue: Promise<void> = Promise.resolve()
  #ended = false

  /** @param flags of the headless controller @param onReady called after each start, when all ports listen */
  constructor(flags: readonly string[], onReady: () => void) {
    this.#flags = flags
    this.#onReady = onReady
  }

  start(): void {
    for (const folder of sources) {
      const watcher = watch(join(root, folder), { recursive: true }, (_event, file) => {
        if (file?.endsWith('.ts') === true) this.#restartSoon(`${folder}/${file}`)
      })
      this.#watchers.push(watcher)
    }
    this.#spawn()
  }

  /** Stops the controller and resolves when it has ended. */
  async stop(): Promise<void> {
    this.#ended = true
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers) watcher.close()
    await this.#queue
    await this.#stopChild()
  }

  #restartSoon(file: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      console.error(`${file} changed: restarting the controller`)
      this.#queue = this.#queue.then(async () => {
        await this.#stopChild()
        if (!this.#ended) this.#spawn()
      })
    }, settleMs)
  }

  #spawn(): void {
    const child = spawn(process.execPath, [join(root, 'dev/controller.ts'), ...this.#flags], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
      // The types of a thousand files are stripped once.
      env: { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'), ...process.env },
      // Ctrl+C in a terminal reaches the whole process group; this process stops the controller.
      detached: process.platform !== 'win32',
    })
    this.#child = child
    createInterface(child.stdout).on('line', (line) => {
      if (line.startsWith('ready ')) this.#onReady()
    })
    child.once('exit', () => {
      if (this.#child !== child) return
      this.#child = undefined
      console.error('The controller ended. It starts again when a file of server/ or shared/ changes.')
    })
  }

  async #stopChild(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    const killer = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await exited
    clearTimeout(killer)
  }
}
