import type { State } from '../state.ts'
import type { CollectionName } from '../store.ts'

/** Collections in each file of lowdb. */
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
    'test_cameras',
    'test_people',
    'scenario_runs',
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

/** Name of a file of lowdb, without `.json`. */
export type DocumentName = keyof typeof layout

/** The files in the order in which they are read and written. */
export const documentNames: readonly DocumentName[] = ['site', 'rooms', 'sessions']

/** Content of one file for lowdb: the maps in memory and some facts for the next start. */
export interface StoredDocument {
  /** Number of the first journal segment whose changes are not in this file. */
  first_segment: number
  /** Milliseconds since the epoch. */
  written_at: number
  /** The highest room number ever assigned. */
  room_number: number
  /** All collections; the file contains the collections listed in `layout`. */
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
  test_cameras: 'site',
  test_people: 'site',
  scenario_runs: 'site',
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

/** Names of a file, of its previous version, and of the file being written. */
export const documentFileName = (name: DocumentName): string => `${name}.json`
export const previousName = (name: DocumentName): string => `${name}.previous.json`
export const temporaryName = (name: DocumentName): string => `${name}.json.tmp`

/** Sub-folder of the data folder, with one folder of complete files per backup. */
export const backupsFolder = 'backups'
