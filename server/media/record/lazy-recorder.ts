import type { RecordingOrder } from '../../../shared/recordings/segment.ts'
import type { Recorder, RecorderOptions } from './recorder.ts'

/** Time after which a node has started, and been told of its rooms, in milliseconds. */
const startedMs = 1_000

/** Recorder whose code is loaded after the start of its node, or by the first order: its library for media files takes 70 ms, for which no start waits. */
export class LazyRecorder {
  readonly #options: RecorderOptions
  #loading: Promise<Recorder> | undefined
  #recorder: Recorder | undefined
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Loads its code when the node has started: the first recording finds it there, and disturbs nobody. */
  loadSoon(): void {
    const load = (): void =>
      void this.#load().catch((error: unknown) =>
        this.#options.log.error('the recorder cannot be loaded', String(error)),
      )
    this.#timer = setTimeout(load, startedMs)
  }

  /** As of Recorder. */
  async order(order: RecordingOrder): Promise<void> {
    const recorder = await this.#load()
    if (!this.#closed) recorder.order(order)
  }

  /** As of Recorder. Nothing is recorded before the first order. */
  follow(roomId: string): void {
    this.#recorder?.follow(roomId)
  }

  /** As of Recorder. */
  forget(roomId: string): void {
    this.#recorder?.forget(roomId)
  }

  /** As of Recorder. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#recorder?.close()
  }

  #load(): Promise<Recorder> {
    this.#loading ??= import('./recorder.ts').then((module) => (this.#recorder ??= new module.Recorder(this.#options)))
    return this.#loading
  }
}
