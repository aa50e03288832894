import { RefusalError } from '../../../shared/domain/outcome.ts'
import type { Licence } from '../../../shared/licence.ts'
import { limits } from '../../../shared/limits.ts'
import { maxTestCameras } from '../../../shared/media/test-camera.ts'
import { maxTestGroups } from '../../../shared/media/test-people.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { ApiError } from '../../../shared/result-codes.ts'
import { tagKey } from '../../../shared/tags.ts'
import type { CollectionName, Collections } from '../store.ts'

/** State from which limits are read. */
interface LimitingState {
  licence: ReadonlyMap<string, Licence>
}

/**
 * Limit of the records of a collection, or of a group of its records. A transaction that would exceed the limit is
 * rejected.
 */
export interface Cap<T> {
  /** Infinity: no limit. */
  limit: (state: LimitingState) => number
  /**
   * Returns the group of a record; undefined: the record does not count. Left out: all records of the collection are
   * one group, whose size is known without counting.
   */
  group?: (record: T) => string | undefined
  refuse: (limit: number) => Error
}

/** Returns a cap on all records. */
function all<T>(limit: number, refuse: (limit: number) => Error): Cap<T> {
  return { limit: () => limit, refuse }
}

/** Returns a cap on the records with the same result of `group`. */
function each<T>(limit: number, group: (record: T) => string | undefined, refuse: (limit: number) => Error): Cap<T> {
  return { limit: () => limit, group, refuse }
}

const tooManyRecordings = (): Error => new ApiError('recordingUnavailable', { refusal: refusal('tooManyRecordings') })
const tooManyLives = (): Error => new ApiError('recordingUnavailable', { refusal: refusal('tooManyLives') })

/** Caps of every collection. An empty list needs a reason. */
export const caps: { readonly [C in CollectionName]: readonly Cap<Collections[C]>[] } = {
  // A single document.
  settings: [],
  scenario_runs: [],
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
  test_cameras: [all(maxTestCameras, (limit) => new RefusalError(refusal('testCameraLimit', { limit })))],
  test_people: [all(maxTestGroups, (limit) => new RefusalError(refusal('testPeopleLimit', { limit })))],
  // Above the limit the least recently used session ends.
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
  // At most one record per account, token, room, camera or stream.
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
  // One per deleted recording, for 30 days.
  recording_removals: [],
  // Kept only until the event log has them.
  pending_events: [],
  capabilities: [
    all(limits.capabilities, () => new ApiError('recordingUnavailable', { refusal: refusal('tooManyLinks') })),
  ],
  // Above the limit the oldest entries are deleted for good.
  trash: [],
}

/**
 * Limit of the distinct values of all records of a collection. A transaction that would exceed the limit is rejected.
 */
export interface DistinctCap {
  limit: number
  /** Name of the field with the values. */
  field: 'tags'
  /** Returns the key of a value: values with the same key count as equal. */
  keyOf: (value: string) => string
  refuse: (limit: number) => Error
}

const tags: DistinctCap = {
  limit: limits.tags,
  field: 'tags',
  keyOf: tagKey,
  refuse: (limit) => new ApiError('parameter', { field: 'tags', refusal: refusal('tagLimit', { limit }) }),
}

/** Caps of distinct values. Each collection needs its own object, because reservations are counted per object. */
export const distinctCaps: Readonly<Partial<Record<CollectionName, DistinctCap>>> = {
  rooms: tags,
  devices: { ...tags },
}
