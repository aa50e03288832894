import type { Capabilities } from '../../server/capabilities/capabilities.ts'
import type { CapabilityDraft, NewCapability } from '../../server/capabilities/capability.ts'
import type { CapabilityMaker } from '../../server/store/capability-record.ts'
import type { StoredLive, StoredRecording } from '../../server/store/recording-records.ts'
import type { Store } from '../../server/store/store.ts'

/** An expiry that no test reaches. */
export const later = 4_000_000_000_000

/** Capabilities of every kind, and of both standings of people, in one room. */
export const capabilityDrafts = {
  'live-link': { kind: 'live-link', room_id: 'room', user_id: 'cam', source: 'main', expires_at: later },
  'recorded-link': {
    kind: 'recorded-link',
    room_id: 'room',
    user_id: 'cam',
    source: 'main',
    from: 1,
    to: 2,
    expires_at: 0,
  },
  member: { kind: 'join', room_id: 'room', user_id: '', link: 'l', standing: 'member', expires_at: later },
  host: { kind: 'join', room_id: 'room', user_id: '', link: 'l', standing: 'host', expires_at: later },
  live: { kind: 'live', room_id: 'room', user_id: 'cam', live: '', expires_at: 0 },
  push: { kind: 'push', room_id: 'room', user_id: 'cam', live: '', target: 'rtmp://far', expires_at: 0 },
  recording: { kind: 'recording', room_id: 'room', user_id: 'cam', recording: '', expires_at: 0 },
  export: { kind: 'export', room_id: 'room', user_id: '', expires_at: later },
} as const satisfies Record<string, CapabilityDraft>
export type DraftName = keyof typeof capabilityDrafts
/** A stored live stream. */
export const liveRecord = (id: string, capability: string, state: StoredLive['state']): StoredLive => ({
  ...{ id, capability, state, name: '', tag: '', room_id: 'room', user_id: 'cam', sound: 'own', picture: 'main' },
  ...{ created_by: '', created_at: 1, rtmp_url: '', hls_url: '', secrets_sealed: '' },
})
/** A stored recording. */
export const recordingRecord = (id: string, capability: string): StoredRecording => ({
  ...{ id, capability, name: '', tag: '', description: '', room_id: 'room', user_id: 'cam', sound: 'own' },
  ...{ picture: 'main', state: 'available', created_by: '', created_at: 1, token_sealed: '', files: [] },
})

/** Makes a capability, and its live stream or recording in the same transaction, as orders do. @param content key of the live stream or recording */
export async function makeCapability(
  store: Store,
  capabilities: Capabilities,
  { kind, maker, content }: { kind: DraftName; maker: CapabilityMaker; content: string },
): Promise<NewCapability> {
  const draft: CapabilityDraft = capabilityDrafts[kind]
  const whole =
    draft.kind === 'live' || draft.kind === 'push'
      ? { ...draft, live: content }
      : draft.kind === 'recording'
        ? { ...draft, recording: content }
        : draft
  const made = capabilities.prepare(whole, maker)
  await store.transact([], (change) => {
    capabilities.put(change, made)
    if (draft.kind === 'live' || draft.kind === 'push')
      change.put('lives', content, liveRecord(content, made.id, 'living'))
    if (draft.kind === 'recording') change.put('recordings', content, recordingRecord(content, made.id))
  })
  return made
}
