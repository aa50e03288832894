import { z } from 'zod'
import type { Licence } from '../licence.ts'
import type { SettingsPatch } from '../settings.ts'
import { accountProcedures } from './accounts.ts'
import { activityEntry, activityProcedures } from './activity.ts'
import { backupProcedures } from './backups.ts'
import { capabilityProcedures } from './capabilities.ts'
import { clientProcedures } from './clients.ts'
import { controllerProcedures, controllersView } from './controllers.ts'
import { credentialProcedures, credentialView } from './credentials.ts'
import { deviceProcedures } from './devices.ts'
import { diagnosticsProcedures } from './diagnostics.ts'
import { eventEntry } from '../domain/events.ts'
import type { EventName } from './event-names.ts'
import { firstRunProcedures } from './first-run.ts'
import { labProcedures } from './lab.ts'
import { eventProcedures } from './marks.ts'
import { mediaProcedures } from './media.ts'
import { nodeProcedures } from './nodes.ts'
import type { RecordField } from '../domain/record-fields.ts'
import { recordingProcedures, recordingsChanged } from './recordings.ts'
import { recordingExportProcedures } from './recording-exports.ts'
import { orderProcedures } from './orders.ts'
import type { AnyProcedure } from './declare.ts'
import { phoneArrival, readinessProcedures } from './readiness.ts'
import { relayProcedures } from './relays.ts'
import { roomProcedures } from './rooms.ts'
import { scenarioProcedures } from './scenarios.ts'
import { searchProcedures } from './search.ts'
import { attention, sample, siteProcedures, storeNotice } from './site.ts'
import { testerProcedures } from './tester.ts'
import { waitingProcedures } from './waiting.ts'
import { templateProcedures } from './templates.ts'
import { wallBrought, wallProcedures, wallView } from './wall.ts'
import { trashProcedures } from './trash.ts'
import { waitingView } from '../domain/waiting.ts'
import { deviceView } from '../domain/devices.ts'
import { nodeView } from '../domain/nodes.ts'

/** All procedures of the console, by name. They are available over IPC, WebSocket and `/rpc`. */
export const procedures = {
  ...siteProcedures,
  ...backupProcedures,
  ...firstRunProcedures,
  ...accountProcedures,
  ...credentialProcedures,
  ...roomProcedures,
  ...waitingProcedures,
  ...nodeProcedures,
  ...controllerProcedures,
  ...relayProcedures,
  ...readinessProcedures,
  ...diagnosticsProcedures,
  ...deviceProcedures,
  ...mediaProcedures,
  ...recordingProcedures,
  ...recordingExportProcedures,
  ...orderProcedures,
  ...capabilityProcedures,
  ...templateProcedures,
  ...wallProcedures,
  ...searchProcedures,
  ...trashProcedures,
  ...activityProcedures,
  ...eventProcedures,
  ...testerProcedures,
  ...labProcedures,
  ...clientProcedures,
  ...scenarioProcedures,
}

export type ProcedureName = keyof typeof procedures
/** Input that a caller sends, to which defaults have not been applied. */
export type ProcedureInput<N extends ProcedureName> = z.input<(typeof procedures)[N]['input']>
/** Input that a handler receives, with defaults applied. */
export type ProcedureParsed<N extends ProcedureName> = z.output<(typeof procedures)[N]['input']>
export type ProcedureOutput<N extends ProcedureName> = z.output<(typeof procedures)[N]['output']>

type Procedures = typeof procedures

/**
 * Names of the procedures that edit a record. Does not compile if a procedure that looks like an edit declares neither
 * `edits` nor `noEdit`.
 */
export type EditProcedure = Exclude<
  { [N in ProcedureName]: Procedures[N] extends { edits?: (...input: never[]) => unknown } ? N : never }[ProcedureName],
  None<UndeclaredEdit>
>

/**
 * Names of the procedures that write a `site.changed` event. All other procedures write an event of another kind, or
 * none.
 */
export type RecordedProcedure = {
  [N in ProcedureName]: Procedures[N] extends { event: infer E }
    ? E extends { recordedAs: unknown } | { unrecorded: unknown } | { kind: unknown } | { acts: unknown }
      ? never
      : N
    : never
}[ProcedureName]

export function isProcedureName(name: string): name is ProcedureName {
  return Object.hasOwn(procedures, name)
}

/** Returns the declaration of a procedure whose name is known only at run time. */
export function declarationOf(name: ProcedureName): AnyProcedure {
  // The functions of a declaration take the input of their own procedure, which a type by name cannot express.
  return procedures[name] as AnyProcedure
}

/**
 * For each prefix of procedure names: the input fields that identify an existing record, and the fields of that record.
 */
interface RecordInputs {
  rooms: { key: 'room_id'; fields: RecordField<'room'> }
  devices: { key: 'userId'; fields: RecordField<'device'> }
  nodes: { key: 'name'; fields: RecordField<'node'> }
  credentials: { key: 'access_key'; fields: RecordField<'credential'> }
  accounts: { key: 'id'; fields: RecordField<'account'> }
  templates: { key: 'id'; fields: RecordField<'template'> }
  wall: { key: 'id'; fields: RecordField<'wall'> }
  licence: { key: keyof Licence; fields: keyof Licence }
  settings: { key: keyof SettingsPatch; fields: keyof SettingsPatch }
  recordings: { key: 'room_id'; fields: 'rule' }
}
type InputFields<I> = I extends unknown ? keyof I : never
/** Names of procedures that store something, and whose input contains the key of a record and one of its fields. */
type LooksLikeEdit = {
  [N in ProcedureName]: N extends `${infer P extends keyof RecordInputs}.${string}`
    ? Procedures[N] extends { effect: 'change' | 'lasting' }
      ? Extract<InputFields<ProcedureInput<N>>, RecordInputs[P]['key']> extends never
        ? never
        : Extract<InputFields<ProcedureInput<N>>, RecordInputs[P]['fields']> extends never
          ? never
          : N
      : never
    : never
}[ProcedureName]
type UndeclaredEdit = {
  [N in LooksLikeEdit]: Procedures[N] extends { edits?: { noEdit: string } | ((...input: never[]) => unknown) }
    ? never
    : N
}[LooksLikeEdit]
type None<T extends never> = T

/** All events of the console, by name. Frequent events are batched and sent at most 4 times per second. */
export const events = {
  /**
   * Rooms that were created, changed, joined, left or deleted. `all`: too many to list, so any room may have changed.
   */
  'rooms.changed': z.strictObject({ room_ids: z.array(z.string()), all: z.boolean() }),
  /** Current list of all people waiting to enter rooms. */
  'waiting.changed': waitingView,
  'credentials.changed': z.strictObject({ items: z.array(credentialView) }),
  'nodes.changed': z.strictObject({ items: z.array(nodeView) }),
  /** Current state of a site's controllers and database. */
  'controllers.changed': controllersView,
  /** Devices that were changed; `removed`: userIds of deleted devices. */
  'devices.changed': z.strictObject({ items: z.array(deviceView), removed: z.array(z.string()) }),
  'recordings.changed': recordingsChanged,
  /** Current saved views of the wall. */
  'wall.changed': z.strictObject({ items: z.array(wallView) }),
  /** A camera or room was brought to the front of walls. */
  'wall.brought': wallBrought,
  /** A link or another capability was created, or has ended. */
  'capabilities.changed': z.strictObject({}),
  /** An object was moved to the trash, restored or deleted permanently. */
  'trash.changed': z.strictObject({}),
  /** Accounts, their sessions or their tokens have changed. */
  'accounts.changed': z.strictObject({}),
  /** A device has opened the page of `readiness.phone`. */
  'readiness.phone_arrived': phoneArrival,
  /** A fault of the lab, a test camera or a group of test people was changed, or a fault rule has hit or ended. */
  'lab.changed': z.strictObject({}),
  /** A scenario was started, stopped, or made progress. */
  'scenarios.changed': z.strictObject({}),
  'settings.changed': z.strictObject({}),
  'licence.changed': z.strictObject({}),
  'listeners.changed': z.strictObject({}),
  'activity.added': z.strictObject({ items: z.array(activityEntry), kept: z.int(), skipped: z.int() }),
  /** New entries of the event log, oldest first. */
  'events.added': z.strictObject({ items: z.array(eventEntry) }),
  'overview.sampled': sample,
  'attention.changed': z.strictObject({ items: z.array(attention) }),
  'store.noticed': storeNotice,
} satisfies Record<EventName, z.ZodType>
export type EventPayload<N extends EventName> = z.output<(typeof events)[N]>

export type ConsoleEvent = { [N in EventName]: { name: N; payload: EventPayload<N> } }[EventName]
