import type { SubjectType } from '../../shared/domain/events.ts'
import type { EventDraft, EventSink } from './event-log.ts'

/**
 * Limit per kind within a second, for all subjects together: a client that creates a thousand rooms per second must not
 * cause a thousand entries.
 */
const ofKind = { maxEntries: 200, windowMs: 1_000 }
/** Limit per kind and subject: a camera that reconnects all day must not displace other entries. */
const ofSubject = { maxEntries: 20, windowMs: 10 * 60_000 }

/** A sink that limits floods of events. */
export interface GatedSink extends EventSink {
  /**
   * Counts an event that the caller writes itself.
   * @returns the event; undefined: the event is part of a flood, and only counted
   */
  passing<D extends EventDraft>(kind: D['kind'], make: () => D): D | undefined
  /** Whether a flood of this kind is in progress, so that the next event would only be counted. */
  isFlooded(kind: EventDraft['kind']): boolean
}

type GatheredKey = [kind: string, type: SubjectType, id: string, name: string, who: string, address: string]

const site = { type: 'site', id: '', name: '' } as const

/** Writes events, and combines a flood of events into one entry with a count. Changes by operators bypass this sink. */
export class GatheringSink implements GatedSink {
  readonly #sink: EventSink
  readonly #kinds: FloodGate
  readonly #subjects: FloodGate

  constructor(sink: EventSink) {
    this.#sink = sink
    this.#kinds = new FloodGate({
      ...ofKind,
      gathered: (kind, count) =>
        sink.append({ kind: 'log.gathered', subject: site, params: { kind, count, seconds: ofKind.windowMs / 1_000 } }),
    })
    this.#subjects = new FloodGate({
      ...ofSubject,
      gathered: (key, count) => {
        const [kind, type, id, name, who, address] = JSON.parse(key) as GatheredKey
        const by = who === '' ? address : who
        const params = { kind, count, seconds: ofSubject.windowMs / 1_000, ...(by === '' ? {} : { by }) }
        sink.append({ kind: 'log.gathered', subject: { type, id, name }, params })
      },
    })
  }

  append(draft: EventDraft): void {
    if (this.passing(draft.kind, () => draft) !== undefined) this.#sink.append(draft)
  }

  passing<D extends EventDraft>(kind: D['kind'], make: () => D): D | undefined {
    if (!this.#kinds.passes(kind)) return undefined
    const draft = make()
    const { subject, actor } = draft
    const key = [kind, subject.type, subject.id, subject.name, actor?.name ?? '', actor?.address ?? '']
    return this.#subjects.passes(JSON.stringify(key)) ? draft : undefined
  }

  isFlooded(kind: EventDraft['kind']): boolean {
    return this.#kinds.isFull(kind)
  }

  /** Writes the counts of floods in progress. */
  close(): void {
    this.#kinds.close()
    this.#subjects.close()
  }
}

/** Limits per key: `maxEntries` events pass within `windowMs` milliseconds, further events are only counted. */
interface FloodLimits {
  maxEntries: number
  windowMs: number
  /** Called at the end of a window with the number of events that did not pass. */
  gathered: (key: string, count: number) => void
}

/** Maximum number of keys tracked at once; events of further keys all pass. */
const maxKeys = 10_000

interface Window {
  until: number
  passed: number
  held: number
}

/**
 * Passes the first events of a key in each window and counts the rest, so that a flood displaces no other entries.
 * O(1).
 */
class FloodGate {
  readonly #limits: FloodLimits
  readonly #windows = new Map<string, Window>()
  #timer: NodeJS.Timeout | undefined

  constructor(limits: FloodLimits) {
    this.#limits = limits
  }

  /** Counts an event, and returns whether it passes. */
  passes(key: string): boolean {
    const now = performance.now()
    let window = this.#windows.get(key)
    if (window === undefined || window.until <= now) {
      if (window !== undefined) this.#end(key, window)
      if (this.#windows.size >= maxKeys) return true
      window = { until: now + this.#limits.windowMs, passed: 0, held: 0 }
      this.#windows.set(key, window)
      this.#timer ??= setInterval(() => this.#sweep(), Math.min(this.#limits.windowMs, 60_000)).unref()
    }
    if (window.passed < this.#limits.maxEntries) {
      window.passed++
      return true
    }
    window.held++
    return false
  }

  /** Whether an event of this key would only be counted. Does not count it. */
  isFull(key: string): boolean {
    const window = this.#windows.get(key)
    return window !== undefined && window.passed >= this.#limits.maxEntries && window.until > performance.now()
  }

  /** Reports the counts, and stops. */
  close(): void {
    for (const [key, window] of this.#windows) this.#end(key, window)
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #sweep(): void {
    const now = performance.now()
    for (const [key, window] of this.#windows) if (window.until <= now) this.#end(key, window)
    if (this.#windows.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #end(key: string, window: Window): void {
    this.#windows.delete(key)
    if (window.held > 0) this.#limits.gathered(key, window.held)
  }
}
