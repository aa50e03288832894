import { maxRunBytes, runWindow } from '../../../shared/media/ffmpeg.ts'

/** Maximum number of queued bytes per ffmpeg: more than a camera's whole GOP. */
const maxWaiting = 24 * 1024 * 1024

export interface InputSender {
  write(bytes: Buffer): void
  finish(): void
}

/** Input queue of one ffmpeg with flow control: bytes within the window are sent, further bytes wait. */
export class FfmpegInput {
  readonly #sender: InputSender
  /** Bytes that were written but not sent yet. */
  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  /** Number of bytes sent but not acknowledged yet. */
  #unacknowledged = 0
  /** State of the input. `finishing`: all input was written, but bytes may still be queued. */
  #state: 'open' | 'finishing' | 'finished' = 'open'

  constructor(sender: InputSender) {
    this.#sender = sender
  }

  /** Returns false and drops the bytes if ffmpeg does not keep up. */
  write(bytes: Buffer): boolean {
    if (this.#state !== 'open') return true
    if (this.#queuedBytes > maxWaiting) return false
    this.#queue.push(bytes)
    this.#queuedBytes += bytes.length
    this.#send()
    return true
  }

  /** Ends the input after the queued bytes. */
  finish(): void {
    if (this.#state === 'open') this.#state = 'finishing'
    this.#send()
  }

  /** Records that ffmpeg has read this number of bytes. */
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
