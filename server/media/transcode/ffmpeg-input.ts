import { maxRunBytes, runWindow } from '../../../shared/media/ffmpeg.ts'

/** Bytes that wait for one ffmpeg, at most: a camera's whole GOP, and some. */
const maxWaiting = 24 * 1024 * 1024

/** Sends what an ffmpeg reads. */
export interface InputSender {
  write(bytes: Buffer): void
  finish(): void
}

/** Bytes on their way to one ffmpeg: within its window they are sent, beyond it they wait. */
export class FfmpegInput {
  readonly #sender: InputSender
  /** Written, and not sent yet. */
  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  /** Sent, and not acknowledged yet. */
  #unacknowledged = 0
  /** `finishing`: nothing more is written, but some may still be queued. */
  #state: 'open' | 'finishing' | 'finished' = 'open'

  constructor(sender: InputSender) {
    this.#sender = sender
  }

  /** Returns false when ffmpeg does not keep up: the bytes are dropped. */
  write(bytes: Buffer): boolean {
    if (this.#state !== 'open') return true
    if (this.#queuedBytes > maxWaiting) return false
    this.#queue.push(bytes)
    this.#queuedBytes += bytes.length
    this.#send()
    return true
  }

  /** Ends the input behind what is queued. */
  finish(): void {
    if (this.#state === 'open') this.#state = 'finishing'
    this.#send()
  }

  /** Notes that ffmpeg has taken so many bytes. */
  taken(bytes: number): void {
    this.#unacknowledged -= bytes
    this.#send()
  }

  #send(): void {
    while (this.#unacknowledged < runWindow) {
      const [next] = this.#queue
      if (next === undefined) break
      const part = next.subarray(0, maxRunBytes)
      if (part.length < next.length) this.#queue[0] = next.subarray(part.length)
      else this.#queue.shift()
      this.#queuedBytes -= part.length
      this.#unacknowledged += part.length
      this.#sender.write(part)
    }
    if (this.#state !== 'finishing' || this.#queue.length > 0) return
    this.#state = 'finished'
    this.#sender.finish()
  }
}
