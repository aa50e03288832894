import { changeOf, type State } from '../state.ts'
import type { Change, CollectionName } from '../store.ts'
import { turn } from '../system/time.ts'

/** Number of records compared before yielding to the event loop; takes about 2 ms. */
const slice = 1_000

/**
 * Collections that a restore replaces. Sessions and capabilities are not among them: a restore must not bring back
 * ended sessions or revoked capabilities.
 */
const restored: readonly CollectionName[] = [
  'settings',
  'licence',
  'credentials',
  'nodes',
  'devices',
  'wall_views',
  'room_templates',
  'test_cameras',
  'test_people',
  'recording_keeps',
  'rooms',
  'accounts',
  'access_tokens',
  'trash',
  'recordings',
  'lives',
]

/** Returns the changes that turn `from` into `to`. Neither state may change meanwhile. */
export async function difference(from: State, to: State): Promise<Change[]> {
  const changes: Change[] = []
  let seen = 0
  for (const collection of restored) {
    for (const key of from[collection].keys()) {
      if (!to[collection].has(key)) changes.push(changeOf(collection, key, undefined))
      if (++seen % slice === 0) await turn()
    }
    for (const [key, value] of to[collection]) {
      if (JSON.stringify(value) !== JSON.stringify(from[collection].get(key)))
        changes.push(changeOf(collection, key, value))
      if (++seen % slice === 0) await turn()
    }
  }
  return changes
}

/** Returns the deletions of sessions whose credential a restore removes, disables, or gives another secret. */
export function endedSessions(from: State, to: State): Change[] {
  const changes: Change[] = []
  for (const [key, { access_key }] of from.sessions) {
    const before = from.credentials.get(access_key)
    const after = to.credentials.get(access_key)
    const same = after?.enabled === true && after.secret_key_sealed === before?.secret_key_sealed
    if (!same) changes.push(changeOf('sessions', key, undefined))
  }
  return changes
}

/**
 * Returns the capabilities of recordings and live streams that a restore brings back. If the site still has the
 * recording or stream, its capability may have been revoked since, so the capability is not restored.
 */
export function restoredCapabilities(from: State, to: State): Change[] {
  const changes: Change[] = []
  for (const [key, capability] of to.capabilities) {
    const isGone =
      (capability.kind === 'recording' && !from.recordings.has(capability.recording)) ||
      ((capability.kind === 'live' || capability.kind === 'push') && !from.lives.has(capability.live))
    if (isGone) changes.push(changeOf('capabilities', key, capability))
  }
  return changes
}
