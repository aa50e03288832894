import type { LogVerdict } from '../../../shared/console/events.ts'
import type { Session } from '../../store/postgres/database-session.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'
import type { Sealer } from '../../store/sealer.ts'
import { ChainWalk, type Found, verdictWithoutHead } from '../chain-walk.ts'
import { readRows, readSiteHead } from './event-rows.ts'

/** Lines that are read together: about a megabyte. */
const linesAtOnce = 2_000

/**
 * Reads the event log of a site in a database, as it is at one instant, and checks whether an entry was changed or removed. Only one who has the key of the site can seal it.
 * @throws what the database says; the signal's reason
 */
export async function verifySiteLog(
  session: Session,
  sealer: Pick<Sealer, 'proof'>,
  signal?: AbortSignal,
): Promise<LogVerdict> {
  const startedAt = performance.now()
  const found = await inTransaction(
    session,
    () => walk(session, sealer, signal),
    'isolation level repeatable read read only',
  )
  return { ...found, milliseconds: Math.round(performance.now() - startedAt) }
}

async function walk(session: Session, sealer: Pick<Sealer, 'proof'>, signal: AbortSignal | undefined): Promise<Found> {
  const { read, first, last } = await readSiteHead(session, sealer)
  if (read.state !== 'good') return verdictWithoutHead(read.state, last === 0 ? undefined : Math.max(1, first))
  const chain = new ChainWalk(read.head)
  for (let after = read.head.oldest.seq - 1; ; ) {
    signal?.throwIfAborted()
    const rows = await readRows(session, { after, limit: linesAtOnce })
    if (rows.some(({ line }) => !chain.take(Buffer.from(line)))) break
    const end = rows.at(-1)
    if (end === undefined) break
    after = end.seq
  }
  const found = chain.end()
  // Lines and their seal are stored together: a line behind the seal is somebody else's.
  if (!found.ok || found.unsealed === 0) return found
  return { ...found, ok: false, fault: 'changed', first_bad: read.head.newest.seq + 1 }
}
