import { changeOf, type State } from '../state.ts'
import type { Change, CollectionName } from '../store.ts'
import { turn } from '../system/time.ts'

/** Records compared between two turns of the event loop: about 2 ms. */
const slice = 1_000

/** Everything that a backup decides. Sessions and capabilities are not: a restore must not bring back what was revoked. */
const restored: readonly CollectionName[] = [
  'settings',
  'licence',
  'credentials',
  'nodes',
  'devices',
  'wall_views',
  'room_templates',
  'recording_keeps',
  'rooms',
  'accounts',
  'access_tokens',
  'trash',
  'recordings',
  'lives',
]

/** The changes that make `from` hold what `to` holds. Neither may change meanwhile. */
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

/** The ends of those sessions whose credential is not the same, or not enabled, after a restore. */
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

/** Capabilities of recordings and live streams that come back with a restore. Of those that the site still has, it alone knows whether their capability was revoked since. */
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
