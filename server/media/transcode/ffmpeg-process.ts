import { type FfmpegAsk, type FfmpegPlan, type FfmpegTell, takenStep } from '../../../shared/media/ffmpeg.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import type { EncodedPicture } from './encoded-picture.ts'
import { FfmpegInput } from './ffmpeg-input.ts'
import { FlvReader } from './flv-reader.ts'
import { IvfReader } from './ivf-reader.ts'
import { type MatroskaFrame, MatroskaReader } from './matroska-reader.ts'

/** Receives the output of a process, and its end. */
export interface FfmpegListener {
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
