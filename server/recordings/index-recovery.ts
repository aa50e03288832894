import { mustNotFail } from '../../shared/unawaited.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'
import type { KeptSpans } from './kept-spans.ts'
import type { RecorderIntake } from './recorder-intake.ts'
import { rebuildIndex } from './index/rebuild-index.ts'
import type { StoredIndex } from './index/stored-index.ts'

interface IndexRecoveryDependencies {
  /** Path of the recordings folder. */
  folder: string
  index: StoredIndex
  intake: RecorderIntake
  kept: KeptSpans
  /** Called for each room whose time line was incomplete during a rebuild. */
  changed: (roomId: string) => void
  /** Called after `begin` has succeeded. */
  recovered: () => void
  logger: NodeLogger
}

/** Brings the index up to date with the files: after a start, and when the index is damaged. */
export class IndexRecovery {
  readonly #dependencies: IndexRecoveryDependencies
  readonly #stop = new AbortController()
  #progress: { done: number; total: number } | undefined
  #work: Promise<unknown> = Promise.resolve()

  constructor(dependencies: IndexRecoveryDependencies) {
    this.#dependencies = dependencies
  }

  /** Number of segments read, and of all segments, in the current rebuild; undefined: no rebuild is in progress. */
  get progress(): { done: number; total: number } | undefined {
    return this.#progress
  }

  /** Completes the work of an earlier process, or fills a new index from the files. Never rejects. */
  begin(): Promise<void> {
    const { index, intake, kept, recovered } = this.#dependencies
    return this.#background(async () => {
      if (index.isNew) await this.#rebuild()
      else {
        await intake.start()
        await kept.markAll(index.writer)
      }
      recovered()
    })
  }

  /** Rebuilds a damaged index in the background. Does nothing if a rebuild is in progress. */
  repair(): void {
    mustNotFail(this.#background(() => this.#rebuild()))
  }

  /** Resolves when no recovery or rebuild is in progress. Never rejects. */
  async settled(): Promise<void> {
    await this.#work
  }

  /** Interrupts a rebuild. */
  stop(): void {
    this.#stop.abort()
  }

  async #rebuild(): Promise<void> {
    const { folder, index, intake, kept, changed, logger } = this.#dependencies
    if (this.#progress !== undefined) return
    this.#progress = { done: 0, total: 0 }
    try {
      const rebuilt = await rebuildIndex({
        folder,
        index,
        isOpen: (file) => intake.isOpen(file),
        progress: (done, total) => {
          this.#progress = { done, total }
        },
        signal: this.#stop.signal,
        logger,
      })
      await kept.markAll(index.writer)
      // Time lines read during the rebuild were incomplete.
      for (const roomId of new Set(index.sources().map((source) => source.roomId))) changed(roomId)
      if (rebuilt.segments > 0) logger.info({ ...rebuilt }, 'the index of the recordings was rebuilt')
    } finally {
      this.#progress = undefined
    }
  }

  #background(work: () => Promise<void>): Promise<void> {
    const guarded = work().catch((error: unknown) => {
      if (!this.#stop.signal.aborted)
        this.#dependencies.logger.error({ err: error }, 'the recordings could not be read')
    })
    this.#work = Promise.all([this.#work, guarded])
    return guarded
  }
}
