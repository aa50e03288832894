import { collected, useLive } from '../../kit/composables/useLive.ts'
import type { ConsoleClient } from '../../kit/transport/client.ts'
import { sharedState } from '../composables/useConsole.ts'
import type { KnownTag } from '../../../shared/tags.ts'

/** Kinds of records with tags. */
export type TaggedKind = 'rooms' | 'devices'

/** Minimum time between two readings, in milliseconds. */
const restMs = 1_000

function knownTags(client: ConsoleClient, kind: TaggedKind) {
  const { value, refresh } = useLive<readonly KnownTag[]>(client, () => client.call(`${kind}.tags`))
  client.on(
    `${kind}.changed`,
    collected(() => void refresh(), restMs),
  )
  return { tags: value }
}

const states = {
  rooms: sharedState((client) => knownTags(client, 'rooms')),
  devices: sharedState((client) => knownTags(client, 'devices')),
}

/** Tags of the site's rooms or devices by name; undefined before the first answer. */
export const useKnownTags = (kind: TaggedKind) => states[kind]()
