import { statfs } from 'node:fs/promises'
import { clearInterval, setInterval } from 'node:timers'
import type { RecordingSettings } from '../../shared/settings/recording.ts'
import { mustNotFail } from '../../shared/unawaited.ts'
import type { NodeLogger } from '../nodes/port/node-failure.ts'

const gigabyte = 1_000_000_000
/** Interval between two checks of the file system, in milliseconds. */
const everyMs = 5_000
/**
 * Distance between the reserve and the level at which recording resumes, in seconds of recording at the current rate.
 */
const marginSeconds = 60
const minMarginBytes = 200_000_000

/** Space of the recordings' file system, in bytes. */
export interface Space {
  free: number
  capacity: number
  /** Number of bytes kept free: recording stops at this level. */
  reserve: number
  /**
   * Number of bytes above the reserve. Below this level, the oldest recordings are deleted; above it, recording
   * resumes.
   */
  margin: number
}

export interface StorageWatchDependencies {
  folder: string
  settings: () => RecordingSettings
  /** Number of bytes recorded per second. */
  rate: () => number
  /** Whether anything is being recorded. If so, the space is measured every 5 s, otherwise once a minute. */
  isBusy: () => boolean
  /** Called when recording must stop, or can resume. */
  lowChanged: (low: boolean, space: Space) => void
  /** Called after each measurement. */
  measured: (space: Space) => void
  logger: NodeLogger
  /** Function that measures the file system; undefined: `statfs`. */
  measure?: ((folder: string) => Promise<Pick<Space, 'free' | 'capacity'>>) | undefined
}

/**
 * Monitors the free space of the recordings' disk. Recording stops at the reserve, and resumes at the margin above it.
 */
export class StorageWatch {
  readonly #dependencies: StorageWatchDependencies
  #timer: NodeJS.Timeout | undefined
  #space: Space = { free: 0, capacity: 0, reserve: 0, margin: 0 }
  #low = false
  #rounds = 0
  #failed = false

  constructor(dependencies: StorageWatchDependencies) {
    this.#dependencies = dependencies
  }

  /** Resolves when the space was measured for the first time. Never rejects. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => mustNotFail(this.#look()), everyMs).unref()
    await this.look()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  get space(): Space {
    return this.#space
  }

  /** Whether recording is stopped because the disk is nearly full. */
  get isLow(): boolean {
    return this.#low
  }

  /** Measures the space now. Never rejects. */
  async look(): Promise<void> {
    const { folder, settings, rate, lowChanged, measured, logger, measure = measureSpace } = this.#dependencies
    try {
      const found = await measure(folder)
      const { free_gigabytes, free_percent } = settings()
      const reserve = Math.max(free_gigabytes * gigabyte, (found.capacity * free_percent) / 100)
      const margin = Math.max(minMarginBytes, rate() * marginSeconds)
      this.#space = { ...found, reserve, margin }
      this.#failed = false
    } catch (error) {
      if (!this.#failed) logger.error({ err: error, folder }, 'the space of the recordings cannot be measured')
      this.#failed = true
      return
    }
    const { free, reserve, margin } = this.#space
    measured(this.#space)
    const low = this.#low ? free < reserve + margin : free < reserve
    if (low === this.#low) return
    this.#low = low
    lowChanged(low, this.#space)
  }

  async #look(): Promise<void> {
    // Without recordings, space is measured once a minute.
    this.#rounds++
    if (this.#dependencies.isBusy() || this.#low || this.#rounds % 12 === 0) await this.look()
  }
}

async function measureSpace(folder: string): Promise<Pick<Space, 'free' | 'capacity'>> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, capacity: blocks * bsize }
}
