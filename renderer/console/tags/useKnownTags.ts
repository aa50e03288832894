import { sharedState } from '../composables/useConsole.ts'
import { useReading } from '../live/useReading.ts'

/** Kinds of records with tags. */
export type TaggedKind = 'rooms' | 'devices'

/** Minimum interval between two calls, in milliseconds. */
const throttleMs = 1_000

const states = {
  rooms: sharedState(() => ({ tags: useReading('rooms.tags', {}, { throttleMs }).value })),
  devices: sharedState(() => ({ tags: useReading('devices.tags', {}, { throttleMs }).value })),
}

/** Tags of the site's rooms or devices by name; undefined before the first answer. */
export const useKnownTags = (kind: TaggedKind) => states[kind]()
