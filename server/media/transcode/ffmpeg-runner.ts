import {
  type FfmpegAsk,
  type FfmpegPlan,
  type FfmpegTell,
  maxRunBytes,
  runWindow,
  takenStep,
} from '../../../shared/media/ffmpeg.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import { type EncodedPicture, FlvReader, IvfReader } from './encoded-pictures.ts'
import { type MatroskaFrame, MatroskaReader } from './matroska.ts'

type Found = Pick<Extract<FfmpegTell, { tell: 'program' }>, 'program' | 'problem'>

/**
 * Timeout for the controller to report its ffmpeg, in milliseconds. The controller may have to run the program first.
 */
const answerMs = 30_000

/** Maximum number of queued bytes per ffmpeg: more than a camera's whole GOP. */
const maxWaiting = 24 * 1024 * 1024

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

/** Receives the output of a process, and its end. */
interface FfmpegListener {
  picture(picture: EncodedPicture): void
  sound(frame: MatroskaFrame): void
  /** Called once when the process ends by itself. */
  ended(why: string): void
}

/** One ffmpeg process run by the controller: takes frames and returns pictures and sound. */
export class FfmpegProcess {
  readonly #run: number
  readonly #ask: (message: FfmpegAsk) => void
  readonly #listener: FfmpegListener
  readonly #log: MediaLog
  readonly #pictures: FlvReader | IvfReader
  readonly #sound: MatroskaReader
  readonly #input: FfmpegInput
  #complaint = ''
  #over = false
  /** Number of received bytes that are not acknowledged yet. */
  #unacknowledged = 0

  /**
   * @param plan as sent to the controller
   * @param ask sends a message to the controller
   */
  constructor(
    run: number,
    { video }: FfmpegPlan,
    ask: (message: FfmpegAsk) => void,
    listener: FfmpegListener,
    log: MediaLog,
  ) {
    this.#run = run
    this.#ask = ask
    this.#listener = listener
    this.#log = log
    const take = (picture: EncodedPicture): void => listener.picture(picture)
    this.#pictures = video?.codec === 'VP8' ? new IvfReader(take) : new FlvReader(take)
    this.#sound = new MatroskaReader((frame) => listener.sound(frame))
    this.#input = new FfmpegInput({
      write: (bytes) => ask({ ask: 'write', run, bytes: bytes.toString('base64') }),
      finish: () => ask({ ask: 'finish', run }),
    })
  }

  /** Error message that ffmpeg printed; empty: none. */
  get complaint(): string {
    return this.#complaint
  }

  /** Returns false and drops the bytes if ffmpeg does not keep up. */
  write(bytes: Buffer): boolean {
    return this.#over || this.#input.write(bytes)
  }

  /** Ends the input. The process outputs its remaining frames and ends by itself. */
  finish(): void {
    if (!this.#over) this.#input.finish()
  }

  /** Ends the process at once without calling `ended`. */
  kill(): void {
    if (this.#over) return
    this.#over = true
    this.#ask({ ask: 'end', run: this.#run })
  }

  /** Takes a message of the controller about this run. */
  take(message: Exclude<FfmpegTell, { tell: 'program' }>): void {
    if (this.#over) return
    if (message.tell === 'made') this.#read(message.output, Buffer.from(message.bytes, 'base64'))
    else if (message.tell === 'taken') this.#input.taken(message.bytes)
    else {
      this.#complaint = message.complaint
      this.#end(message.why)
    }
  }

  #read(output: 'pictures' | 'sound', bytes: Buffer): void {
    this.#unacknowledged += bytes.length
    if (this.#unacknowledged >= takenStep) {
      this.#ask({ ask: 'taken', run: this.#run, bytes: this.#unacknowledged })
      this.#unacknowledged = 0
    }
    try {
      if (output === 'pictures') this.#pictures.push(bytes)
      else this.#sound.push(bytes)
    } catch (error) {
      this.#log.error('output of ffmpeg could not be read', wholeText(error))
      this.#ask({ ask: 'end', run: this.#run })
      this.#end('its output could not be read')
    }
  }

  #end(why: string): void {
    if (this.#over) return
    this.#over = true
    this.#listener.ended(why)
  }
}

interface InputSender {
  write(bytes: Buffer): void
  finish(): void
}

/** Input queue of one ffmpeg with flow control: bytes within the window are sent, further bytes wait. */
class FfmpegInput {
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
