import { type FfmpegAbilities, soundsForPicture } from '../../../shared/media/ffmpeg.ts'
import type { TranscodingStatus } from '../../../shared/media/transcoding.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import { type MediaLog, wholeText } from '../base/media-log.ts'
import type { FfmpegRunner } from './ffmpeg-runner.ts'
import { StillPictures } from './still-pictures.ts'

/** Conversions for browsers that this machine can do. */
export interface Abilities {
  pictures: boolean
  sound: boolean
}

export const noAbilities: Abilities = { pictures: false, sound: false }

/** Interval of searches for a missing program, in milliseconds. The program may have been installed meanwhile. */
const lookAgainMs = 10_000

/** The ffmpeg of this machine, if there is one, and the limit on its processes. */
export class Transcoding {
  readonly runner: FfmpegRunner
  readonly log: MediaLog
  readonly slots: TranscoderSlots
  readonly stills: StillPictures
  #limit: number
  #program: FfmpegAbilities | undefined
  #problem = ''
  #search: Promise<void> | undefined
  #searchedAt = -Infinity
  /**
   * Called when ffmpeg becomes usable or unusable. Assignable, because the camera pulls that set the callback need this
   * object first.
   */
  changed: () => void = () => {}

  /**
   * @param runner runs ffmpeg through the controller
   * @param limit maximum number of picture transcoders; 0: no conversion at all
   */
  constructor(runner: FfmpegRunner, limit: number, log: MediaLog) {
    this.runner = runner
    this.#limit = limit
    this.log = log
    this.slots = new TranscoderSlots(limit)
    this.stills = new StillPictures(() => (this.known.pictures ? runner : undefined), log)
  }

  /**
   * Program that was found; undefined if there is none, before the first search, or while conversion is switched off.
   */
  get program(): FfmpegAbilities | undefined {
    return this.#limit === 0 ? undefined : this.#program
  }

  get limit(): number {
    return this.#limit
  }

  set limit(limit: number) {
    if (limit === this.#limit) return
    const turned = (limit === 0) !== (this.#limit === 0)
    this.#limit = limit
    this.slots.limit = limit
    if (!turned) return
    // While conversion was switched off, there was no search.
    mustNotFail(this.abilities())
    this.changed()
  }

  get known(): Abilities {
    return { pictures: this.program?.pictures === true, sound: this.program?.sound === true }
  }

  /** Searches for the program unless it was found before. Never rejects. */
  async abilities(): Promise<Abilities> {
    if (this.#limit === 0) return noAbilities
    if (this.#program === undefined && performance.now() - this.#searchedAt > lookAgainMs) {
      this.#search ??= this.#find().finally(() => {
        this.#search = undefined
        this.#searchedAt = performance.now()
      })
    }
    await this.#search
    return this.known
  }

  /** Returns the status for the operator. Never rejects. */
  async status(): Promise<TranscodingStatus> {
    const { pictures, sound } = await this.abilities()
    const use = (kind: 'picture' | 'sound') => ({ used: this.slots.used(kind), limit: this.slots.limitOf(kind) })
    const state = this.#limit === 0 ? 'off' : this.#program === undefined ? 'missing' : 'ready'
    return {
      state: state === 'ready' && !(pictures && sound) ? 'incomplete' : state,
      version: this.program?.version ?? '',
      problem: this.#problem,
      install: ffmpegInstallCommand(),
      pictures: use('picture'),
      sound: use('sound'),
    }
  }

  async #find(): Promise<void> {
    try {
      const { program, problem } = await this.runner.look()
      this.#problem = problem
      if (program === null) return
      this.#program = program
      this.changed()
    } catch (error) {
      this.#problem = 'the controller did not say which ffmpeg there is'
      this.log.warn(this.#problem, wholeText(error))
    }
  }
}

export interface SlotHolder {
  /** Kind of conversion; sound alone takes a fraction of the work. */
  readonly kind: 'picture' | 'sound'
  /** Whether there are no viewers, so that another holder may take the slot. */
  readonly idle: boolean
  /** Called when another holder has taken the slot. */
  giveWay(): void
  /** Called when a slot may be free. */
  retry(): void
}

/** Limits the number of transcoders that run at once. */
export class TranscoderSlots {
  readonly #holders = new Set<SlotHolder>()
  readonly #waiting = new Set<SlotHolder>()
  #limit: number

  /** @param limit maximum number of picture transcoders */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Sets the limit. Running transcoders above a smaller limit continue. */
  set limit(limit: number) {
    this.#limit = limit
    this.#wake()
  }

  limitOf(kind: SlotHolder['kind']): number {
    return kind === 'picture' ? this.#limit : this.#limit * soundsForPicture
  }

  used(kind: SlotHolder['kind']): number {
    return Array.from(this.#holders).filter((holder) => holder.kind === kind && !holder.idle).length
  }

  /** Takes a slot. Returns whether the holder has a slot now, including a slot taken before. */
  take(holder: SlotHolder): boolean {
    if (this.#holders.has(holder)) return true
    const taken = Array.from(this.#holders).filter(({ kind }) => kind === holder.kind)
    if (taken.length >= this.limitOf(holder.kind)) {
      const idle = taken.find((other) => other.idle)
      if (idle === undefined) return false
      this.#holders.delete(idle)
      idle.giveWay()
    }
    this.#waiting.delete(holder)
    this.#holders.add(holder)
    return true
  }

  /** Registers a holder that needs a slot. Its `retry` is called when a slot may be free. */
  wait(holder: SlotHolder): void {
    this.#waiting.add(holder)
  }

  leave(holder: SlotHolder): void {
    this.#waiting.delete(holder)
    if (this.#holders.delete(holder)) this.#wake()
  }

  #wake(): void {
    for (const holder of [...this.#waiting]) holder.retry()
  }
}

/** Returns the command that installs ffmpeg on this machine. */
export function ffmpegInstallCommand(platform = process.platform): string {
  if (platform === 'win32') return 'winget install ffmpeg'
  return platform === 'darwin' ? 'brew install ffmpeg' : 'apt install ffmpeg'
}
