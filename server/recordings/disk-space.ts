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

interface StorageWatchDependencies {
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

const minuteMs = 60_000
/** Number of minutes over which the rate is measured. */
const minutes = 10

/** Average number of bytes recorded per second, over the last ten minutes. Segments count when they end. */
export class RecordingRate {
  readonly #buckets = new Map<number, number>()
  #firstAt: number | undefined

  add(bytes: number, now: number): void {
    const bucket = Math.floor(now / minuteMs)
    this.#firstAt ??= now
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + bytes)
    for (const old of this.#buckets.keys()) if (old <= bucket - minutes) this.#buckets.delete(old)
  }

  /** Returns the rate, in bytes per second; 0: nothing was recorded in the last ten minutes. */
  perSecond(now: number): number {
    if (this.#firstAt === undefined) return 0
    const oldest = Math.floor(now / minuteMs) - minutes
    let bytes = 0
    for (const [bucket, sum] of this.#buckets) if (bucket > oldest) bytes += sum
    // The first segments were recorded in the minute before they were counted.
    const measuredMs = Math.min(minutes * minuteMs, Math.max(minuteMs, now - this.#firstAt + minuteMs))
    return bytes / (measuredMs / 1_000)
  }
}

/** Share of the budget that one owner may use, unless a request specifies another share. */
const defaultShare = 0.5

/** Space requested for new files. */
interface SpaceRequest {
  /** Account, client or program that requests the space: owners share the budget. */
  owner: string
  /** Number of bytes needed until all files are complete, including temporary files. */
  bytes: number
  /** Share of the budget that the owner may use, 0 to 1. */
  share?: number
}

/** Space reserved for files until it is released. */
export interface SpaceClaim {
  readonly bytes: number
  /**
   * Reports that the files are on the disk. The files count for their owner, but are no longer added to the used space
   * of the disk.
   * @param bytes number of bytes that remain
   */
  settle(bytes: number): void
  /** Reports that the files were deleted or never created. */
  release(): void
}

interface Claimed {
  owner: string
  bytes: number
  isPending: boolean
}

/**
 * Budget shared by all producers of files beside the recordings: the free space above the reserve. Running and queued
 * work counts for the site and for each owner. A producer claims space before it creates files.
 */
export class SpaceBudget {
  readonly #measure: () => Promise<Space>
  readonly #claims = new Set<Claimed>()

  /** @param measure measures the disk */
  constructor(measure: () => Promise<Space>) {
    this.#measure = measure
  }

  /** Reserves space. Resolves to undefined if the disk or the owner's share is too small. */
  async claim({ owner, bytes, share = defaultShare }: SpaceRequest): Promise<SpaceClaim | undefined> {
    const before = this.#pending()
    const { free, reserve, margin } = await this.#measure()
    const budget = free - reserve - margin
    const claims = [...this.#claims]
    // Files completed during the measurement are not part of its result.
    const pending = sumOf([...new Map([...this.#pending(), ...before]).values()])
    const ofOwner = sumOf(claims.filter((claim) => claim.owner === owner))
    if (pending + bytes > budget || ofOwner + bytes > budget * share) return undefined
    const claimed: Claimed = { owner, bytes, isPending: true }
    this.#claims.add(claimed)
    return {
      bytes,
      settle: (left) => void Object.assign(claimed, { bytes: left, isPending: false }),
      release: () => void this.#claims.delete(claimed),
    }
  }

  /** Returns the bytes that are not part of the disk's used space yet, by claim. */
  #pending(): Map<Claimed, Pick<Claimed, 'bytes'>> {
    const pending = [...this.#claims].filter(({ isPending }) => isPending)
    return new Map(pending.map((claim) => [claim, { bytes: claim.bytes }]))
  }
}

function sumOf(claims: readonly Pick<Claimed, 'bytes'>[]): number {
  return claims.reduce((sum, { bytes }) => sum + bytes, 0)
}
