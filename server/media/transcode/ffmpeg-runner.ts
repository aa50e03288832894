import type { FfmpegAsk, FfmpegPlan, FfmpegTell } from '../../../shared/media/ffmpeg.ts'
import type { MediaLog } from '../base/media-log.ts'
import { type FfmpegListener, FfmpegProcess } from './ffmpeg-process.ts'

type Found = Pick<Extract<FfmpegTell, { tell: 'program' }>, 'program' | 'problem'>

/**
 * Timeout for the controller to report its ffmpeg, in milliseconds. The controller may have to run the program first.
 */
const answerMs = 30_000

/** Runs ffmpeg through the controller, because this process must not start programs. */
export class FfmpegRunner {
  readonly #ask: (message: FfmpegAsk) => void
  readonly #log: MediaLog
  readonly #runs = new Map<number, FfmpegProcess>()
  readonly #looks = new Map<number, (found: Found) => void>()
  #last = 0

  /** @param ask sends a message to the controller */
  constructor(ask: (message: FfmpegAsk) => void, log: MediaLog) {
    this.#ask = ask
    this.#log = log
  }

  take(message: FfmpegTell): void {
    if (message.tell === 'program') {
      this.#looks.get(message.id)?.(message)
      this.#looks.delete(message.id)
      return
    }
    const process = this.#runs.get(message.run)
    if (message.tell === 'ended') this.#runs.delete(message.run)
    process?.take(message)
  }

  /** Returns the controller's ffmpeg. @throws Error if the controller does not answer */
  async look(): Promise<Found> {
    const id = this.#next()
    const { promise, resolve, reject } = Promise.withResolvers<Found>()
    const timer = setTimeout(() => reject(new Error('no answer')), answerMs)
    this.#looks.set(id, resolve)
    this.#ask({ ask: 'look', id })
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      this.#looks.delete(id)
    }
  }

  /** Starts a process. If the start fails, `listener.ended` is called. */
  start(plan: FfmpegPlan, listener: FfmpegListener): FfmpegProcess {
    const run = this.#next()
    const ask = (message: FfmpegAsk): void => {
      if (message.ask === 'end') this.#runs.delete(run)
      this.#ask(message)
    }
    const process = new FfmpegProcess(run, plan, ask, listener, this.#log)
    this.#runs.set(run, process)
    this.#ask({ ask: 'start', run, plan })
    return process
  }

  #next(): number {
    this.#last += 1
    return this.#last
  }
}
