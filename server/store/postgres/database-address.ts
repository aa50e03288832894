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
const form = '--store postgres://user@host/database, with several hosts postgres://user@host1,host2:5433/database'

/**
 * @throws DatabaseError when it is none; the message holds nothing of it, because a password may be
 */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const match = pattern.exec(text.trim())
  const wrong = new DatabaseError(
    `The address of the database must be written as ${form}; signs like @ / ? in a password are written %40 %2F %3F.`,
  )
  if (match === null) throw wrong
  const [, scheme = '', user, password = '', hosts = '', path = '', parameters = ''] = match
  const login = user === undefined ? '' : `${user}${password}@`
  const each = hosts.split(',').map((host) => `${scheme}${login}${host}${path}${parameters}`)
  try {
    // Parsed by pg now, for its errors. Nothing is connected.
    for (const connectionString of each) new Client({ connectionString })
  } catch {
    throw wrong
  }
  return { hosts: each, shown: `${scheme}${user === undefined ? '' : `${user}@`}${hosts}${path}` }
}
