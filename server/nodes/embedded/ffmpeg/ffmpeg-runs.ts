import { type FfmpegAsk, type FfmpegPlan, type FfmpegTell, soundsForPicture } from '../../../../shared/media/ffmpeg.ts'
import { inBackground } from '../../../../shared/unawaited.ts'
import type { NodeLogger } from '../../port/node-failure.ts'
import { FfmpegChild } from './ffmpeg-child.ts'
import type { LocalFfmpeg } from './ffmpeg-program.ts'

export interface FfmpegRunsOptions {
  ffmpeg: LocalFfmpeg
  /** Sends a message to the process. Does nothing if the process has ended. */
  tell: (message: FfmpegTell) => void
  /** Returns the maximum number of simultaneous video conversions; 0: no conversion at all. */
  transcoders: () => number
  logger: NodeLogger
}

type Kind = 'pictures' | 'sound' | 'still'

interface Run {
  kind: Kind
  child: FfmpegChild
}

/** Maximum number of runs that make small pictures. */
const stillsAtOnce = 1

/**
 * Runs ffmpeg for one process of the embedded node, which may not start programs. That process is not trusted: it
 * determines only input and output of a run. The settings limit the number of runs, and a run whose messages violate
 * the protocol is ended.
 */
export class FfmpegRuns {
  readonly #options: FfmpegRunsOptions
  readonly #runs = new Map<number, Run>()
  /** Number of existing processes, including killed ones that have not ended yet. */
  #processes = 0
  #last = 0
  #looks = 0
  #over = false

  constructor(options: FfmpegRunsOptions) {
    this.#options = options
  }

  take(message: FfmpegAsk): void {
    if (this.#over) return
    if (message.ask === 'look')
      inBackground(this.#look(message.id), 'ffmpeg could not be looked for', this.#options.logger)
    else if (message.ask === 'start') this.#start(message.run, message.plan)
    else {
      // A run may have ended while the process sent a message for it.
      const run = this.#runs.get(message.run)
      if (run !== undefined) this.#pass(message, run.child)
    }
  }

  /** Kills all runs, because the process has ended. */
  endAll(): void {
    this.#over = true
    for (const { child } of this.#runs.values()) child.kill()
    this.#runs.clear()
  }

  get size(): number {
    return this.#runs.size
  }

  async #look(id: number): Promise<void> {
    // A correct process sends one request at a time. The limit protects against faulty processes.
    if (this.#looks >= 16) return
    this.#looks += 1
    const found = await this.#options.ffmpeg.look()
    this.#looks -= 1
    if (!this.#over) this.#options.tell({ tell: 'program', id, ...found })
  }

  #start(run: number, plan: FfmpegPlan): void {
    const { ffmpeg, tell, logger } = this.#options
    if (run <= this.#last) return this.#lied(run, 'it used the number of a run twice')
    this.#last = run
    const { program } = ffmpeg
    const kind = kindOf(plan)
    const refusal = program === undefined ? 'there is no ffmpeg' : this.#refusal(kind)
    if (program === undefined || refusal !== undefined) {
      tell({ tell: 'ended', run, why: refusal ?? '', complaint: '' })
      return
    }
    this.#processes += 1
    const child = new FfmpegChild(
      program,
      plan,
      {
        made: (output, bytes) => tell({ tell: 'made', run, output, bytes: bytes.toString('base64') }),
        taken: (bytes) => tell({ tell: 'taken', run, bytes }),
        ended: (why, complaint) => {
          this.#runs.delete(run)
          tell({ tell: 'ended', run, why, complaint })
        },
        gone: () => {
          this.#processes -= 1
        },
      },
      logger,
    )
    this.#runs.set(run, { kind, child })
  }

  /** Returns the reason why no further run of this kind is possible; undefined if a run is possible. */
  #refusal(kind: Kind): string | undefined {
    const limit = this.#options.transcoders()
    const limits = { pictures: limit, sound: limit * soundsForPicture, still: limit === 0 ? 0 : stillsAtOnce }
    const same = Array.from(this.#runs.values()).filter((run) => run.kind === kind)
    // Killed processes that have not ended yet do not count as runs, but their number is limited.
    const maxRuns = 2 * (limits.pictures + limits.sound + limits.still)
    const isFull = same.length >= limits[kind] || this.#processes >= maxRuns
    return isFull ? 'there are as many ffmpegs as the settings allow' : undefined
  }

  #pass(message: Exclude<FfmpegAsk, { ask: 'look' | 'start' }>, child: FfmpegChild): void {
    const { run } = message
    if (message.ask === 'write') {
      if (!child.write(Buffer.from(message.bytes, 'base64'))) this.#lied(run, 'it wrote more than it may')
    } else if (message.ask === 'taken') {
      if (!child.take(message.bytes)) this.#lied(run, 'it took more than there was')
    } else if (message.ask === 'finish') child.finish()
    else {
      this.#runs.delete(run)
      child.kill()
    }
  }

  /** Ends a run for which the process violated the protocol. */
  #lied(run: number, why: string): void {
    const { tell, logger } = this.#options
    logger.error({ run, why }, 'the embedded node does not keep to the messages about ffmpeg')
    const lying = this.#runs.get(run)
    if (lying === undefined) return
    this.#runs.delete(run)
    lying.child.kill()
    tell({ tell: 'ended', run, why, complaint: '' })
  }
}

function kindOf({ video }: FfmpegPlan): Kind {
  if (video === undefined) return 'sound'
  return video.still ? 'still' : 'pictures'
}
