import { allRecordings, type RecordEvent } from './recording-events.ts'

/** Delay from which operators are told, in milliseconds: a power cut loses at most a group of pictures and a second while the disk keeps up. */
const toldMs = 1_000

interface Delay {
  ms: number
  maxMs: number
  /** When operators were told; 0: they were not. */
  toldAt: number
}

/** Delays of the nodes' disks: how old the oldest media is that a power cut would take. */
export class DiskDelays {
  readonly #event: RecordEvent
  readonly #nodes = new Map<string, Delay>()

  constructor(event: RecordEvent) {
    this.#event = event
  }

  /** @param ms delay in milliseconds; 0: the disk keeps up */
  note(node: string, ms: number): void {
    const known = this.#nodes.get(node)
    if (ms === 0) {
      this.#nodes.delete(node)
      if (known !== undefined && known.toldAt > 0) this.#tell('recording.diskBack', node, known.maxMs)
      return
    }
    const delay = { ms, maxMs: Math.max(ms, known?.maxMs ?? 0), toldAt: known?.toldAt ?? 0 }
    this.#nodes.set(node, delay)
    if (delay.toldAt > 0 || delay.maxMs < toldMs) return
    delay.toldAt = Date.now()
    this.#tell('recording.diskLate', node, ms)
  }

  /** Largest delay now, in milliseconds; 0: all disks keep up. */
  get ms(): number {
    return Math.max(0, ...Array.from(this.#nodes.values(), ({ ms }) => ms))
  }

  /** Largest delay since a disk became late, with the moment at which that was told; undefined: all keep up. */
  get told(): { maxMs: number; since: number } | undefined {
    const told = [...this.#nodes.values()].filter(({ toldAt }) => toldAt > 0)
    if (told.length === 0) return undefined
    return {
      maxMs: Math.max(...told.map(({ maxMs }) => maxMs)),
      since: Math.min(...told.map(({ toldAt }) => toldAt)),
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

/** Seconds for people, rounded up to a tenth. */
export function seconds(ms: number): number {
  return Math.ceil(ms / 100) / 10
}
