import { Readable } from 'node:stream'
import { type FfmpegPlan, maxRunBytes, type RunOutput, runWindow, takenStep } from '../../../../shared/media/ffmpeg.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { ffmpegArguments, soundDescriptor } from './ffmpeg-arguments.ts'
import type { FfmpegProgram } from './ffmpeg-program.ts'
import { spawnFfmpeg, type SpawnedFfmpeg } from './spawn-ffmpeg.ts'

/** Receives events of a running ffmpeg. */
export interface FfmpegChildListener {
  /** So many bytes of at most `maxRunBytes`. */
  made(output: RunOutput, bytes: Buffer): void
  /** So many of the bytes that were written to it are on their way. */
  taken(bytes: number): void
  /** Called once after the last output, unless the run was ended from here. */
  ended(why: string, complaint: string): void
  /** Called once: the process has ended. */
  gone(): void
}

/** Time for a run that makes one small picture, in milliseconds. Its caller has given up by then. */
const stillMs = 30_000

/** One running ffmpeg. What it reads comes through a pipe, and so does what it writes: no port, no file, no login. */
export class FfmpegChild {
  readonly #child: SpawnedFfmpeg['child']
  readonly #complaint: () => string
  readonly #listener: FfmpegChildListener
  readonly #outputs: Readable[] = []
  readonly #deadline: NodeJS.Timeout | undefined
  #over = false
  #gone = false
  /** Bytes that it was given and that were not said to be taken; those of them that it has taken. */
  #given = 0
  #takenNow = 0
  /** Bytes that it made and that nobody has taken yet. */
  #waiting = 0

  /** A program that cannot be started counts as ended. */
  constructor(program: FfmpegProgram, plan: FfmpegPlan, listener: FfmpegChildListener, logger: NodeLogger) {
    this.#listener = listener
    const { child, complaint } = spawnFfmpeg(program.path, ffmpegArguments(program, plan), {
      descriptors: soundDescriptor + 1,
      // Pictures of people and cameras that need nothing come first.
      notLowered: (error) => logger.debug({ err: error }, 'the priority of ffmpeg could not be lowered'),
    })
    this.#child = child
    this.#complaint = complaint
    this.#child.on('error', (error) => this.#end(`it could not be started: ${error.message}`))
    this.#child.once('exit', () => this.#leave())
    // When everything that it wrote has been read.
    this.#child.once('close', (code, signal) => {
      this.#leave()
      this.#end(signal ?? `exit code ${code ?? 0}`)
    })
    if (plan.video?.still === true) this.#deadline = setTimeout(() => this.#child.kill('SIGKILL'), stillMs).unref()
    this.#listen()
  }

  /** Returns false when so much was not to be sent to it. */
  write(bytes: Buffer): boolean {
    if (this.#given + bytes.length > runWindow + maxRunBytes) return false
    const { stdin } = this.#child
    this.#given += bytes.length
    // It may end at any time: then nobody reads them, and `ended` follows.
    if (this.#over || !stdin.writable) this.#took(bytes.length)
    else stdin.write(bytes, () => this.#took(bytes.length))
    return true
  }

  /** So much of what it made was taken. Returns false when it made less. */
  take(bytes: number): boolean {
    if (bytes > this.#waiting) return false
    const held = this.#waiting > runWindow
    this.#waiting -= bytes
    if (held && this.#waiting <= runWindow) for (const output of this.#outputs) output.resume()
    return true
  }

  /** Nothing more comes: what it holds back is given out, and it ends by itself. */
  finish(): void {
    this.#child.stdin.end()
  }

  /** Ends the run at once, without calling `ended`. */
  kill(): void {
    this.#over = true
    // Discards the output, so that the program can end.
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
    // One more pipe than the types know.
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
