import { RefusalError } from '../../../shared/domain/outcome.ts'
import type { Licence } from '../../../shared/licence.ts'
import { limits } from '../../../shared/limits.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { tagKey } from '../../../shared/tags.ts'
import type { CollectionName, Collections } from '../store.ts'

/** State that sets limits. */
interface LimitingState {
  licence: ReadonlyMap<string, Licence>
}

/** Limit of the records of a collection, or of those of a group. A transaction that would put one more is refused. */
export interface Cap<T> {
  /** Infinity: none now. */
  limit: (state: LimitingState) => number
  /** Group in which a record counts; undefined: it does not count. */
  group: (record: T) => string | undefined
  /** All records of the collection are in the one group: they need not be looked at one by one. */
  countsAll: boolean
  refuse: (limit: number) => Error
}

/** Limit of all records. */
function all<T>(limit: number, refuse: (limit: number) => Error): Cap<T> {
  return { limit: () => limit, group: () => '', countsAll: true, refuse }
}

/** Limit of the records that `group` gives the same text. */
function each<T>(limit: number, group: (record: T) => string | undefined, refuse: (limit: number) => Error): Cap<T> {
  return { limit: () => limit, group, countsAll: false, refuse }
}

const tooManyRecordings = (): Error => new ApiError('recordingUnavailable', { refusal: refusal('tooManyRecordings') })
const tooManyLives = (): Error => new ApiError('recordingUnavailable', { refusal: refusal('tooManyLives') })

/** Limits of every collection. An empty list needs a reason. */
export const caps: { readonly [C in CollectionName]: readonly Cap<Collections[C]>[] } = {
  // One document.
  settings: [],
  licence: [],
  credentials: [all(limits.credentials, (limit) => new RefusalError(refusal('credentialLimit', { limit })))],
  nodes: [all(limits.nodes, (limit) => new RefusalError(refusal('nodeLimit', { limit })))],
  devices: [all(limits.devices, (limit) => new ApiError('joinFailed', { refusal: refusal('deviceLimit', { limit }) }))],
  rooms: [
    {
      ...all(0, () => new ApiError('licenceExceeded', { refusal: refusal('licenceRooms') })),
      limit: ({ licence }) => {
        const { max_rooms = 0 } = licence.get('site') ?? {}
        return max_rooms === 0 ? Number.POSITIVE_INFINITY : max_rooms
      },
    },
    all(limits.rooms, (limit) => new ApiError('licenceExceeded', { refusal: refusal('roomLimit', { limit }) })),
  ],
  wall_views: [all(limits.wallViews, (limit) => new RefusalError(refusal('wallViewLimit', { limit })))],
  room_templates: [all(limits.roomTemplates, (limit) => new RefusalError(refusal('templateLimit', { limit })))],
  // The least recently used one ends instead.
  sessions: [],
  account_sessions: [],
  accounts: [all(limits.accounts, (limit) => new RefusalError(refusal('accountLimit', { limit })))],
  access_tokens: [
    each(
      limits.tokensPerAccount,
      ({ account }) => account,
      (limit) => new RefusalError(refusal('tokenLimit', { limit })),
    ),
  ],
  // At most one for each account, token, room, camera or stream.
  last_uses: [],
  camera_loops: [],
  relay_loops: [],
  relay_observers: [],
  meetings: [],
  recording_wishes: [all(limits.manualRecordings, (limit) => new RefusalError(refusal('recordingLimit', { limit })))],
  recording_keeps: [all(limits.keptSpans, (limit) => new RefusalError(refusal('keptSpanLimit', { limit })))],
  recordings: [
    all(limits.recordings, tooManyRecordings),
    each(limits.activeRecordings, ({ state }) => (state === 'recording' ? state : undefined), tooManyRecordings),
  ],
  lives: [
    all(limits.lives, tooManyLives),
    each(limits.activeLives, ({ state }) => (state === 'living' ? state : undefined), tooManyLives),
    each(
      limits.activeMixes,
      ({ state, sound }) => (state === 'living' && sound === 'room' ? sound : undefined),
      tooManyLives,
    ),
    each(
      limits.activePushes,
      ({ state, pushed }) => (state === 'living' && pushed === true ? state : undefined),
      tooManyLives,
    ),
  ],
  // Those of deleted recordings, for 30 days.
  recording_removals: [],
  // Until the event log has them.
  pending_events: [],
  capabilities: [
    all(limits.capabilities, () => new ApiError('recordingUnavailable', { refusal: refusal('tooManyLinks') })),
  ],
  // The oldest entries are deleted for good instead.
  trash: [],
}

/** Limit of the different values that the records of a collection carry together. A transaction that would bring one more is refused. */
export interface DistinctCap<T> {
  limit: number
  /** The list itself is compared to see whether a record changed. */
  list: (record: T) => readonly string[] | undefined
  /** Values that count as the same have the same key. */
  keyOf: (value: string) => string
  refuse: (limit: number) => Error
}

const tags: DistinctCap<{ tags?: readonly string[] }> = {
  limit: limits.tags,
  list: (record) => record.tags,
  keyOf: tagKey,
  refuse: (limit) => new ApiError('parameter', { field: 'tags', refusal: refusal('tagLimit', { limit }) }),
}

export const distinctCaps: { readonly [C in CollectionName]?: DistinctCap<Collections[C]> } = {
  rooms: tags,
  devices: { ...tags },
}
