import { z } from 'zod'
import { eventActor } from './event-actor.ts'
import { moment } from './outcome.ts'

/** Kinds of events, by group: the console filters by groups, and has a text for each kind in every language. */
export const eventGroups = {
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
  /** Controllers of a site with a database, and the database. */
  controllers: ['leader.changed', 'controller.appeared', 'controller.gone', 'database.away', 'database.back'],
  nodes: ['node.online', 'node.offline', 'node.crashed', 'node.removed', 'node.drifted'],
  devices: [
    'device.added',
    'device.joined',
    'device.lost',
    'device.failed',
    'device.short',
    'device.paused',
    'device.deleted',
  ],
  people: [
    'person.joined',
    'person.left',
    'person.short',
    'person.removed',
    'person.waits',
    'person.letIn',
    'person.turnedAway',
  ],
  rooms: [
    'room.created',
    'room.changed',
    'room.deleted',
    'room.moved',
    'room.locked',
    'room.unlocked',
    'room.mutedAll',
    'room.invited',
    'room.meetingEnded',
    'room.openedBySchedule',
    'room.closedBySchedule',
    'room.recordingFailed',
  ],
  recordings: [
    'recording.started',
    'recording.stopped',
    'recording.watched',
    'recording.exported',
    'recording.exportFailed',
    'recording.ordered',
    'recording.orderEnded',
    'recording.orderDeleted',
    'live.ordered',
    'live.ended',
    'live.deleted',
    'recording.deleted',
    'recording.storageLow',
    'recording.storageBack',
    'recording.repaired',
    'recording.filesMissing',
    'recording.folderFailed',
    'recording.objectsFailed',
    'recording.objectsBack',
    'recording.notUploaded',
    'recording.diskLate',
    'recording.diskBack',
  ],
  access: [
    'signIn.accepted',
    'signIn.refused',
    'guesses.refused',
    'secret.shown',
    'meeting.watched',
    'link.made',
    'link.used',
  ],
  /** Changes made by an operator or by applying a site file. */
  changes: ['site.changed'],
  lab: ['lab.faultEnded'],
} as const
export type EventGroup = keyof typeof eventGroups
export type EventKind = (typeof eventGroups)[EventGroup][number]
export const eventGroupNames = Object.keys(eventGroups) as [EventGroup, ...EventGroup[]]
export const eventKinds = Object.values(eventGroups).flat() as [EventKind, ...EventKind[]]

export const eventLevels = ['info', 'warning', 'error'] as const
export type EventLevel = (typeof eventLevels)[number]

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
  'template',
  'recording',
  'lab',
  'site',
] as const
export type SubjectType = (typeof subjectTypes)[number]

/** Subject of an event: an object or a person. */
const eventSubject = z.strictObject({ type: z.enum(subjectTypes), id: z.string(), name: z.string() })
export type EventSubject = z.output<typeof eventSubject>

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
/** Values by the path of their field, e.g. `listeners.media_port`; without secrets. */
const fields = z.record(z.string(), scalar)
export type EventFields = z.output<typeof fields>

/** Event. Each contains the hash of its predecessor. */
export const eventEntry = z.strictObject({
  /** Increases by one. */
  seq: z.int(),
  at: moment,
  kind: z.enum(eventKinds),
  level: z.enum(eventLevels),
  actor: eventActor,
  subject: eventSubject,
  /** Values for the sentence of its kind. */
  params: fields,
  /** Values before a change; absent if the value is new. */
  before: fields.optional(),
  /** Values after a change; absent if the value was removed. */
  after: fields.optional(),
  /** Room of an event about a user or a device in it; empty for all others. */
  room: z.string(),
  /**
   * Controller that observed it, and the entry's number in its own log; undefined on a site in files, which has one
   * controller.
   */
  controller: z.strictObject({ id: z.string(), name: z.string(), seq: z.int() }).optional(),
  /** Id of an event that was stored together with its change; undefined otherwise. */
  change: z.string().optional(),
  /** SHA-256 of the previous entry, base64url. */
  prev: z.string(),
  /** SHA-256 of this entry, base64url. */
  hash: z.string(),
})
export type EventEntry = z.output<typeof eventEntry>

/** Maximum number of words of one search. */
export const maxSearchedWords = 24

/** Word of a search in the reader's language. It matches an entry that contains any of the following. */
const searchedWord = z.strictObject({
  /** Text in a value of the entry, folded with `foldedText`. */
  text: z.string().min(1).max(200),
  /** Names of sentences whose text in the reader's language contains the word. */
  sentences: z.array(z.string().max(80)).max(400).default([]),
  /** Types and names of subjects and actors whose text in the reader's language contains the word. */
  names: z.array(z.string().max(80)).max(100).default([]),
})

/** Words of the sentences as a page shows them; all must match. */
export const eventWords = z.array(searchedWord).max(maxSearchedWords).optional()

export const eventFilter = z.strictObject({
  /** Groups; empty: all. */
  groups: z.array(z.enum(eventGroupNames)).max(eventGroupNames.length).default([]),
  level: z.enum(eventLevels).default('info'),
  subject: z.strictObject({ type: z.enum(subjectTypes), id: z.string().min(1).max(256) }).optional(),
  /** Name or address of the actor. */
  actor: z.string().max(256).optional(),
  /** Kinds; undefined: all kinds of the groups. */
  kinds: z.array(z.enum(eventKinds)).max(eventKinds.length).optional(),
  /** Text in any field of the entry. */
  text: z.string().max(200).default(''),
  words: eventWords,
  from: moment.optional(),
  to: moment.optional(),
})
/** Filter of entries; absent fields match everything. */
export type EventFilter = z.input<typeof eventFilter>

export const logFaults = [
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

/** Result of a verification of the log. */
export const logVerdict = z.strictObject({
  ok: z.boolean(),
  entries: z.int(),
  /** seq of the first stored entry; 0: none. */
  oldest: z.int(),
  newest: z.int(),
  /** Number of entries at the end written after the last seal, as after a crash. Their chain is intact. */
  unsealed: z.int(),
  /** The first fault; null if ok. */
  fault: z.enum(logFaults).nullable(),
  /** seq of the first bad entry; 0: none. */
  first_bad: z.int(),
  /** File of the first bad entry, without folder. */
  file: z.string(),
  milliseconds: z.number(),
})
export type LogVerdict = z.output<typeof logVerdict>
