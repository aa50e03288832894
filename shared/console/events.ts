import { z } from 'zod'
import { moment, nothing, procedure } from './procedure.ts'

/** Kinds of events, by group: the console filters by groups, and words each kind in its language. */
const eventGroups = {
  /** The controller itself, its disk and this log. */
  system: [
    'controller.started',
    'controller.stopped',
    'controller.restarted',
    'store.noticed',
    'log.gap',
    'log.gathered',
    'log.recovered',
    'log.begun',
  ],
  listeners: ['listener.up', 'listener.down', 'listener.failed'],
  /** The controllers of a site with a database, and that. */
  controllers: ['leader.changed', 'controller.appeared', 'controller.gone', 'database.away', 'database.back'],
  nodes: ['node.online', 'node.offline', 'node.crashed', 'node.removed', 'node.drifted'],
  devices: ['device.added', 'device.joined', 'device.lost', 'device.failed', 'device.paused', 'device.deleted'],
  people: ['person.joined', 'person.left', 'person.removed', 'person.letIn', 'person.turnedAway'],
  rooms: [
    'room.created',
    'room.changed',
    'room.deleted',
    'room.moved',
    'room.locked',
    'room.unlocked',
    'room.mutedAll',
    'room.meetingEnded',
  ],
  access: ['signIn.accepted', 'signIn.refused', 'guesses.refused', 'secret.shown', 'meeting.watched'],
  /** Acts of an operator or a site file. */
  changes: ['site.changed'],
  lab: ['lab.faultEnded'],
} as const
export type EventGroup = keyof typeof eventGroups
export type EventKind = (typeof eventGroups)[EventGroup][number]
export const eventGroupNames = Object.keys(eventGroups) as [EventGroup, ...EventGroup[]]
const eventKinds = Object.values(eventGroups).flat() as [EventKind, ...EventKind[]]

export const eventLevels = ['info', 'warning', 'error'] as const
export type EventLevel = (typeof eventLevels)[number]

/** The one who acted. */
const eventActor = z.strictObject({
  type: z.enum(['operator', 'siteFile', 'client', 'host', 'system']),
  /** Host: the name in the room. Operator: the account, or how they proved who they are (`console key`, `desktop`). Client: its access_key. Site file: its path. */
  name: z.string(),
  /** Network address; empty where there is none. */
  address: z.string(),
})
export type EventActor = z.output<typeof eventActor>

export const subjectTypes = [
  'room',
  'device',
  'node',
  'controller',
  'person',
  'listener',
  'credential',
  'account',
  'settings',
  'licence',
  'backup',
  'wall',
  'lab',
  'site',
] as const
export type SubjectType = (typeof subjectTypes)[number]

/** The thing or person that something happened to. */
const eventSubject = z.strictObject({ type: z.enum(subjectTypes), id: z.string(), name: z.string() })
export type EventSubject = z.output<typeof eventSubject>

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
/** Values by the path of their field, e.g. `listeners.media_port`; without secrets. */
const fields = z.record(z.string(), scalar)
export type EventFields = z.output<typeof fields>

/** One thing that happened. Each holds the hash of the one before it. */
export const eventEntry = z.strictObject({
  /** Rises by one. */
  seq: z.int(),
  at: moment,
  kind: z.enum(eventKinds),
  level: z.enum(eventLevels),
  actor: eventActor,
  subject: eventSubject,
  /** Values for the sentence of the kind. */
  params: fields,
  /** Values before a change; a new one is missing. */
  before: fields.optional(),
  /** Values after a change; a removed one is missing. */
  after: fields.optional(),
  /** The room, for what happened to a person or a device in it; empty for everything else. */
  room: z.string(),
  /** SHA-256 of the entry before, base64url. */
  prev: z.string(),
  /** SHA-256 of this entry, base64url. */
  hash: z.string(),
})
export type EventEntry = z.output<typeof eventEntry>

const filter = z.strictObject({
  /** Groups; none: all. */
  groups: z.array(z.enum(eventGroupNames)).max(eventGroupNames.length).default([]),
  /** This level and worse. */
  level: z.enum(eventLevels).default('info'),
  subject: z.strictObject({ type: z.enum(subjectTypes), id: z.string().min(1).max(256) }).optional(),
  /** Name or address of who did it. */
  actor: z.string().max(256).optional(),
  /** In any text of the entry. */
  text: z.string().max(200).default(''),
  from: moment.optional(),
  to: moment.optional(),
})
/** Which entries are wanted; what is left out is not asked for. */
export type EventFilter = z.input<typeof filter>

/** Groups, as they are written into an entry: the kinds of them; undefined for every kind. */
function kindsOf(groups: readonly EventGroup[] = []): ReadonlySet<string> | undefined {
  return groups.length === 0 ? undefined : new Set(groups.flatMap((group) => [...eventGroups[group]]))
}

/** The test of a filter: the controller and the console's page judge alike. */
export function eventMatcher(wanted: EventFilter): (entry: EventEntry) => boolean {
  const { subject, actor, from = 0, to = Number.POSITIVE_INFINITY, level = 'info' } = wanted
  const kinds = kindsOf(wanted.groups)
  const least = eventLevels.indexOf(level)
  const text = wanted.text?.trim().toLowerCase() ?? ''
  return (entry) =>
    entry.at >= from &&
    entry.at <= to &&
    (kinds === undefined || kinds.has(entry.kind)) &&
    eventLevels.indexOf(entry.level) >= least &&
    (subject === undefined || concerns(entry, subject)) &&
    (actor === undefined || entry.actor.name === actor || entry.actor.address === actor) &&
    (text === '' || textOf(entry).includes(text))
}

/** An event of somebody in a room is one of the room, too. */
function concerns(entry: EventEntry, { type, id }: { type: SubjectType; id: string }): boolean {
  return (entry.subject.type === type && entry.subject.id === id) || (type === 'room' && entry.room === id)
}

/** Everything of an entry that a search looks at: its texts, not the names of its fields. */
function textOf({ kind, actor, subject, room, params, before = {}, after = {} }: EventEntry): string {
  const values = [params, before, after].flatMap((each) => [...Object.keys(each), ...Object.values(each).map(String)])
  return [kind, actor.name, actor.address, subject.id, subject.name, room, ...values].join('\n').toLowerCase()
}

/** Faults of the log. */
const logFaults = [
  'headMissing',
  'headForged',
  'segmentMissing',
  'changed',
  'missing',
  'cutOff',
  'shortened',
  'unreadable',
] as const
export type LogFault = (typeof logFaults)[number]

/** Whether the log is as it was written. */
const logVerdict = z.strictObject({
  ok: z.boolean(),
  /** Entries that were looked at. */
  entries: z.int(),
  /** seq of the first entry kept; 0 when there is none. */
  oldest: z.int(),
  newest: z.int(),
  /** Entries at the end that were written after the seal was last renewed: what a crash leaves. Their chain is whole. */
  unsealed: z.int(),
  /** The first fault; null when ok. */
  fault: z.enum(logFaults).nullable(),
  /** seq of the first bad entry; 0 when there is none. */
  first_bad: z.int(),
  /** File it is in, without folder. */
  file: z.string(),
  milliseconds: z.number(),
})
export type LogVerdict = z.output<typeof logVerdict>

export const eventProcedures = {
  'events.list': procedure(
    'What happened at the site, newest first. A search looks at a bounded part of the log at once: `next` says where to go on.',
    filter.extend({ before: z.int().optional(), limit: z.int().min(1).max(500).default(200) }),
    z.strictObject({
      items: z.array(eventEntry),
      /** Give it as `before` to go on; 0 when the log has no older entry. */
      next: z.int(),
      /** Entries kept. */
      kept: z.int(),
      /** When the oldest entry was made; 0 when there is none. */
      since: moment,
      /** Entries that could not be kept since the start, because the disk refused them. */
      lost: z.int(),
    }),
  ),
  'events.verify': procedure('Verify that no entry of the log was changed or removed.', nothing, logVerdict),
}
