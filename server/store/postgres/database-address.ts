import { Client } from 'pg'
import { DatabaseError } from './database-error.ts'

/** Address of a database, as in `--store`: `postgres://user:password@host1:5432,host2/name?sslmode=verify-full`. */
export interface DatabaseAddress {
  /** A connection string per host, in order. */
  readonly hosts: readonly string[]
  /** The address for display: without password and parameters. */
  readonly shown: string
}

/**
 * Parts of an address: scheme, user, password, hosts, database and parameters. Several hosts are an extension of libpq;
 * URLs do not permit them.
 */
const pattern = /^(postgres(?:ql)?:\/\/)(?:([^:@/?#]*)(:[^@/?#]*)?@)?([^@/?#]*)(\/[^@?#]*)?(\?[^#]*)?$/
const form = '--store postgres://user@host/database, with several hosts postgres://user@host1,host2:5433/database'

/**
 * Parses the address of a database.
 * @throws DatabaseError when the address is invalid; the message does not quote the address, which may contain a
 * password
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
    // pg parses the string to detect errors. No connection is opened.
    for (const connectionString of each) new Client({ connectionString })
  } catch {
    throw wrong
  }
  return { hosts: each, shown: `${scheme}${user === undefined ? '' : `${user}@`}${hosts}${path}` }
}

const choices = new WeakMap<DatabaseAddress, HostChoice>()

/**
 * Order in which the hosts of a database are tried. After a failover the old primary may still run and accept
 * statements that it can never confirm. The old primary is tried last, and rejected once a newer primary is known.
 */
export class HostChoice {
  readonly #hosts: readonly string[]
  /** Host that last failed to answer. */
  #left = ''
  /** Timeline of the newest primary that was reached, by cluster identifier. */
  readonly #timelines = new Map<string, string>()

  private constructor({ hosts }: DatabaseAddress) {
    this.#hosts = hosts
  }

  static of(address: DatabaseAddress): HostChoice {
    const choice = choices.get(address) ?? new HostChoice(address)
    choices.set(address, choice)
    return choice
  }

  /** Connection strings in the order in which to try them. */
  get order(): readonly string[] {
    return [...this.#hosts.filter((host) => host !== this.#left), ...this.#hosts.filter((host) => host === this.#left)]
  }

  /** Records that a host has not answered in time: other hosts are tried first. */
  leave(connectionString: string): void {
    this.#left = connectionString
  }

  /** Rejects an old primary. @throws Error when a newer primary of the same cluster is known */
  check({ cluster, timeline }: { cluster: string; timeline: string }): void {
    const newest = this.#timelines.get(cluster) ?? ''
    if (timeline < newest) throw new Error('another server has taken over from this one: it is an old primary')
    this.#timelines.set(cluster, timeline)
  }
}
