import { Client } from 'pg'
import { loopback } from '../../../shared/bind-address.ts'
import { parseDatabaseAddress } from './database-address.ts'

/**
 * Checks whether the connection that pg would make for an address is safe, which also depends on `PGSSLMODE`. Returns
 * undefined if the connection is safe, or stays on this machine.
 * @throws DatabaseError when the address is invalid
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

/** Returns the host and TLS options of a client. The types of `pg` do not declare that `ssl` may hold TLS options. */
function settingsOf({ host, ssl }: Client): { host: string; ssl: unknown } {
  return { host, ssl }
}

/**
 * Reasons why others on the network can read or change the traffic of a database: no encryption, or no verification of
 * the certificate.
 */
export type DatabaseRisk = 'plain' | 'unverified'

/** Sentences for logs and the console's API. */
export const databaseRiskMessages: Record<DatabaseRisk, string> = {
  plain:
    'The connection to the database on another machine is not encrypted: add ?sslmode=verify-full&sslrootcert=FILE to its address, FILE being the certificate of its authority.',
  unverified:
    'The certificate of the database is not verified, so that another machine can pose as it: use sslmode=verify-full&sslrootcert=FILE in its address.',
}
