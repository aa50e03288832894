import type { SubjectType } from '../../shared/console/events.ts'
import type { EventDraft, EventSink } from './event-log.ts'
import { FloodGate } from './flood-gate.ts'

/** Limit for one kind within a second, all subjects together: a client that makes a thousand rooms a second leaves a trace, and not a thousand. */
const ofKind = { most: 200, windowMs: 1_000 }
/** Limit for one kind and subject: a camera that reconnects all day does not push other entries out. */
const ofSubject = { most: 20, windowMs: 10 * 60_000 }

/** A sink that limits floods. */
export interface GatedSink extends EventSink {
  /** Counts an event that is written another way. @returns undefined: it is one of a flood, and is only counted */
  passing<D extends EventDraft>(kind: D['kind'], make: () => D): D | undefined
  /** Whether events of a kind come in a flood now, of which the next one would only be counted. */
  isFlooded(kind: EventDraft['kind']): boolean
}

type GatheredKey = [kind: string, type: SubjectType, id: string, name: string, who: string, address: string]

const site = { type: 'site', id: '', name: '' } as const

/** Writes what happens by itself or by clients; what comes in floods is gathered into one entry with a number. What operators do is never gathered. */
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

  /** Writes what is gathered. */
  close(): void {
    this.#kinds.close()
    this.#subjects.close()
  }
}
