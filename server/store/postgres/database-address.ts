import { Client } from 'pg'
import { DatabaseError } from './database-error.ts'

/** A database as `--store` names it: `postgres://user:password@host1:5432,host2/name?sslmode=verify-full`. */
export interface DatabaseAddress {
  /** A connection string for each of its hosts, in order. */
  readonly hosts: readonly string[]
  /** As it may be shown: without password and parameters. */
  readonly shown: string
}

/** Scheme, user, password, hosts, database and parameters. Several hosts are libpq's syntax, which URLs do not have. */
const pattern = /^(postgres(?:ql)?:\/\/)(?:([^:@/?#]*)(:[^@/?#]*)?@)?([^@/?#]*)(\/[^@?#]*)?(\?[^#]*)?$/
const form = 'postgres://user@host/database, with several hosts postgres://user@host1,host2:5433/database'

/**
 * @param from what names it, for the message: `--store`.
 * @throws DatabaseError when it is none; the message holds nothing of it, because a password may be
 */
export function parseDatabaseAddress(text: string, from = '--store'): DatabaseAddress {
  const match = pattern.exec(text.trim())
  const wrong = new DatabaseError(
    `${from} must be the address of a PostgreSQL database (${form}); signs like @ / ? in a password are written %40 %2F %3F.`,
  )
  if (match === null) throw wrong
  const [, scheme = '', user, password = '', hosts = '', path = '', parameters = ''] = match
  const login = user === undefined ? '' : `${user}${password}@`
  const each = hosts.split(',').map((host) => `${scheme}${login}${host}${path}${parameters}`)
  try {
    // What pg cannot read, it says now. Nothing is connected.
    for (const connectionString of each) new Client({ connectionString })
  } catch {
    throw wrong
  }
  return { hosts: each, shown: `${scheme}${user === undefined ? '' : `${user}@`}${hosts}${path}` }
}
