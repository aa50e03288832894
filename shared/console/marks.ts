import { z } from 'zod'
import { type EventEntry, eventEntry, eventFilter, eventLevels, logVerdict } from '../domain/events.ts'
import { figureSpans, type FigureSpan } from './figures.ts'
import { read } from './declare.ts'
import { moment, emptyOutcome } from '../domain/outcome.ts'
import { operator, viewer } from './procedure-access.ts'

/** Kinds of marks on the overview's charts, in display order. */
export const markKinds = ['node', 'controller', 'camera', 'settings', 'backup'] as const
export type MarkKind = (typeof markKinds)[number]

const kindOfEvent: Readonly<Record<string, MarkKind>> = {
  'node.online': 'node',
  'node.offline': 'node',
  'node.crashed': 'node',
  'controller.started': 'controller',
  'controller.restarted': 'controller',
  'leader.changed': 'controller',
  'controller.gone': 'controller',
  'device.lost': 'camera',
  'device.failed': 'camera',
}

/** Returns the kind of mark for an event; undefined: the event has no mark. */
export function markKindOf({ kind, params }: Pick<EventEntry, 'kind' | 'params'>): MarkKind | undefined {
  if (kind === 'log.gathered') return kindOfEvent[String(params.kind)]
  if (kind !== 'site.changed') return kindOfEvent[kind]
  const procedureName = String(params.procedure)
  if (procedureName === 'settings.set') return 'settings'
  return procedureName.startsWith('backups.') ? 'backup' : undefined
}

/** Returns the number of events that an entry represents. */
export function markedEvents({ kind, params }: Pick<EventEntry, 'kind' | 'params'>): number {
  return kind === 'log.gathered' && typeof params.count === 'number' ? params.count : 1
}

/** Maximum duration of one mark for each span, in milliseconds. Events within this duration share a mark. */
export const markSteps = {
  '15m': 60_000,
  '1h': 120_000,
  '24h': 1_800_000,
  '30d': 43_200_000,
} as const satisfies Record<FigureSpan, number>

/** Fields of an event needed for its sentence. */
const markedEvent = eventEntry.pick({
  seq: true,
  at: true,
  kind: true,
  level: true,
  subject: true,
  params: true,
  before: true,
  after: true,
  room: true,
})
export type MarkedEvent = z.output<typeof markedEvent>

/** Maximum number of events returned per mark. */
export const maxMarkedEvents = 3

const eventMark = z.strictObject({
  /** Time of the mark's only event, otherwise the middle of its step. */
  at: moment,
  from: moment,
  /** Highest level of the mark's events. */
  level: z.enum(eventLevels),
  count: z.int(),
  /** Number of events by kind. */
  kinds: z.array(z.strictObject({ kind: z.enum(markKinds), count: z.int() })),
  /** Most severe events of the mark, newest first; may be empty for old marks. */
  events: z.array(markedEvent),
})
export type EventMark = z.output<typeof eventMark>

const spans = Object.keys(figureSpans) as [FigureSpan, ...FigureSpan[]]

export const eventProcedures = {
  'events.list': read({
    summary:
      'What happened at the site, newest first. A search looks at a bounded part of the log at once: `next` says where to go on.',
    input: eventFilter.extend({ before: z.int().optional(), limit: z.int().min(1).max(500).default(200) }),
    output: z.strictObject({
      items: z.array(eventEntry),
      /** Value of `before` for the next page; 0: no older entries exist. */
      next: z.int(),
      kept: z.int(),
      /** seq of the newest stored entry; 0: none. */
      newest: z.int(),
      /** Time of the oldest entry; 0: none. */
      since: moment,
      /** Number of entries lost since the start due to disk failures. */
      lost: z.int(),
    }),
    access: viewer('events:read'),
    refreshOn: ['events.added'],
  }),
  'events.verify': read({
    summary: 'Verify that no entry of the log was changed or removed.',
    input: emptyOutcome,
    output: logVerdict,
    access: operator('events:read'),
  }),
  'events.marks': read({
    summary:
      'Events that explain the charts, grouped by time: nodes, controllers, camera trouble, settings, backups. Answers from an index.',
    input: z.strictObject({ span: z.enum(spans).default('24h') }),
    output: z.strictObject({
      items: z.array(eventMark),
      /** Duration of a mark, in milliseconds. */
      step_ms: z.int(),
      /** Whether the index is complete; false: it is still being built from the log. */
      complete: z.boolean(),
    }),
    access: viewer('events:read'),
    refreshOn: ['events.added'],
  }),
}
