import { Readable } from 'node:stream'
import { type FfmpegPlan, maxRunBytes, type RunOutput, runWindow, takenStep } from '../../../../shared/media/ffmpeg.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { ffmpegArguments, soundDescriptor } from './ffmpeg-arguments.ts'
import type { FfmpegProgram } from './ffmpeg-program.ts'
import { spawnFfmpeg, type SpawnedFfmpeg } from './spawn-ffmpeg.ts'

/** Receives events of a running ffmpeg. */
export interface FfmpegChildListener {
  /** Called with output of at most `maxRunBytes` bytes. */
  made(output: RunOutput, bytes: Buffer): void
  /** Called when `bytes` further bytes of the input were passed to the process. */
  taken(bytes: number): void
  /** Called once after the last output, unless `kill` was called. */
  ended(why: string, complaint: string): void
  /** Called once when the process has ended. */
  gone(): void
}

/** Timeout of a run that makes one small picture, in milliseconds. By then, its caller has timed out. */
const stillMs = 30_000

/** One running ffmpeg. It reads and writes only through pipes, without ports, files or logins. */
export class FfmpegChild {
  readonly #child: SpawnedFfmpeg['child']
  readonly #complaint: () => string
  readonly #listener: FfmpegChildListener
  readonly #outputs: Readable[] = []
  readonly #deadline: NodeJS.Timeout | undefined
  #over = false
  #gone = false
  /** Input bytes not yet reported as taken; `#takenNow` counts those that were already passed to the process. */
  #given = 0
  #takenNow = 0
  /** Output bytes that the receiver has not confirmed yet. */
  #waiting = 0

  /** Starts the program. If that fails, `ended` is called. */
  constructor(program: FfmpegProgram, plan: FfmpegPlan, listener: FfmpegChildListener, logger: NodeLogger) {
    this.#listener = listener
    const { child, complaint } = spawnFfmpeg(program.path, ffmpegArguments(program, plan), {
      descriptors: soundDescriptor + 1,
      // Conversions have a lower priority than media that needs no conversion.
      notLowered: (error) => logger.debug({ err: error }, 'the priority of ffmpeg could not be lowered'),
    })
    this.#child = child
    this.#complaint = complaint
    this.#child.on('error', (error) => this.#end(`it could not be started: ${error.message}`))
    this.#child.once('exit', () => this.#leave())
    // Emitted when all output was read.
    this.#child.once('close', (code, signal) => {
      this.#leave()
      this.#end(signal ?? `exit code ${code ?? 0}`)
    })
    if (plan.video?.still === true) this.#deadline = setTimeout(() => this.#child.kill('SIGKILL'), stillMs).unref()
    this.#listen()
  }

  /** Writes input. Returns false if the input exceeds the window. */
  write(bytes: Buffer): boolean {
    if (this.#given + bytes.length > runWindow + maxRunBytes) return false
    const { stdin } = this.#child
    this.#given += bytes.length
    // The process may end at any time. Input is then discarded, and `ended` follows.
    if (this.#over || !stdin.writable) this.#took(bytes.length)
    else stdin.write(bytes, () => this.#took(bytes.length))
    return true
  }

  /** Records that the receiver confirmed `bytes` output bytes. Returns false if fewer bytes are unconfirmed. */
  take(bytes: number): boolean {
    if (bytes > this.#waiting) return false
    const held = this.#waiting > runWindow
    this.#waiting -= bytes
    if (held && this.#waiting <= runWindow) for (const output of this.#outputs) output.resume()
    return true
  }

  /** Ends the input. The process writes its remaining output, and then ends. */
  finish(): void {
    this.#child.stdin.end()
  }

  /** Kills the process, without calling `ended`. */
  kill(): void {
    this.#over = true
    // Discards the output, so that the process can end.
    for (const output of this.#outputs) output.resume()
    this.#child.kill('SIGKILL')
  }

  #took(bytes: number): void {
    this.#takenNow += bytes
    if (this.#over || this.#takenNow < takenStep) return
    const taken = this.#takenNow
    this.#takenNow = 0
    this.#given -= taken
    this.#listener.taken(taken)
  }

  #listen(): void {
    const { stdout, stdio } = this.#child
    this.#read('pictures', stdout)
    // The types do not include this additional pipe.
    const sound: unknown = (stdio as readonly unknown[])[soundDescriptor]
    if (sound instanceof Readable) this.#read('sound', sound)
  }

  #read(output: RunOutput, pipe: Readable): void {
    this.#outputs.push(pipe)
    pipe.on('error', () => {})
    pipe.on('data', (chunk: Buffer) => {
      if (this.#over) return
      this.#waiting += chunk.length
      if (this.#waiting > runWindow) for (const each of this.#outputs) each.pause()
      for (let at = 0; at < chunk.length; at += maxRunBytes) {
        this.#listener.made(output, chunk.subarray(at, at + maxRunBytes))
      }
    })
  }

  #leave(): void {
    clearTimeout(this.#deadline)
    if (this.#gone) return
    this.#gone = true
    this.#listener.gone()
  }

  #end(why: string): void {
    if (this.#over) return
    this.#over = true
    this.#listener.ended(why, this.#complaint())
  }
}
