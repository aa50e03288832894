import type { Capabilities } from '../../capabilities/capabilities.ts'
import { makerOfClient } from '../../capabilities/capability.ts'
import type { StoredLive, StoredRecording } from '../../store/recording-records.ts'
import type { Change, Store, Transaction } from '../../store/store.ts'
import type { OrderedLives } from '../live/ordered-lives.ts'
import type { RecordFiles } from './record-files.ts'

export interface AdoptionDependencies {
  store: Pick<Store, 'get' | 'all' | 'transact'>
  capabilities: Pick<Capabilities, 'prepare'>
  lives: Pick<OrderedLives, 'tokenOf'>
  files: Pick<RecordFiles, 'token'>
  logger: { warn(fields: object, message: string): void }
}

/** Maximum number of orders adopted per transaction. */
const atOnce = 500

/**
 * Gives recordings and live streams of an earlier version a capability with their existing address, so that addresses
 * held by clients stay valid. For deleted or disabled credentials, the store ends the new capabilities at once, and
 * thus the orders. Never rejects: if the store fails, the orders are adopted at the next start.
 */
export async function adoptOrders(dependencies: AdoptionDependencies): Promise<void> {
  const { store, logger } = dependencies
  const lives = [...store.all('lives').values()].filter(
    ({ state, capability }) => state === 'living' && capability === undefined,
  )
  const recordings = [...store.all('recordings').values()].filter(({ capability }) => capability === undefined)
  try {
    await adopt(store, lives, (change, { id }) => adoptLive(dependencies, change, store.get('lives', id)))
    await adopt(store, recordings, (change, { id }) =>
      adoptRecording(dependencies, change, store.get('recordings', id)),
    )
  } catch (error) {
    logger.warn({ err: error }, 'recordings of an earlier version could not be adopted')
  }
}

/** Whether a change stores an order that has not been adopted. */
export function isUnadopted({ collection, value }: Change): boolean {
  if (collection === 'lives') return value?.state === 'living' && value.capability === undefined
  return collection === 'recordings' && value !== undefined && value.capability === undefined
}

async function adopt<T>(
  store: Pick<Store, 'transact'>,
  orders: readonly T[],
  one: (change: Transaction, order: T) => void,
): Promise<void> {
  for (let from = 0; from < orders.length; from += atOnce) {
    await store.transact(['lives', 'recordings'], (change) => {
      for (const order of orders.slice(from, from + atOnce)) one(change, order)
    })
  }
}

function adoptLive(
  { capabilities, lives }: AdoptionDependencies,
  change: Transaction,
  live: StoredLive | undefined,
): void {
  if (live?.state !== 'living') return
  const { id, room_id, user_id, created_by } = live
  const draft = { kind: 'live', live: id, room_id, user_id, expires_at: 0 } as const
  const made = capabilities.prepare(draft, makerOfClient(created_by), lives.tokenOf(live))
  change.put('lives', id, { ...live, capability: made.id })
  change.put('capabilities', made.id, made.record)
}

function adoptRecording(
  { capabilities, files }: AdoptionDependencies,
  change: Transaction,
  recording: StoredRecording | undefined,
): void {
  if (recording === undefined) return
  const { id, room_id, user_id, created_by } = recording
  const draft = { kind: 'recording', recording: id, room_id, user_id, expires_at: 0 } as const
  const made = capabilities.prepare(draft, makerOfClient(created_by), files.token(recording))
  change.put('recordings', id, { ...recording, capability: made.id })
  change.put('capabilities', made.id, made.record)
}
