import { randomBytes, randomUUID } from 'node:crypto'
import type { ObjectProblem } from '../../../shared/recordings/object-storage.ts'
import type { Store } from '../../store/store.ts'
import type { ObjectClient } from './object-client.ts'
import { ObjectError } from './object-error.ts'
import { checkMark } from './site-bucket.ts'

/** Steps of a test, in order. */
type ConnectionStep = 'list' | 'put' | 'get' | 'delete'

export interface ConnectionResult {
  /** Problem of the failed step; null: all steps succeeded. */
  problem: ObjectProblem | null
  /** Step that failed; null if none failed. */
  step: ConnectionStep | null
  /** Error name of the service, e.g. `AccessDenied`. */
  detail: string
  /** Duration of all steps, in milliseconds. */
  ms: number
}

const probeBytes = 4_096
const deadlineMs = 30_000

/**
 * Tests all operations that recordings need: lists the bucket, stores a small object, reads a part of the object and
 * deletes it. Also reports a bucket that belongs to another site. Never rejects.
 * @param site store of this site, for checking the mark of the bucket
 */
export async function testObjectStorage(client: ObjectClient, site: Pick<Store, 'unseal'>): Promise<ConnectionResult> {
  const began = performance.now()
  const signal = AbortSignal.timeout(deadlineMs)
  const name = `.roomdesk-test-${randomUUID()}`
  const bytes = randomBytes(probeBytes)
  let step: ConnectionStep = 'list'
  const result = (error: ObjectError | undefined): ConnectionResult => ({
    problem: error?.problem ?? null,
    step: error === undefined ? null : step,
    detail: error?.detail ?? '',
    ms: Math.round(performance.now() - began),
  })
  try {
    await client.list(undefined, signal, 1)
    await checkMark(client, site, signal)
    step = 'put'
    await client.putBytes(name, bytes, signal)
    step = 'get'
    const part = await client.read(name, 1_000, 100, signal)
    if (!part.bytes.equals(bytes.subarray(1_000, 1_100)) || part.size !== probeBytes) throw new ObjectError('mismatch')
    step = 'delete'
    await client.delete(name, signal)
    return result(undefined)
  } catch (error) {
    // Only the first error is reported.
    if (step === 'get') await client.delete(name).catch(() => {})
    return result(error instanceof ObjectError ? error : new ObjectError('silent'))
  }
}
