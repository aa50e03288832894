import { z } from 'zod'
import { eventActor } from './event-actor.ts'
import { moment } from './outcome.ts'

/** Kinds of events by group. The console filters by group, and has a text for each kind in every language. */
export const eventGroups = {
  /** Events of the controller itself, its disk and this log. */
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
  /** Events of the controllers of a site with a database, and of the database. */
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

/** Subject of an event: the object or person that the event is about. */
const eventSubject = z.strictObject({ type: z.enum(subjectTypes), id: z.string(), name: z.string() })
export type EventSubject = z.output<typeof eventSubject>

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
/** Values by the path of their field, e.g. `listeners.media_port`; they contain no secrets. */
const fields = z.record(z.string(), scalar)
export type EventFields = z.output<typeof fields>

/** Event. Each event contains the hash of its predecessor. */
export const eventEntry = z.strictObject({
  /** Sequence number; increases by one. */
  seq: z.int(),
  at: moment,
  kind: z.enum(eventKinds),
  level: z.enum(eventLevels),
  actor: eventActor,
  subject: eventSubject,
  /** Values for the event's sentence. */
  params: fields,
  /** Values before a change; without values that did not exist. undefined: no change of values. */
  before: fields.optional(),
  /** Values after a change; without values that were removed. undefined: no change of values. */
  after: fields.optional(),
  /** Room, for an event about a user or a device in a room; empty: other events. */
  room: z.string(),
  /**
   * Controller that recorded the event, and the event's number in that controller's log; undefined: the site is in
   * files, and has only one controller.
   */
  controller: z.strictObject({ id: z.string(), name: z.string(), seq: z.int() }).optional(),
  /** Id of an event that was stored together with its change; undefined: other events. */
  change: z.string().optional(),
  /** SHA-256 of the previous entry, base64url. */
  prev: z.string(),
  /** SHA-256 of this entry, base64url. */
  hash: z.string(),
})
export type EventEntry = z.output<typeof eventEntry>

/** Maximum number of words of one search. */
export const maxSearchedWords = 24

/** Word of a search in the reader's language. An entry matches if it fulfills any of these fields. */
const searchedWord = z.strictObject({
  /** Text in a value of the entry, folded with `foldedText`. */
  text: z.string().min(1).max(200),
  /** Names of sentences whose text in the reader's language contains the word. */
  sentences: z.array(z.string().max(80)).max(400).default([]),
  /** Types and names of subjects and actors whose text in the reader's language contains the word. */
  names: z.array(z.string().max(80)).max(100).default([]),
})

/** Words to search for in the text of events as shown in the reader's language; all must match. */
export const eventWords = z.array(searchedWord).max(maxSearchedWords).optional()

export const eventFilter = z.strictObject({
  /** Groups to return; empty: all. */
  groups: z.array(z.enum(eventGroupNames)).max(eventGroupNames.length).default([]),
  level: z.enum(eventLevels).default('info'),
  subject: z.strictObject({ type: z.enum(subjectTypes), id: z.string().min(1).max(256) }).optional(),
  /** Name or address of the actor; undefined: any. */
  actor: z.string().max(256).optional(),
  /** Kinds to return; undefined: all kinds of the groups. */
  kinds: z.array(z.enum(eventKinds)).max(eventKinds.length).optional(),
  /** Text that any field of the entry must contain. */
  text: z.string().max(200).default(''),
  words: eventWords,
  from: moment.optional(),
  to: moment.optional(),
})
/** Filter of entries; absent fields match all entries. */
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
  /**
   * Number of entries at the end that were written after the last seal, e.g. due to a crash. Their hash chain is
   * intact.
   */
  unsealed: z.int(),
  /** First fault; null: none. */
  fault: z.enum(logFaults).nullable(),
  /** seq of the first invalid entry; 0: none. */
  first_bad: z.int(),
  /** Name of the file with the first invalid entry, without folder; empty: none. */
  file: z.string(),
  milliseconds: z.number(),
})
export type LogVerdict = z.output<typeof logVerdict>
