import { Client } from 'pg'
import { loopback } from '../../../shared/bind-address.ts'
import { parseDatabaseAddress } from './database-address.ts'

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

/** Reasons why others on the network can read or change traffic of a database: it is not encrypted, or the certificate is not verified. */
export type DatabaseRisk = 'plain' | 'unverified'

/** Sentence for logs and the console's API. */
export const databaseRiskMessages: Record<DatabaseRisk, string> = {
  plain:
    'The connection to the database on another machine is not encrypted: add ?sslmode=verify-full&sslrootcert=FILE to its address, FILE being the certificate of its authority.',
  unverified:
    'The certificate of the database is not verified, so that another machine can pose as it: use sslmode=verify-full&sslrootcert=FILE in its address.',
}
