import { type EventEntry, type EventLevel, eventLevels } from '../../shared/domain/events.ts'
import { figureSpans, type FigureSpan } from '../../shared/console/figures.ts'
import {
  type EventMark,
  type MarkedEvent,
  markedEvents,
  type MarkKind,
  markKindOf,
  markKinds,
  markSteps,
  maxMarkedEvents,
} from '../../shared/console/marks.ts'
import type { SharedEventLog } from './event-log.ts'
import { entryPages } from './read-log.ts'

const minuteMs = 60_000
const keptMinutes = figureSpans['30d'].length / minuteMs
/** Number of the newest minutes whose events are kept in full; events of older minutes are only counted. */
const maxSentMinutes = 2_000
/** Number of entries per query while the index is built: each query reads a bounded part of the log. */
const queryLength = 10_000
const groups = ['system', 'controllers', 'nodes', 'devices', 'changes'] as const

interface Minute {
  counts: Map<MarkKind, number>
  level: EventLevel
  events: MarkedEvent[]
}

/**
 * Index of the events that are marked on charts, by minute, for 30 days. It is built in the background from the log at
 * its first use. Entries written since the start are added by a listener. A query iterates over minutes with events,
 * not over the log.
 */
export class EventMarks {
  readonly #log: Pick<SharedEventLog, 'query' | 'onAdded'>
  readonly #clock: () => number
  readonly #minutes = new Map<number, Minute>()
  /** Number of the first entry that the listener added. */
  #firstAdded = Number.MAX_SAFE_INTEGER
  #building: Promise<void> | undefined
  #complete = false
  #prunedAt: number

  constructor(log: Pick<SharedEventLog, 'query' | 'onAdded'>, clock: () => number = Date.now) {
    this.#log = log
    this.#clock = clock
    this.#prunedAt = this.#minute(clock())
    log.onAdded((entries) => {
      for (const entry of entries) {
        this.#firstAdded = Math.min(this.#firstAdded, entry.seq)
        this.#add(entry)
      }
      this.#prune()
    })
  }

  /**
   * Returns the marks of a span up to now, oldest first.
   * @param waitMs maximum wait for the index, in milliseconds
   * @throws errors of the log
   */
  async view(span: FigureSpan, waitMs = 1_000): Promise<{ items: EventMark[]; step_ms: number; complete: boolean }> {
    if (!this.#complete) {
      this.#building ??= this.#build().finally(() => {
        this.#building = undefined
      })
      const wait = Promise.withResolvers<void>()
      const timer = setTimeout(wait.resolve, waitMs)
      await Promise.race([this.#building, wait.promise]).finally(() => clearTimeout(timer))
    }
    const step = markSteps[span]
    return {
      items: this.#grouped(this.#clock() - figureSpans[span].length, step),
      step_ms: step,
      complete: this.#complete,
    }
  }

  async #build(): Promise<void> {
    const from = this.#clock() - figureSpans['30d'].length
    for await (const items of entryPages(this.#log, { groups: [...groups], from }, queryLength))
      for (const entry of items) if (entry.seq < this.#firstAdded) this.#add(entry)
    this.#complete = true
    this.#prune(true)
  }

  #minute(at: number): number {
    return Math.floor(at / minuteMs)
  }

  #add(entry: EventEntry): void {
    const kind = markKindOf(entry)
    if (kind === undefined) return
    const key = this.#minute(entry.at)
    const minute: Minute = this.#minutes.get(key) ?? { counts: new Map(), level: 'info', events: [] }
    this.#minutes.set(key, minute)
    minute.counts.set(kind, (minute.counts.get(kind) ?? 0) + markedEvents(entry))
    if (rank(entry.level) > rank(minute.level)) minute.level = entry.level
    minute.events = worstEvents([...minute.events, markedEvent(entry)])
  }

  /** Removes old events: every hour, and after the index was built. */
  #prune(now = false): void {
    const minute = this.#minute(this.#clock())
    if (!now && minute - this.#prunedAt < 60) return
    this.#prunedAt = minute
    const newestFirst = [...this.#minutes].sort(([one], [other]) => other - one)
    for (const [index, [key, { counts, level }]] of newestFirst.entries()) {
      if (minute - key > keptMinutes) this.#minutes.delete(key)
      else if (index >= maxSentMinutes) this.#minutes.set(key, { counts, level, events: [] })
    }
  }

  #grouped(from: number, step: number): EventMark[] {
    const groups = new Map<number, Minute[]>()
    for (const [key, minute] of this.#minutes) {
      const at = key * minuteMs
      if (at + minuteMs <= from) continue
      const group = Math.floor(at / step) * step
      const members = groups.get(group)
      if (members === undefined) groups.set(group, [minute])
      else members.push(minute)
    }
    const marks = [...groups].map(([start, minutes]) => this.#mark(start, step, minutes))
    return marks.sort((one, other) => one.from - other.from)
  }

  #mark(from: number, step: number, minutes: readonly Minute[]): EventMark {
    const kinds = markKinds.flatMap((kind) => {
      const count = minutes.reduce((sum, { counts }) => sum + (counts.get(kind) ?? 0), 0)
      return count === 0 ? [] : [{ kind, count }]
    })
    const count = kinds.reduce((sum, one) => sum + one.count, 0)
    const events = worstEvents(minutes.flatMap((minute) => minute.events))
    const level = eventLevels[Math.max(...minutes.map((minute) => rank(minute.level)))] ?? 'info'
    const only = count === 1 ? events[0] : undefined
    return { at: only?.at ?? Math.min(from + step / 2, this.#clock()), from, level, count, kinds, events }
  }
}

const rank = (level: EventLevel): number => eventLevels.indexOf(level)

function markedEvent({ seq, at, kind, level, subject, params, before, after, room }: EventEntry): MarkedEvent {
  return { seq, at, kind, level, subject, params, ...(before && { before }), ...(after && { after }), room }
}

function worstEvents(events: readonly MarkedEvent[]): MarkedEvent[] {
  return events
    .toSorted((one, other) => rank(other.level) - rank(one.level) || other.seq - one.seq)
    .slice(0, maxMarkedEvents)
}
