import type { State } from '../state.ts'
import type { CollectionName } from '../store.ts'

/** Which collections each of lowdb's files holds. */
export const layout = {
  site: [
    'settings',
    'licence',
    'credentials',
    'nodes',
    'devices',
    'accounts',
    'access_tokens',
    'wall_views',
    'room_templates',
    'recording_keeps',
  ],
  rooms: ['rooms', 'trash', 'recording_wishes', 'recordings', 'lives', 'recording_removals', 'pending_events'],
  sessions: [
    'sessions',
    'account_sessions',
    'last_uses',
    'camera_loops',
    'relay_loops',
    'relay_observers',
    'meetings',
    'capabilities',
  ],
} as const satisfies Record<string, readonly CollectionName[]>

/** One of lowdb's files, `<name>.json`. */
export type DocumentName = keyof typeof layout

/** The files in the order they are read and written. */
export const documentNames: readonly DocumentName[] = ['site', 'rooms', 'sessions']

/** Content of one file for lowdb: its live maps and the facts that a start needs. */
export interface StoredDocument {
  /** Number of the first journal segment whose changes are not in this file. */
  first_segment: number
  /** Milliseconds since the epoch. */
  written_at: number
  /** The highest room number ever given. */
  room_number: number
  /** All collections; the file holds those that `layout` names. */
  state: State
}

const fileOfCollection: Readonly<Record<CollectionName, DocumentName>> = {
  settings: 'site',
  licence: 'site',
  credentials: 'site',
  nodes: 'site',
  devices: 'site',
  wall_views: 'site',
  room_templates: 'site',
  rooms: 'rooms',
  sessions: 'sessions',
  accounts: 'site',
  access_tokens: 'site',
  account_sessions: 'sessions',
  last_uses: 'sessions',
  camera_loops: 'sessions',
  relay_loops: 'sessions',
  relay_observers: 'sessions',
  meetings: 'sessions',
  recording_wishes: 'rooms',
  recording_keeps: 'site',
  trash: 'rooms',
  recordings: 'rooms',
  lives: 'rooms',
  recording_removals: 'rooms',
  pending_events: 'rooms',
  capabilities: 'sessions',
}

export function documentOf(collection: CollectionName): DocumentName {
  return fileOfCollection[collection]
}

/** Name of a file, of the one it replaced, and of the one being written. */
export const fileName = (name: DocumentName): string => `${name}.json`
export const previousName = (name: DocumentName): string => `${name}.previous.json`
export const temporaryName = (name: DocumentName): string => `${name}.json.tmp`
