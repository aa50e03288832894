import { type ChildProcess, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { Readable } from 'node:stream'
import { type Log, wholeText } from '../log.ts'
import { type ConversionPlan, ffmpegArguments, soundDescriptor } from './ffmpeg-arguments.ts'
import { bareEnvironment, type FfmpegProgram } from './ffmpeg-program.ts'
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
const mostWaiting = 24 * 1024 * 1024
/** Address space, in KiB: hostile pictures may ask for any size. The libraries alone take 0.7 GB of it. */
const mostMemory = 3 * 1024 * 1024
/** Last words that are kept. */
const mostComplaint = 600

/**
 * On POSIX systems the memory is bounded, nothing is dumped, and where the system can it ends with the thread that started it, even stopped; its standard
 * input ends in any case.
 */
const bounded =
  `ulimit -v ${mostMemory} 2>/dev/null; ulimit -c 0; ` +
  `if command -v setpriv >/dev/null 2>&1; then exec setpriv --pdeathsig KILL -- "$0" "$@"; fi; exec "$0" "$@"`

/** One running ffmpeg. What it reads comes through a pipe, and so does what it writes: no port, no file, no login. */
export class FfmpegProcess {
  readonly #child: ChildProcess
  readonly #listener: FfmpegListener
  readonly #log: Log
  #complaint = ''
  #over = false

  /** What cannot be started has ended. */
  constructor(program: FfmpegProgram, plan: ConversionPlan, listener: FfmpegListener, log: Log) {
    this.#listener = listener
    this.#log = log
    const parameters = ffmpegArguments(program, plan)
    const windows = process.platform === 'win32'
    this.#child = spawn(
      windows ? program.path : '/bin/sh',
      windows ? parameters : ['-c', bounded, program.path, ...parameters],
      { stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: bareEnvironment(), cwd: '/', windowsHide: true },
    )
    this.#child.on('error', (error) => this.#end(`it could not be started: ${error.message}`))
    // When everything that it wrote has been read.
    this.#child.once('close', (code, signal) => this.#end(signal ?? `exit code ${code ?? 0}`))
    this.#lowerPriority()
    this.#listen()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** What it said was wrong; empty for nothing. */
  get complaint(): string {
    return this.#complaint.trim()
  }

  /** Bytes that it has not read yet. */
  get waitingBytes(): number {
    return this.#child.stdin?.writableLength ?? 0
  }

  /** Returns false when it does not keep up: the bytes are dropped. */
  write(bytes: Buffer): boolean {
    const { stdin } = this.#child
    if (this.#over || stdin?.writable !== true) return true
    if (stdin.writableLength > mostWaiting) return false
    stdin.write(bytes)
    return true
  }

  /** Nothing more comes: what it holds back is given out, and it ends by itself. */
  finish(): void {
    this.#child.stdin?.end()
  }

  /** Ends it at once; `ended` is not told. */
  kill(): void {
    this.#over = true
    this.#child.kill('SIGKILL')
  }

  /** Pictures of people and cameras that need nothing come first. */
  #lowerPriority(): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL)
    } catch (error) {
      // It is over already, or the system does not allow it.
      this.#log.debug('the priority of ffmpeg could not be lowered', wholeText(error))
    }
  }

  #listen(): void {
    const { stdin, stdout, stderr, stdio } = this.#child
    // It may end at any time; `exit` tells.
    stdin?.on('error', () => {})
    const pictures = new FlvReader((picture) => this.#listener.picture(picture))
    const sound = new MatroskaReader((frame) => this.#listener.sound(frame))
    this.#read(stdout, (chunk) => pictures.push(chunk))
    const soundPipe = stdio[soundDescriptor]
    this.#read(soundPipe instanceof Readable ? soundPipe : null, (chunk) => sound.push(chunk))
    this.#read(stderr, (chunk) => {
      this.#complaint = `${this.#complaint}${chunk.toString('utf8')}`.slice(-mostComplaint)
    })
  }

  #read(pipe: Readable | null, take: (chunk: Buffer) => void): void {
    pipe?.on('error', () => {})
    pipe?.on('data', (chunk: Buffer) => {
      if (this.#over) return
      try {
        take(chunk)
      } catch (error) {
        this.#log.error('what ffmpeg made could not be taken', wholeText(error))
        this.#child.kill('SIGKILL')
        this.#end('what it made could not be taken')
      }
    })
  }

  #end(why: string): void {
    if (this.#over) return
    this.#over = true
    this.#listener.ended(why)
  }
}
