import { Client } from 'pg'
import { loopback } from '../../../shared/bind-address.ts'
import { parseDatabaseAddress } from './database-address.ts'
import type { DatabaseRisk } from './database-risk.ts'

/**
 * Judges an address as pg connects to it, `PGSSLMODE` included; undefined when it is safe, or stays on this machine.
 * @throws DatabaseError when it is no address
 */
export function databaseRisk(address: string): DatabaseRisk | undefined {
  const risks = parseDatabaseAddress(address).hosts.map((connectionString): DatabaseRisk | undefined => {
    const { host, ssl } = settingsOf(new Client({ connectionString }))
    if (host.startsWith('/') || loopback.test(host)) return undefined
    if (ssl === undefined || ssl === false) return 'plain'
    const checks = typeof ssl === 'object' && ssl !== null
    const skips =
      checks && ('checkServerIdentity' in ssl || ('rejectUnauthorized' in ssl && ssl.rejectUnauthorized === false))
    return skips ? 'unverified' : undefined
  })
  return risks.find((risk) => risk === 'plain') ?? risks.find((risk) => risk !== undefined)
}

/** Host and TLS of a client. The types of `pg` leave out that `ssl` may hold the options of TLS. */
function settingsOf({ host, ssl }: Client): { host: string; ssl: unknown } {
  return { host, ssl }
}
