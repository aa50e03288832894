import type { FfmpegTell } from '../../../../shared/media/ffmpeg.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { askProgram, type FfmpegProgram, findProgram } from './ffmpeg-program.ts'

/** Minimum interval between searches for a missing ffmpeg, which may be installed meanwhile; in milliseconds. */
const lookAgainMs = 5_000

/** The ffmpeg of this machine, shared by all nodes. It is searched for at the first request. */
export class LocalFfmpeg {
  readonly #wanted: string
  readonly #logger: NodeLogger
  #program: FfmpegProgram | undefined
  #problem = ''
  #search: Promise<void> | undefined
  #searchedAt = -Infinity

  /** @param wanted path or name of the program; empty: `ffmpeg` */
  constructor(wanted: string, logger: NodeLogger) {
    this.#wanted = wanted
    this.#logger = logger
  }

  /** The program; undefined while it was not found. */
  get program(): FfmpegProgram | undefined {
    return this.#program
  }

  /** Returns facts about ffmpeg for a node. Searches again if ffmpeg was missing. Never rejects. */
  async look(): Promise<Pick<Extract<FfmpegTell, { tell: 'program' }>, 'program' | 'problem'>> {
    if (this.#program === undefined && performance.now() - this.#searchedAt > lookAgainMs) {
      this.#search ??= this.#find().finally(() => {
        this.#search = undefined
        this.#searchedAt = performance.now()
      })
    }
    await this.#search
    if (this.#program === undefined) return { program: null, problem: this.#problem }
    const { version, pictures, vp8, sound } = this.#program
    return { program: { version, pictures: pictures !== undefined, vp8, sound }, problem: '' }
  }

  async #find(): Promise<void> {
    try {
      const path = await findProgram(this.#wanted)
      this.#problem = path === undefined && this.#wanted !== '' ? `${this.#wanted} is not an executable program` : ''
      if (path === undefined) return
      this.#program = await askProgram(path)
      this.#logger.info({ path, version: this.#program.version }, 'ffmpeg was found')
    } catch (error) {
      this.#problem = 'ffmpeg is there and cannot be run'
      this.#logger.warn({ err: error }, this.#problem)
    }
  }
}
