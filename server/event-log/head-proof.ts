import { z } from 'zod'
import type { LogFault } from '../../shared/console/events.ts'
import { isProof, type Sealer } from '../store/sealer.ts'

/** From where to where a log goes: what is outside of it was not cut off by anybody. */
export interface LogHead {
  /** The first entry kept, and what it follows. */
  oldest: { seq: number; prev: string }
  /** The last one that is on the disk. */
  newest: { seq: number; hash: string }
}

/** A log whose head is proven: a machine's own, or that of a site in a database. */
export type HeadPurpose = 'event log' | 'event log of the site'

/** Head of a log as it was read. `forged`: it was not written with this key. */
export type ReadHead = { state: 'good'; head: LogHead } | { state: 'missing' | 'forged' }

/** Fault of a log whose head cannot be used. */
export function faultOfHead(state: Exclude<ReadHead['state'], 'good'>): LogFault {
  return state === 'missing' ? 'headMissing' : 'headForged'
}

const hash = z.string().length(43)
const headSchema = z.strictObject({
  oldest: z.strictObject({ seq: z.int().min(1), prev: hash }),
  newest: z.strictObject({ seq: z.int().min(0), hash }),
})

/** Head as text, with its proof. */
export interface ProvenHead {
  head: string
  proof: string
}

export function proveHead(head: LogHead, sealer: Pick<Sealer, 'proof'>, purpose: HeadPurpose): ProvenHead {
  const text = JSON.stringify(head)
  return { head: text, proof: sealer.proof(purpose, text) }
}

export function readProvenHead(
  { head, proof }: ProvenHead,
  sealer: Pick<Sealer, 'proof'>,
  purpose: HeadPurpose,
): ReadHead {
  if (!isProof(proof, sealer.proof(purpose, head))) return { state: 'forged' }
  try {
    return { state: 'good', head: headSchema.parse(JSON.parse(head)) }
  } catch {
    return { state: 'forged' }
  }
}
