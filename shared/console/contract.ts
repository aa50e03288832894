import { z } from 'zod'
import { accountProcedures } from './accounts.ts'
import { activityEntry, activityProcedures } from './activity.ts'
import { controllerProcedures, controllersView } from './controllers.ts'
import { credentialProcedures, credentialView } from './credentials.ts'
import { deviceProcedures, deviceView } from './devices.ts'
import { eventEntry, eventProcedures } from './events.ts'
import { labProcedures } from './lab.ts'
import { mediaProcedures } from './media.ts'
import { nodeProcedures, nodeView } from './nodes.ts'
import { relayProcedures } from './relays.ts'
import { roomProcedures } from './rooms.ts'
import { attention, sample, siteProcedures, storeNotice } from './site.ts'
import { testerProcedures } from './tester.ts'
import { wallProcedures, wallView } from './wall.ts'

/** Every procedure of the console, by name: the one list that IPC, WebSocket and `/rpc` serve. */
export const procedures = {
  ...siteProcedures,
  ...accountProcedures,
  ...credentialProcedures,
  ...roomProcedures,
  ...nodeProcedures,
  ...controllerProcedures,
  ...relayProcedures,
  ...deviceProcedures,
  ...mediaProcedures,
  ...wallProcedures,
  ...activityProcedures,
  ...eventProcedures,
  ...testerProcedures,
  ...labProcedures,
}

export type ProcedureName = keyof typeof procedures
/** Input as a caller sends it (defaults may be left out). */
export type ProcedureInput<N extends ProcedureName> = z.input<(typeof procedures)[N]['input']>
/** Input as a handler receives it. */
export type ProcedureParsed<N extends ProcedureName> = z.output<(typeof procedures)[N]['input']>
export type ProcedureOutput<N extends ProcedureName> = z.output<(typeof procedures)[N]['output']>

export function isProcedureName(name: string): name is ProcedureName {
  return Object.hasOwn(procedures, name)
}

/** Every event the console is told of, by name. Events that would come in floods are collected and sent at most 4 times a second. */
export const events = {
  /** Rooms that were made, changed, filled or went; `all` when there are too many to name. */
  'rooms.changed': z.strictObject({ room_ids: z.array(z.string()), all: z.boolean() }),
  'credentials.changed': z.strictObject({ items: z.array(credentialView) }),
  'nodes.changed': z.strictObject({ items: z.array(nodeView) }),
  /** The controllers and the database of a site that has one, as they are now. */
  'controllers.changed': controllersView,
  /** The devices that changed; `removed` are gone. */
  'devices.changed': z.strictObject({ items: z.array(deviceView), removed: z.array(z.string()) }),
  /** Every saved view of the wall, as they are now. */
  'wall.changed': z.strictObject({ items: z.array(wallView) }),
  /** Accounts, their sessions or their tokens. */
  'accounts.changed': z.strictObject({}),
  'settings.changed': z.strictObject({}),
  'licence.changed': z.strictObject({}),
  'listeners.changed': z.strictObject({}),
  'activity.added': z.strictObject({ items: z.array(activityEntry), kept: z.int(), skipped: z.int() }),
  /** New entries of the event log, oldest first. */
  'events.added': z.strictObject({ items: z.array(eventEntry) }),
  'overview.sampled': sample,
  'attention.changed': z.strictObject({ items: z.array(attention) }),
  'store.noticed': storeNotice,
}
export type EventName = keyof typeof events
export type EventPayload<N extends EventName> = z.output<(typeof events)[N]>

/** One event on its way to a console. */
export type ConsoleEvent = { [N in EventName]: { name: N; payload: EventPayload<N> } }[EventName]
