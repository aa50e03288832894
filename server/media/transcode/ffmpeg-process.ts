import { type FfmpegAsk, type FfmpegTell, maxRunBytes, runWindow, takenStep } from '../../../shared/media/ffmpeg.ts'
import { type Log, wholeText } from '../base/media-log.ts'
import { type FlvPicture, FlvReader } from './flv-reader.ts'
import { type MatroskaFrame, MatroskaReader } from './matroska-reader.ts'

/** Whom a process tells. */
export interface FfmpegListener {
  picture(picture: FlvPicture): void
  sound(frame: MatroskaFrame): void
  /** Told once, unless it was ended from here. */
  ended(why: string): void
}

/** Bytes that wait for it at most: a camera's whole GOP, and some. */
const maxWaiting = 24 * 1024 * 1024

/** One ffmpeg, which the controller runs: frames are written to it, and what it makes comes back. */
export class FfmpegProcess {
  readonly #run: number
  readonly #ask: (message: FfmpegAsk) => void
  readonly #listener: FfmpegListener
  readonly #log: Log
  readonly #pictures: FlvReader
  readonly #sound: MatroskaReader
  #complaint = ''
  #over = false
  #finished = false
  #toldFinish = false
  /** Written, and not sent yet; how many bytes these are. */
  readonly #queue: Buffer[] = []
  #waiting = 0
  /** Bytes that were sent, and that nobody said to have taken. */
  #underWay = 0
  /** Bytes that came, and that were not said to be taken yet. */
  #unsaid = 0

  /** @param ask sends a message to the controller */
  constructor(run: number, ask: (message: FfmpegAsk) => void, listener: FfmpegListener, log: Log) {
    this.#run = run
    this.#ask = ask
    this.#listener = listener
    this.#log = log
    this.#pictures = new FlvReader((picture) => listener.picture(picture))
    this.#sound = new MatroskaReader((frame) => listener.sound(frame))
  }

  /** What it said was wrong; empty for nothing. */
  get complaint(): string {
    return this.#complaint
  }

  /** Returns false when it does not keep up: the bytes are dropped. */
  write(bytes: Buffer): boolean {
    if (this.#over || this.#finished) return true
    if (this.#waiting > maxWaiting) return false
    this.#queue.push(bytes)
    this.#waiting += bytes.length
    this.#send()
    return true
  }

  /** Nothing more comes: what it holds back is given out, and it ends by itself. */
  finish(): void {
    this.#finished = true
    this.#send()
  }

  /** Ends it at once; `ended` is not told. */
  kill(): void {
    if (this.#over) return
    this.#over = true
    this.#ask({ ask: 'end', run: this.#run })
  }

  /** Takes what the controller says of this run. */
  take(message: Exclude<FfmpegTell, { tell: 'program' }>): void {
    if (this.#over) return
    if (message.tell === 'made') this.#read(message.output, Buffer.from(message.bytes, 'base64'))
    else if (message.tell === 'taken') {
      this.#underWay -= message.bytes
      this.#send()
    } else {
      this.#complaint = message.complaint
      this.#end(message.why)
    }
  }

  #send(): void {
    if (this.#over) return
    while (this.#underWay < runWindow) {
      const [next] = this.#queue
      if (next === undefined) break
      const part = next.subarray(0, maxRunBytes)
      if (part.length < next.length) this.#queue[0] = next.subarray(part.length)
      else this.#queue.shift()
      this.#waiting -= part.length
      this.#underWay += part.length
      this.#ask({ ask: 'write', run: this.#run, bytes: part.toString('base64') })
    }
    if (!this.#finished || this.#toldFinish || this.#queue.length > 0) return
    this.#toldFinish = true
    this.#ask({ ask: 'finish', run: this.#run })
  }

  #read(output: 'pictures' | 'sound', bytes: Buffer): void {
    this.#unsaid += bytes.length
    if (this.#unsaid >= takenStep) {
      this.#ask({ ask: 'taken', run: this.#run, bytes: this.#unsaid })
      this.#unsaid = 0
    }
    try {
      if (output === 'pictures') this.#pictures.push(bytes)
      else this.#sound.push(bytes)
    } catch (error) {
      this.#log.error('what ffmpeg made could not be taken', wholeText(error))
      this.#ask({ ask: 'end', run: this.#run })
      this.#end('what it made could not be taken')
    }
  }

  #end(why: string): void {
    if (this.#over) return
    this.#over = true
    this.#listener.ended(why)
  }
}
