import { allRecordings, type RecordEvent } from './recording-events.ts'

/**
 * Minimum delay of which operators are notified, in milliseconds. While the disk keeps up, a power cut loses at most
 * one group of pictures plus one second.
 */
const reportedFromMs = 1_000

interface Delay {
  ms: number
  maxMs: number
  /** Time of the notification, in milliseconds since the epoch; 0: not notified. */
  reportedAt: number
}

/** Delays of the nodes' disks: the age of the oldest media that a power cut would destroy. */
export class DiskDelays {
  readonly #event: RecordEvent
  readonly #nodes = new Map<string, Delay>()

  constructor(event: RecordEvent) {
    this.#event = event
  }

  /** @param ms delay in milliseconds; 0 if the disk keeps up */
  note(node: string, ms: number): void {
    const known = this.#nodes.get(node)
    if (ms === 0) {
      this.#nodes.delete(node)
      if (known !== undefined && known.reportedAt > 0) this.#tell('recording.diskBack', node, known.maxMs)
      return
    }
    const delay = { ms, maxMs: Math.max(ms, known?.maxMs ?? 0), reportedAt: known?.reportedAt ?? 0 }
    this.#nodes.set(node, delay)
    if (delay.reportedAt > 0 || delay.maxMs < reportedFromMs) return
    delay.reportedAt = Date.now()
    this.#tell('recording.diskLate', node, ms)
  }

  /** Largest current delay, in milliseconds; 0 if all disks keep up. */
  get ms(): number {
    return Math.max(0, ...Array.from(this.#nodes.values(), ({ ms }) => ms))
  }

  /**
   * Largest delay of the disks currently reported as slow, and the time of the first report; undefined: no such disk.
   */
  get reported(): { maxMs: number; since: number } | undefined {
    const reported = [...this.#nodes.values()].filter(({ reportedAt }) => reportedAt > 0)
    if (reported.length === 0) return undefined
    return {
      maxMs: Math.max(...reported.map(({ maxMs }) => maxMs)),
      since: Math.min(...reported.map(({ reportedAt }) => reportedAt)),
    }
  }

  #tell(kind: 'recording.diskLate' | 'recording.diskBack', node: string, ms: number): void {
    this.#event({
      kind,
      level: kind === 'recording.diskLate' ? 'warning' : 'info',
      subject: allRecordings,
      params: { node, seconds: seconds(ms) },
    })
  }
}

/** Converts milliseconds to seconds for display, rounded up to a tenth. */
export function seconds(ms: number): number {
  return Math.ceil(ms / 100) / 10
}
